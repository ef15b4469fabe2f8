"""Array programs on devices: run on the CPU and by the reference; elsewhere a named refusal, never a wrong answer."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk


@pk.jit
def mean_square(x):
    return (x * x).mean()


def test_arrays_of_a_device(device, rng):
    x = rng.random(100)
    there = pk.asarray(x, device=device)
    if device in ("cpu", "python"):
        with pk.device(device):
            np.testing.assert_allclose(mean_square(there), (x * x).mean(), rtol=1e-12)
        return
    with pytest.raises(pk.DeviceError, match=f"`x` lies on {device}:0, and this launch runs on the CPU"):
        mean_square(there)
    pytest.skip("unsupported: array programs run on the CPU")
