"""The patterns of `benchmarks/autodiff_patterns.py`: pykern's values and gradients against plain Python."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk
from benchmarks.autodiff_patterns_data import GROUP, PATTERNS
from benchmarks.autodiff_patterns_pykern import KERNELS, gradients

SIZES = [1, 13]


def test_every_pattern_has_a_kernel():
    assert list(KERNELS) == list(PATTERNS)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("name", PATTERNS)
def test_value(name, n):
    pattern = PATTERNS[name]
    given = pattern.arguments(max(n, GROUP) if pattern.grouped else n, seed=n)
    found, expected = given["out"].copy(), given["out"].copy()
    KERNELS[name](found, given["x"], given["c"], given["k"], ndrange=len(given["x"]))
    pattern.reference(expected, given["x"], given["c"], given["k"])
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("name", PATTERNS)
def test_gradient(name, n):
    pattern = PATTERNS[name]
    given = pattern.arguments(max(n, GROUP) if pattern.grouped else n, seed=n)
    before = {key: value.copy() for key, value in given.items()}
    found, expected = gradients(name, given), pattern.gradients(given)
    for key in pattern.by:
        largest = np.abs(expected[key]).max()
        np.testing.assert_allclose(found[key], expected[key], rtol=0, atol=1e-7 * largest, err_msg=key)
    for key, value in before.items():
        np.testing.assert_array_equal(given[key], value)


@pytest.mark.parametrize("name", PATTERNS)
def test_raised_gradient_is_right_or_refused(name):
    """Where a length is data, the raised form once answered zero."""
    pattern = PATTERNS[name]
    given = pattern.arguments(seed=2)
    try:
        found = gradients(name, given, level="raised")
    except pk.NotRaisable:
        return
    for key, expected in pattern.gradients(given).items():
        np.testing.assert_allclose(
            found[key], expected, rtol=0, atol=1e-7 * np.abs(expected).max(), err_msg=key
        )


@pytest.mark.parametrize("name", ["run-time loop", "product loop"])
def test_lengths_that_are_data_are_not_raised(name):
    with pytest.raises(pk.NotRaisable, match="length is data"):
        gradients(name, PATTERNS[name].arguments(), level="raised")
