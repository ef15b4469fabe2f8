"""kern-raise-to-linalg: small types, truths that are carried, four dimensions, and whole algorithms."""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np

import pykern as pk
from tests.cases.raised import Raised, check
from tests.passes.test_raise_kernels import has_no_loop, real, whole


@pk.kernel
def square(y, x):
    i = pk.index()
    y[i] = x[i] * x[i]


def test_bfloat16():
    x, y = whole(9).astype(ml_dtypes.bfloat16), np.zeros(9, ml_dtypes.bfloat16)
    Raised(square, (y, x), 9).run((y, x), 9)
    np.testing.assert_array_equal(y.astype(float), (x * x).astype(float))


@pk.kernel
def brightest(y, flag, x):
    i = pk.index()
    most = pk.u8(0)
    found = False
    for k in range(x.shape[1]):
        most = max(most, x[i, k])
        if x[i, k] > pk.u8(200):
            found = True
    y[i] = most if found else pk.u8(1)
    flag[i] = found


def test_unsigned_bytes_and_truths():
    x = whole(9, 5, low=0, high=255).astype(np.uint8)
    found = (x > 200).any(1)
    expected = np.where(found, x.max(1), 1).astype(np.uint8)
    check(brightest, (np.zeros(9, np.uint8), np.zeros(9, bool), x), 9, (expected, found, None))


@pk.kernel
def generator(y, n):
    i = pk.index()
    s = pk.u32(i)
    for _ in range(n):
        s = s * pk.u32(1664525) + pk.u32(1013904223)
    y[i] = s


def test_integers_wrap():
    s = np.arange(9, dtype=np.uint32)
    for _ in range(5):
        s = s * np.uint32(1664525) + np.uint32(1013904223)
    check(generator, (np.zeros(9, np.uint32), 5), 9, (s, None))


@pk.kernel
def turned(y, x):
    i, j, k, m = pk.index()
    y[m, k, j, i] = x[i, j, k, m] + x[0, 0, 0, 0]


def test_four_dimensions():
    x = real(2, 3, 4, 5)
    assert has_no_loop(check(turned, (real(5, 4, 3, 2), x), (2, 3, 4, 5), (x.T + x[0, 0, 0, 0], None)))


@pk.kernel
def mandelbrot(out, n):
    i, j = pk.index()
    cr, ci = -2.0 + 0.1 * i, -1.0 + 0.1 * j
    zr, zi, steps = 0.0, 0.0, 0
    for _ in range(n):
        if zr * zr + zi * zi < 4.0:
            zr, zi = zr * zr - zi * zi + cr, 2.0 * zr * zi + ci
            steps += 1
    out[i, j] = steps


def test_mandelbrot():
    text = check(mandelbrot, (np.zeros((20, 20), np.int32), 20), (20, 20))
    assert text.count("scf.for") == 1


@pk.kernel
def attention(o, q, k, v):
    i = pk.index()
    m = -math.inf
    for j in range(k.shape[0]):
        s = 0.0
        for d in range(q.shape[1]):
            s += q[i, d] * k[j, d]
        m = max(m, s)
    z = 0.0
    for j in range(k.shape[0]):
        s = 0.0
        for d in range(q.shape[1]):
            s += q[i, d] * k[j, d]
        z += pk.exp(s - m)
    for d in range(v.shape[1]):
        acc = 0.0
        for j in range(k.shape[0]):
            s = 0.0
            for e in range(q.shape[1]):
                s += q[i, e] * k[j, e]
            acc += pk.exp(s - m) / z * v[j, d]
        o[i, d] = acc


def test_attention():
    q, k, v = real(7, 4), real(9, 4), real(9, 5)
    e = np.exp(q @ k.T - (q @ k.T).max(1, keepdims=True))
    expected = e / e.sum(1, keepdims=True) @ v
    assert has_no_loop(check(attention, (real(7, 5), q, k, v), 7, (expected, None, None, None)))


def test_strided_and_reversed_views():
    x, y = real(14)[::2], real(7)[::-1]
    expected = x * x
    Raised(square, (y, x), 7).run((y, x), 7)
    np.testing.assert_allclose(y, expected)


def test_static_shapes_leave_no_dynamic_ones():
    from mlir import ir

    from pykern.api.lowered import _launch_spec
    from pykern.compiler.driver import kern_module
    from pykern.data.source import KernelSource
    from pykern.dialect.context import new_context
    from pykern.launching.specs import parameter
    from pykern.lowering.record import Recorder
    from pykern.passes.framework import Upstream
    from pykern.passes.raise_to_linalg.raise_to_linalg import RaiseToLinalg

    spec = pk.spec((8,), pk.f32)
    parameters = tuple(parameter(n, v, None) for n, v in square.bind((spec, spec), {}))
    launch = _launch_spec(square, {"ndrange": 8}, True)
    with new_context(), ir.Location.unknown():
        source = KernelSource(square.captured()[0], parameters, launch, square.options)
        module, _ = kern_module(source, Recorder(False))
        RaiseToLinalg().run(module)
        Upstream("canonicalize,cse").run(module)
        assert "?" not in str(module)
        assert "tensor.extract_slice" not in str(module)
