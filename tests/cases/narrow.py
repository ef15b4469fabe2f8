"""Data of tests over devices that have no floats of 64 bits: what is given in f64 is f32 there.

So a test of all devices shows what these can do, too. What NumPy or the CPU gives it is compared with may have been
computed in f64; `tolerance` is for both.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import pykern as pk
from pykern.runtime import registry


def is_narrow(device: str) -> bool:
    """Whether a device computes with no float of 64 bits."""
    dtypes = registry.info(device).dtypes
    return bool(dtypes) and "f64" not in dtypes


def narrowed(value: Any, device: str) -> Any:
    """NumPy arrays of f64, also in lists, tuples, dictionaries and `pk.Dup`, as f32 where the device is narrow."""
    if not is_narrow(device):
        return value
    if isinstance(value, (list, tuple)):
        return type(value)(narrowed(item, device) for item in value)
    if isinstance(value, dict):
        return {key: narrowed(item, device) for key, item in value.items()}
    if isinstance(value, pk.Dup):
        one, other = value.value, value.shadow
        return pk.Dup(
            narrowed(one, device), narrowed(other, device) if isinstance(one, np.ndarray) else other
        )
    is_wide = isinstance(value, np.ndarray) and value.dtype == np.float64
    return value.astype(np.float32) if is_wide else value


def tolerance(device: str, wide: float, narrow: float = 2e-5) -> float:
    """The relative error that results of a device may have."""
    return narrow if is_narrow(device) else wide
