"""The objectives of ADBench: values against NumPy, gradients against finite differences."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk
from benchmarks import adbench, adbench_gmm

CASES = {
    "gmm": (adbench.gmm, adbench.gmm_reference, adbench.gmm_data(7, 3, 4), (7,), 7),
    "gmm d=1": (adbench.gmm, adbench.gmm_reference, adbench.gmm_data(5, 1, 2), (5,), 5),
    "bundle adjustment": (
        adbench.reprojection, adbench.reprojection_reference, adbench.reprojection_data(3, 5, 11), (11, 2), 11,
    ),
    "lstm": (adbench.lstm, adbench.lstm_reference, adbench.lstm_data(2, 4), (2,), 2),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_value(name):
    kernel, reference, data, shape, items = CASES[name]
    out = np.zeros(shape)
    kernel(out, *data, ndrange=items)
    np.testing.assert_allclose(out, reference(*data), rtol=1e-12)


@pytest.mark.parametrize("name", CASES)
def test_gradient(name):
    kernel, _, data, shape, items = CASES[name]
    pk.check_grads(kernel, (np.zeros(shape), *data), ndrange=items, entries=12, rtol=2e-7)


def test_gmm_of_the_published_size():
    """d = 10, K = 25, n = 1000: the dot test over all 4,000 parameters, differences at a few."""
    data = adbench.gmm_data(1000, 10, 25)
    pk.check_grads(adbench.gmm, (np.zeros(1000), *data), ndrange=1000, entries=2, dot_rtol=1e-11)


@pytest.mark.parametrize(("n", "d", "k"), [(5, 1, 2), (37, 4, 3), (19, 128, 200)])
def test_gmm_kernel_and_program_have_the_gradient_found_by_hand(n, d, k):
    """Up to the largest published size of the components, d = 128, K = 200."""
    *active, x = adbench.gmm_data(n, d, k)
    expected = adbench_gmm.gmm_gradient(*active, x)
    shadows = [np.zeros_like(a) for a in active]
    out = pk.Dup(np.zeros(n), np.ones(n))
    pk.autodiff(adbench.gmm)(out, *map(pk.Dup, active, shadows), x, ndrange=n)
    value, found = pk.value_and_grad(adbench_gmm.gmm, argnums=(0, 1, 2, 3))(*active, x, adbench_gmm.places(d))
    np.testing.assert_allclose(value, adbench.gmm_reference(*active, x).sum(), rtol=1e-12)
    for of_kernel, of_program, by_hand in zip(shadows, found, expected, strict=True):
        scale = max(1e-300, np.abs(by_hand).max(initial=0.0))
        np.testing.assert_allclose(of_kernel / scale, by_hand / scale, atol=1e-11)
        np.testing.assert_allclose(of_program / scale, by_hand / scale, atol=1e-11)
