"""Numbers that a call passes: their type, and the bits in a slot."""

from __future__ import annotations

import reprlib
import struct
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from pykern.errors import ARGUMENT_TYPE, KernelTypeError, LaunchError
from pykern.types import (
    BY_NAME,
    DType,
    IntentAnnotation,
    from_numpy,
    u64,
)


def scalar_bits(name: str, value: Any, annotation: Any) -> int:
    """The slot of a number."""
    if isinstance(annotation, IntentAnnotation):
        annotation = annotation.of
    described = scalar(name, value, annotation)
    assert described is not None, f"`{name}` is no number"
    return described[1]


def scalar(name: str, value: Any, annotation: Any) -> tuple[DType, int] | None:
    dtype = scalar_type(value)
    if dtype is None:
        return None
    if dtype.is_storage or (isinstance(annotation, DType) and annotation.is_storage):
        raise KernelTypeError(
            f"`{name}` is a number of {(dtype if dtype.is_storage else annotation).name}, and fp8 is for arrays",
            hint=f"pass np.float32({name}), annotate it pk.f32",
            code=ARGUMENT_TYPE,
        )
    if isinstance(annotation, DType):
        value, dtype = _converted(name, value, annotation.numpy.type), annotation
    elif annotation in (int, float, bool):
        value, dtype = _converted(name, value, annotation), BY_NAME[annotation.__name__]
    return dtype, _bits(name, value, dtype)


def _converted(name: str, value: Any, kind: Callable[[Any], Any]) -> Any:
    """The number as it is annotated; a float beyond the largest becomes infinite. Raises `LaunchError`.

    An integer stays what it is: 2.5 is no `int`, nor is 300 a `u8`, whatever type the 300 has.
    """
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            made = kind(value)
    except (OverflowError, ValueError) as error:
        raise _unfit(name, value, str(error)) from None
    if isinstance(made, int | np.integer) and type(made) is not bool and made != value:
        raise _unfit(name, value, f"as an integer it would be {made}")
    return made


def _unfit(name: str, value: Any, why: str) -> LaunchError:
    return LaunchError(
        f"`{name}` = {reprlib.repr(value)} does not fit its annotation: {why}",
        hint="pass a number that fits, or annotate it with a wider type",
        code=ARGUMENT_TYPE,
    )


def scalar_type(value: Any) -> DType | None:
    kind = type(value)
    if kind is int and 2**63 <= value < 2**64:
        return u64  # as NumPy has it: 64 bits with a sign do not hold it
    if kind in (bool, int, float):
        return BY_NAME[kind.__name__]
    if isinstance(value, np.generic):
        return from_numpy(value.dtype)
    return None


def _bits(name: str, value: Any, dtype: DType) -> int:
    """The slot of a scalar: integers extended, floats by their bits."""
    if dtype.name in ("f64", "float"):
        return struct.unpack("<q", struct.pack("<d", float(value)))[0]
    if dtype.is_float:
        return int.from_bytes(dtype.numpy.type(value).tobytes(), sys.byteorder)
    number = int(value)
    if not -(2**63) <= number < 2**64 or (dtype.kind != "u" and number >= 2**63):
        raise LaunchError(f"`{name}` = {number} needs more than 64 bits", hint="pass a float")
    return number - 2**64 if number >= 2**63 else number
