"""In which type the functions of the library compute.

Sums of f16 and bf16 lose most of their digits, so these types are computed in f32, and the result is rounded once.
"""

from __future__ import annotations

from typing import Any

import pykern as pk


def wide(x: Any) -> Any:
    """`x` in the type to compute in: f64 for f64, f32 for f32, f16 and bf16."""
    if x.dtype == pk.f16 or x.dtype == pk.bf16:
        return x.astype(pk.f32)
    return x
