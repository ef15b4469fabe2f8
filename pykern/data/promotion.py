"""Which type an operation computes in: NumPy 2's promotion (NEP 50), Python scalars weak.

Comes in: `DType`s. Goes out: `DType`s; pure functions, no MLIR. bfloat16 promotes as ml_dtypes does
under NumPy: with f16 to f32; with integers as f16 does, so with 8 bits it stays bf16, 16 bits give f32,
wider ones f64. In one place we depart: a Python float is weak here too (bf16 + 1.0 is bf16), while
ml_dtypes makes it f32. fp8 is never here: what is loaded is an f32.
"""

from __future__ import annotations

import functools

from pykern.types import (
    BY_NAME,
    DType,
    bf16,
    bool_,
    f16,
    f32,
    f64,
    i64,
    u64,
    weak_float,
)


@functools.cache
def promote(a: DType, b: DType) -> DType:
    """The type of ``a + b``. Weak types give way, except to bool (as in NumPy: bool + 1 is int64)."""
    if a == b:
        return a
    if a.weak and b.weak:
        return weak_float
    if a.weak or b.weak:
        weak, strong = (a, b) if a.weak else (b, a)
        return _with_weak(weak, strong)
    if bool_ in (a, b):
        return b if a == bool_ else a
    if a.is_float and b.is_float:
        return _floats(a, b)
    if a.is_float or b.is_float:
        floating, integer = (a, b) if a.is_float else (b, a)
        return _float_and_integer(floating, integer)
    return _integers(a, b)


def true_divide(a: DType, b: DType) -> DType:
    """The type of ``a / b``: integers of any width give f64, Python's own a weak float."""
    dtype = promote(a, b)
    if dtype.is_float:
        return dtype
    return weak_float if dtype.weak else f64


def sum_type(a: DType) -> DType:
    """The type that sums and products of many elements are kept in: integers in 64 bits, f16 and bf16 in f32."""
    if a.is_float:
        return f32 if a.bits == 16 else a
    return u64 if a.kind == "u" else i64


def unary_math(a: DType) -> DType:
    """The type sin, exp and their like compute in: 8 bits f16, 16 bits f32, wider f64."""
    if a.is_float:
        return a
    if a.weak:
        return weak_float
    return f16 if a.bits <= 8 else f32 if a.bits == 16 else f64


def binary_math(a: DType, b: DType) -> DType:
    """The type atan2, hypot and their like compute in: the smallest float that holds both, as NumPy looks for it."""
    if a.weak or b.weak:
        return unary_math(promote(a, b))
    return promote(unary_math(a), unary_math(b))


def _with_weak(weak: DType, strong: DType) -> DType:
    if strong.is_float:
        return strong
    if weak == weak_float:
        return f64
    return i64 if strong == bool_ else strong


def _floats(a: DType, b: DType) -> DType:
    if {a, b} == {f16, bf16}:
        return f32
    return a if a.bits > b.bits else b


def _float_and_integer(floating: DType, integer: DType) -> DType:
    """The float that holds the integer's range, as NumPy counts it."""
    needed = 16 if integer.bits == 8 else 32 if integer.bits == 16 else 64
    return floating if floating.bits >= needed else f32 if needed == 32 else f64


def _integers(a: DType, b: DType) -> DType:
    if a.kind == b.kind:
        return a if a.bits > b.bits else b
    unsigned, signed = (a, b) if a.kind == "u" else (b, a)
    if signed.bits > unsigned.bits:
        return signed
    return f64 if unsigned.bits == 64 else BY_NAME[f"i{2 * unsigned.bits}"]
