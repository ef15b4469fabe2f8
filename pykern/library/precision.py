"""In which type the functions of the library compute.

Sums of f16 and bf16 lose most of their digits, so these types are computed in f32, and the result is rounded once.
"""

from __future__ import annotations

from typing import Any

import pykern as pk


def wide(x: Any) -> Any:
    """`x` in the type to compute in: f64 for f64, f32 for f32, f16 and bf16."""
    is_short = x.dtype == pk.f16 or x.dtype == pk.bf16
    is_float = is_short or x.dtype == pk.f32 or x.dtype == pk.f64
    assert is_float, (
        "the library computes with floats of 16, 32 and 64 bits: convert the array, x.astype(np.float32)"
    )
    return x.astype(pk.f32) if is_short else x


def alike(arrays: Any) -> Any:
    """Several arrays, all in f64 where one of them is, else all in f32."""
    is_double = False
    for x in arrays:
        is_double = is_double or x.dtype == pk.f64
    dtype = pk.f64 if is_double else pk.f32
    return tuple([wide(x).astype(dtype) for x in arrays])
