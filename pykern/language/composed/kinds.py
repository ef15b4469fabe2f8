"""What kinds of numbers arrays hold, for the texts beside this file: NumPy computes with integers in floats in many
functions, and has none of complex numbers in some."""

from __future__ import annotations

import numpy as np


def is_complex(x):
    """Whether the elements are complex."""
    return x.dtype == np.complex64 or x.dtype == np.complex128


def is_integer(x):
    """Whether the elements are integers or truths."""
    d = x.dtype
    is_signed = d == np.int64 or d == np.int32 or d == np.int16 or d == np.int8
    return is_signed or d == np.uint64 or d == np.uint32 or d == np.uint16 or d == np.uint8 or d == np.bool_


def small_floats(x):
    """Integers as the floats that NumPy's functions of one element make of them, which depends on their width."""
    y = np.asarray(x)
    return np.rint(y) if is_integer(y) else y


def wide_floats(x):
    """Integers as f64; all else as it is."""
    return x.astype(np.float64) if is_integer(x) else x
