"""Buffers are shared where that changes nothing: against the same program with a copy before every write."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk
from pykern.lowering.llvm.program import pipeline
from tests.cases.program_texts import TextProgram
from tests.cases.random_tensor_programs import N, Writer, X
from tests.cases.tensor_texts import function

COPYING = pipeline.BUFFERIZE.replace("one-shot-bufferize{", "one-shot-bufferize{copy-before-write=true ")


@pytest.mark.parametrize("seed", [*range(6), 131, 222])  # the last two were wrong once
def test_random_programs(seed, monkeypatch):
    writer = Writer(seed)
    values = ["%x", "%w"]
    text = writer.statements(values, 8, 2)
    results = [f"{v}: {X}" for v in dict.fromkeys((values[-1], values[-3], values[-5]))]
    text = function(f"%x: {X}, %w: {X}", text, results)
    arguments = np.random.default_rng(2).standard_normal((2, N, N))
    found = TextProgram(text)(*arguments.copy())
    monkeypatch.setattr(pipeline, "BUFFERIZE", COPYING)
    expected = TextProgram(text)(*arguments.copy())
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)


@pk.jit
def carried_twice(x, w, steps: pk.static):
    """Both names come out of an iteration as one array; writing a part of one must not change the other."""
    a, b = x * 1.0, w * 1.0
    for _ in pk.range(steps):
        c = b * 1.0
        c[0:2] = w[1:3] + a[0:2]
        d = pk.tanh(c) * pk.sin(a)
        a, b = d * 1.0, d * 1.0
    return a + b


def test_a_loop_that_carries_one_array_twice():
    random = np.random.default_rng(17)
    x, w = random.random((4, 4)), random.random((4, 4))
    a, b = x, w
    for _ in range(3):
        c = b.copy()
        c[0:2] = w[1:3] + a[0:2]
        a = b = np.tanh(c) * np.sin(a)
    np.testing.assert_allclose(carried_twice(x, w, 3), a + b, rtol=1e-13)


@pk.jit
def loop_beside_what_it_starts_from(x, w):
    a = x
    for _ in pk.range(2):
        a = pk.tanh(a @ w)
    return (pk.concatenate((a, w), axis=0) ** 2).sum()


def test_gradients_of_loops_that_begin_with_a_part(rng):
    """The adjoint of `a` is a part of that of the two together."""
    x, w = rng.standard_normal((5, 8)), rng.standard_normal((8, 8)) / 3
    gradients = pk.grad(loop_beside_what_it_starts_from, argnums=(0, 1))(x, w)
    a = np.tanh(x @ w)
    b = np.tanh(a @ w)
    of_b = 2 * b * (1 - b**2)
    of_a = of_b @ w.T * (1 - a**2)
    np.testing.assert_allclose(gradients[0], of_a @ w.T, atol=1e-12)
    np.testing.assert_allclose(gradients[1], 2 * w + a.T @ of_b + x.T @ of_a, atol=1e-12)
