"""Integers of 64 bits without a sign: constants beyond 2^63 - 1, as hashes and generators use them."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk

MULTIPLIER = 0x9E3779B97F4A7C15


@pk.kernel
def mixed(out, x):
    i = pk.index()
    z = (x[i] + pk.u64(0x9E3779B97F4A7C15)) * MULTIPLIER
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9
    out[i] = z ^ 0xFFFFFFFFFFFFFFFF


@pk.kernel
def compared(out, x):
    i = pk.index()
    out[i] = x[i] > 0x8000000000000000


@pk.kernel
def untyped(out):
    i = pk.index()
    big = 0x9E3779B97F4A7C15
    if i > 2:
        big = i
    out[i] = big


@pk.kernel
def with_an_index(out):
    i = pk.index()
    out[i] = i + 0x9E3779B97F4A7C15


@pytest.fixture
def words() -> np.ndarray:
    rng = np.random.default_rng(3)
    edges = np.array([0, 1, 2**63 - 1, 2**63, 2**63 + 1, 2**64 - 1], np.uint64)
    return np.concatenate([edges, rng.integers(0, 2**64, 61, dtype=np.uint64)])


def test_a_hash(device, words):
    out = np.zeros_like(words)
    mixed(out, words, ndrange=words.size, device=device)
    with np.errstate(over="ignore"):
        z = (words + np.uint64(MULTIPLIER)) * np.uint64(MULTIPLIER)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    np.testing.assert_array_equal(out, ~z)


def test_comparisons(device, words):
    out = np.zeros(words.size, np.bool_)
    compared(out, words, ndrange=words.size, device=device)
    np.testing.assert_array_equal(out, words > np.uint64(2**63))


@pytest.mark.parametrize("kernel", [untyped, with_an_index])
def test_without_a_type_it_is_refused(kernel):
    with pytest.raises(pk.KernelTypeError, match=r"11400714819323198485.* (fit|does not hold both)"):
        kernel(np.zeros(4, np.uint64), ndrange=4)
