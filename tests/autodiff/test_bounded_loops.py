"""Loops whose length is known at run time, where the program gives a bound of it: there is room for their states."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pykern as pk

RNG = np.random.default_rng(0)


@pk.jit
def until_large(x):
    s = 0.0
    for k in pk.range(6):
        if x[k] > 0.9:
            break
        s = s * x[k] + pk.sin(x[k])
    return s


@pk.jit
def first_large(x):
    for k in pk.range(6):
        if x[k] > 0.9:
            return x[k] * x[k]
        x = x * pk.cos(x)
    return x.sum()


@pk.jit
def settled(x):
    n = 0
    while (x * x).sum() < 50.0 and n < 20:
        x = x * 1.3 + 0.1 * pk.sin(x)
        n += 1
    return x * n


@pk.jit
def counted_down(x):
    left = 12
    while left > 0 and x.sum() < 30.0:
        x = x + 0.2 * x * pk.cos(x)
        left -= 3
    return x


@pk.jit
def other_way_round(x):
    n = 1
    while 9 >= n:  # noqa: SIM300
        x = x * pk.cos(x) + 0.1 * n
        n += 2
        if x[0] > 2.0:
            break
    return x


@pk.jit
def triangle(x):
    s = 0.0
    for i in pk.range(6):
        for j in pk.range(i + 1):
            s = s + x[i] * pk.sin(s + x[j])
    return s


@pk.jit
def cholesky(x):
    a = x.reshape((6, 1)) * x + 2.0 * pk.eye(6)
    lower = pk.zeros((6, 6))
    for j in pk.range(6):
        s = a[j, j]
        for k in pk.range(j):
            s = s - lower[j, k] * lower[j, k]
        lower[j, j] = pk.sqrt(s)
        for i in pk.range(j + 1, 6):
            t = a[i, j]
            for k in pk.range(j):
                t = t - lower[i, k] * lower[j, k]
            lower[i, j] = t / lower[j, j]
    return lower


@pk.jit
def from_the_middle(x):
    for i in pk.range(5, -1, -1):
        for _ in pk.range(i, 6, 2):
            x = x * pk.cos(x) + 0.3
    return x


PROGRAMS = [
    until_large, first_large, settled, counted_down, other_way_round, triangle, cholesky, from_the_middle,
]  # fmt: skip
ARGUMENTS = [RNG.random(6) * 0.8, np.array([0.3, 0.2, 0.5, 0.95, 0.1, 0.99]), np.full(6, 0.01)]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
@pytest.mark.parametrize("policy", ["all", "every(4)"])
def test_against_finite_differences(program: Any, policy: str) -> None:
    if policy != "all" and program not in (settled, cholesky, until_large):
        pytest.skip("one loop, and several, are enough")
    for x in ARGUMENTS:
        value, pull = pk.vjp(program, x, checkpoint=policy)
        w = RNG.standard_normal(np.shape(value))
        (found,) = pull(w if np.shape(value) else float(w))
        wanted = [((program(x + step) - program(x - step)) * w).sum() / 2e-6 for step in 1e-6 * np.eye(6)]
        np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("device", ["opencl:0", "vulkan:0"], indirect=True)
@pytest.mark.parametrize("program", [until_large, settled, triangle], ids=lambda p: p.__name__)
def test_on_devices(device: str, program: Any) -> None:
    for x in ARGUMENTS:
        value, pull = pk.vjp(program, x)
        c = np.ones(np.shape(value))
        there = pk.asarray(x, device=device)
        value_there, pull_there = pk.vjp(program, there)
        np.testing.assert_allclose(np.asarray(value_there.numpy() if np.shape(value) else value_there), value)
        found = pull_there(pk.asarray(c, device=device) if c.shape else 1.0)[0].numpy()
        np.testing.assert_allclose(found, pull(c if c.shape else 1.0)[0], rtol=1e-11, atol=1e-13)


def test_without_a_bound() -> None:
    @pk.jit
    def endless(x):
        s = 1.0
        while s < 50.0:
            s = s * (1.0 + x)
        return s

    with pytest.raises(pk.NotDifferentiable, match=r"or a bound of it(.*\n)*.*and n < 100"):
        pk.grad(endless)(0.3)


def test_a_bound_that_is_no_help() -> None:
    """Room for a million states of a large array would be more memory than the loop is worth."""

    @pk.jit
    def long(x):
        for _ in pk.range(1_000_000):
            if x[0] > 2.0:
                break
            x = x * 1.5 + pk.sin(x)
        return x.sum()

    with pytest.raises(pk.NotDifferentiable, match="a bound of it"):
        pk.grad(long)(np.ones(1000))


@pytest.mark.parametrize("policy", ["all", "every(2)"])
@pytest.mark.parametrize("shape", [(0,), (3, 0)])
def test_arrays_without_elements(shape: tuple, policy: str) -> None:
    """Their states take no room, however many there are."""

    @pk.jit
    def often(x, n):
        for _ in pk.range(n):
            x = x * pk.cos(x)
        return x.sum()

    @pk.jit
    def five_times(x):
        for _ in pk.range(5):
            x = x * pk.cos(x)
        return x.sum()

    x = np.zeros(shape)
    assert pk.grad(often, checkpoint=policy)(x, 3).shape == shape
    assert pk.grad(five_times, checkpoint=policy)(x).shape == shape
