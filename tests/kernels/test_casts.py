"""Casts between every pair of types: integers wrap, floats truncate and saturate, NaN is 0, in every spelling."""

from __future__ import annotations

import math

import numpy as np
import pytest

import pykern as pk

INTEGERS = [pk.i8, pk.i16, pk.i32, pk.i64, pk.u8, pk.u16, pk.u32, pk.u64]
FLOATS = [pk.f16, pk.f32, pk.f64]
TYPES = [pk.bool_, *INTEGERS, *FLOATS]
EDGES = [0, 1, -1, 2, 127, 128, 255, 256, -128, -129, 2**15, 2**16, -(2**15) - 1, 2**31, 2**32, -(2**31) - 1,
         2**53 + 1, 2**63 - 1, -(2**63), 2**63, 2**64 - 1]  # fmt: skip
REALS = [0.0, -0.0, 0.5, -0.5, 1.5, -1.9, 127.9, 128.0, -129.0, 300.7, 65504.0, 7e4, 2.0**31, 2.0**32, -(2.0**31),
         2.0**63, 2.0**64, -(2.0**63), 1e30, -1e30, math.inf, -math.inf, math.nan, 1e-30]  # fmt: skip


def samples(dtype: pk.DType) -> np.ndarray:
    with np.errstate(all="ignore"):
        if dtype in FLOATS:
            return np.array(REALS).astype(dtype.numpy)
        if dtype == pk.bool_:
            return np.array([True, False])
        bits = [e % 2**dtype.bits for e in EDGES]
        return np.array(bits, np.uint64).astype(dtype.numpy)


def wanted(x: np.ndarray, to: pk.DType) -> np.ndarray:
    if to not in INTEGERS or x.dtype.kind in "biu":
        with np.errstate(all="ignore"):
            return x.astype(to.numpy)
    info = np.iinfo(to.numpy)

    def one(v: float) -> int:
        return 0 if math.isnan(v) else info.max if v >= info.max else info.min if v <= info.min else int(v)

    return np.array([one(float(v)) for v in x], object).astype(to.numpy)


def spelled(to: pk.DType):
    """Every spelling of a cast to `to`: a row of `out` each."""

    @pk.func
    def rows(out, x, i):
        out[0, i] = pk.cast(x[i], to)
        out[1, i] = to(x[i])
        out[2, i] = x[i]
        named: to = x[i]
        out[3, i] = named
        out[4, i] = pk.cast(x[i], out.dtype)

    return rows


to_bool, to_i8, to_i16, to_i32, to_i64, to_u8, to_u16, to_u32, to_u64, to_f16, to_f32, to_f64 = map(
    spelled, TYPES
)


@pk.kernel
def to_integers(bools, i8, i16, i32, i64, u8, x):
    i = pk.index()
    to_bool(bools, x, i)
    to_i8(i8, x, i)
    to_i16(i16, x, i)
    to_i32(i32, x, i)
    to_i64(i64, x, i)
    to_u8(u8, x, i)


@pk.kernel
def to_others(u16, u32, u64, f16, f32, f64, x):
    i = pk.index()
    to_u16(u16, x, i)
    to_u32(u32, x, i)
    to_u64(u64, x, i)
    to_f16(f16, x, i)
    to_f32(f32, x, i)
    to_f64(f64, x, i)


@pytest.mark.parametrize("of", TYPES, ids=lambda t: t.name)
def test_every_pair(of, device):
    """One type to all others: two kernels, because devices have limits on the number of buffers."""
    x = samples(of)
    outs = [np.zeros((5, x.size), to.numpy) for to in TYPES]
    to_integers(*outs[:6], x, ndrange=x.size, device=device)
    to_others(*outs[6:], x, ndrange=x.size, device=device)
    for to, out in zip(TYPES, outs, strict=True):
        for number, row in enumerate(out[: 5 if device == "cpu" else 3]):
            np.testing.assert_array_equal(row, wanted(x, to), f"{of} to {to}, spelling {number}")


@pk.kernel
def by_python(out, reals, x, y):
    i = pk.index()
    out[0, i] = int(x[i])
    out[1, i] = int(y[i])
    out[2, i] = bool(x[i]) + 2 * bool(y[i])
    reals[i] = float(y[i]) / 4


def test_int_float_bool(device):
    x = np.array([0.0, 0.9, -0.9, 7.5, -7.5, 1e9])
    y = np.array([0, 1, -1, 127, -128, 5], np.int8)
    out, reals = np.zeros((3, 6), np.int64), np.zeros(6)
    by_python(out, reals, x, y, ndrange=6, device=device)
    assert out.tolist() == [
        [int(v) for v in x],
        y.tolist(),
        [(a != 0) + 2 * (b != 0) for a, b in zip(x, y, strict=True)],
    ]
    np.testing.assert_array_equal(reals, y / 4)
