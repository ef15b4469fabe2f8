"""Array programs on every device: the value of a program is that of its function, and stays where its arrays are."""

from __future__ import annotations

import numpy as np

import pykern as pk


@pk.jit
def mean_square(x):
    return (x * x).mean()


@pk.jit
def doubled(x):
    return x * 2 + 1


def test_arrays_of_a_device(device, rng):
    x = rng.random(100)
    there = pk.asarray(x, device=device)
    with pk.device(device):
        np.testing.assert_allclose(mean_square(there), (x * x).mean(), rtol=1e-12)
        result = doubled(there)
    np.testing.assert_array_equal(np.asarray(result), x * 2 + 1)
    if device not in ("cpu", "python"):
        assert result.device_name.startswith(device)
