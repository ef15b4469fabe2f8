"""A chain of elementwise kernels in a program: one loop, and no array between them."""

from __future__ import annotations

import numpy as np

import pykern as pk


@pk.kernel
def scaled(y, x, a):
    i = pk.index()
    y[i] = a * x[i]


@pk.kernel
def shifted_root(y, x):
    i = pk.index()
    y[i] = pk.sqrt(x[i] + 1.0)


@pk.kernel
def product(z, x, y):
    i = pk.index()
    z[i] = x[i] * y[i]


@pk.jit
def chain(x, a):
    u, v, w = pk.empty_like(x), pk.empty_like(x), pk.empty_like(x)
    scaled(u, x, a, ndrange=x.shape)
    shifted_root(v, u, ndrange=x.shape)
    product(w, v, x, ndrange=x.shape)
    return w - 1.0


@pk.jit
def chain_in_a_loop(x, a, n):
    for _ in pk.range(n):
        x = chain(x, a)
    return x


def by_numpy(x, a):
    return np.sqrt(a * x + 1.0) * x - 1.0


def test_values(rng):
    for n in (0, 1, 7, 1000):
        x = 1.0 + rng.random(n)
        np.testing.assert_allclose(chain(x, 2.0), by_numpy(x, 2.0), rtol=1e-15)
    x = 3.0 + rng.random(33)
    np.testing.assert_allclose(
        chain_in_a_loop(x, 2.0, 3), by_numpy(by_numpy(by_numpy(x, 2.0), 2.0), 2.0), rtol=1e-13
    )


def test_one_loop():
    stages = chain.lower(np.zeros(1000), 2.0).stages
    fused = next(s.text for s in reversed(stages) if "linalg.generic" in s.text and "tensor<" in s.text)
    assert fused.count("linalg.generic") == 1
    assert "kern.launch" not in fused
    nests = next(s.text for s in reversed(stages) if "scf.for" in s.text)
    assert nests.count("memref.alloc") == 0


def test_no_memory_of_its_own():
    """Neither alone nor around the loop: an iteration writes what the next one reads."""
    x = np.ones(4096)
    chain(x, 2.0)
    chain_in_a_loop(x, 2.0, 3)
    for program, arrays in ((chain, 0), (chain_in_a_loop, 1)):
        *_, plan = program._plans[1].values()
        assert plan.layout.scratch_bytes <= arrays * x.nbytes + 1024
