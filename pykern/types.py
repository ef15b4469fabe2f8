"""Scalar types of the kernel language, and the annotations that name them.

Comes in: dtypes of NumPy and ml_dtypes, annotations such as ``pk.f32[:, :]``.
Goes out: `DType` values, the one vocabulary that sources, artifacts, the frontend
and the runtime share. Nothing of MLIR here.

fp8 (`f8e4m3`: finite, with NaN, largest 448; `f8e5m2`: with infinities, largest 57344) is a type of
memory: kernels compute in f32, a store rounds to nearest even as ml_dtypes does.

Promotion follows NumPy 2 (NEP 50): Python scalars and indices are *weak* and take
the type of what they meet. See `pykern.data.promotion`.
"""

from __future__ import annotations

import sys
from typing import Any, Literal, TypeVar

from pykern.data.provided import provided
from pykern.data.records import record
from pykern.errors import KernelTypeError

Kind = Literal["b", "i", "u", "f", "c"]


@record
class DType:
    """A scalar type: ``f32`` is ``DType("f32", "f", 32)``.

    `weak` marks the types of Python scalars: ``int`` (an index, 64 bits), ``float`` (f64).
    Calling a dtype inside a kernel casts: ``pk.f16(x)``.
    """

    name: str
    kind: Kind
    bits: int
    weak: bool = False

    @property
    def itemsize(self) -> int:
        """Bytes an element takes in memory."""
        return max(1, self.bits // 8)

    @property
    def is_float(self) -> bool:
        return self.kind == "f"

    @property
    def is_integer(self) -> bool:
        return self.kind in "iu"

    @property
    def is_storage(self) -> bool:
        """Whether only memory holds it (fp8): a load gives an f32, a store or a cast rounds one."""
        return self.kind == "f" and self.bits == 8

    @property
    def is_short(self) -> bool:
        """Whether NumPy has it from ml_dtypes alone."""
        return self.name in _FROM_ML_DTYPES

    @property
    def part(self) -> DType:
        """The type of the real and of the imaginary part of a complex number."""
        return f32 if self.bits == 64 else f64

    @property
    def loaded(self) -> DType:
        """The type that an element has in a kernel."""
        return f32 if self.is_storage else self

    @property
    def numpy(self) -> Any:
        """The `numpy.dtype` with the same bits."""
        import numpy as np

        if self.name in _FROM_ML_DTYPES:
            import ml_dtypes

            return np.dtype(getattr(ml_dtypes, _FROM_ML_DTYPES[self.name]))
        return np.dtype(_NUMPY_NAMES[self.name])

    @property
    def dtype(self) -> Any:
        """The same: NumPy asks here, so that ``x.astype(pk.f32)`` and ``np.zeros(3, pk.f32)`` are what they say."""
        return self.numpy

    def __call__(self, value: Any) -> Any:
        """Cast `value`; on the ``python`` device this gives a NumPy scalar."""
        return provided("cast")(value, self)

    def __getitem__(self, dims: Any) -> ArrayAnnotation:
        """``pk.f32[:, :]``: an array of rank 2; ``pk.f32[3, :]`` fixes the first length."""
        dims = dims if isinstance(dims, tuple) else (dims,)
        for dim in dims:
            if dim != slice(None) and not (isinstance(dim, int) and dim >= 0):
                raise TypeError(
                    f"{self.name}[{dim!r}]: a dimension is ':' or a length >= 0, as in pk.{self.name}[:, 3]"
                )
        return ArrayAnnotation(self, tuple(None if d == slice(None) else d for d in dims))

    def __repr__(self) -> str:
        return self.name


@record
class ArrayAnnotation:
    """The type of an array parameter: element type and, per dimension, a length or None."""

    dtype: DType
    shape: tuple[int | None, ...]

    def __repr__(self) -> str:
        return f"{self.dtype.name}[{', '.join(':' if d is None else str(d) for d in self.shape)}]"


bool_ = DType("bool", "b", 1)
i8, i16, i32, i64 = (DType(f"i{n}", "i", n) for n in (8, 16, 32, 64))
u8, u16, u32, u64 = (DType(f"u{n}", "u", n) for n in (8, 16, 32, 64))
f16, f32, f64 = (DType(f"f{n}", "f", n) for n in (16, 32, 64))
bf16 = DType("bf16", "f", 16)
f8e4m3, f8e5m2 = DType("f8e4m3", "f", 8), DType("f8e5m2", "f", 8)
weak_int = DType("int", "i", 64, weak=True)
weak_float = DType("float", "f", 64, weak=True)

STRONG = (bool_, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64)
STORAGE = (f8e4m3, f8e5m2)
DTYPES = frozenset(dtype.name for dtype in (*STRONG, *STORAGE))
"""Names of all types that arrays have."""
BY_NAME = {dtype.name: dtype for dtype in (*STRONG, *STORAGE, weak_int, weak_float)}
COMPLEX = {f"c{n}": DType(f"c{n}", "c", n) for n in (64, 128)}
"""Complex types: only the language's words have them. What is computed and passed is a pair of real numbers."""
NUMBERS = {name: number for number, name in enumerate(BY_NAME)}

_FROM_ML_DTYPES = {"bf16": "bfloat16", "f8e4m3": "float8_e4m3fn", "f8e5m2": "float8_e5m2"}
_NUMPY_NAMES = {
    "bool": "bool", "int": "int64", "float": "float64",
    **{f"i{n}": f"int{n}" for n in (8, 16, 32, 64)},
    **{f"u{n}": f"uint{n}" for n in (8, 16, 32, 64)},
    **{f"f{n}": f"float{n}" for n in (16, 32, 64)},
    **{name: f"complex{dtype.bits}" for name, dtype in COMPLEX.items()},
}  # fmt: skip
_BY_NUMPY_NAME = {
    name: BY_NAME[ours]
    for ours, name in _NUMPY_NAMES.items()
    if ours not in COMPLEX and not BY_NAME[ours].weak
}
_BY_NUMPY_NAME |= {name: BY_NAME[ours] for ours, name in _FROM_ML_DTYPES.items()}


def from_numpy(dtype: Any) -> DType | None:
    """The `DType` of a native-endian `numpy.dtype`, or None where kernels have no such type."""
    return by_numpy_name(dtype.name) if dtype.isnative else None


def complex_type(value: Any) -> DType | None:
    """The complex type that ``np.complex64``, ``complex`` or a dtype of NumPy names; None for what names none."""
    if value is complex:
        return COMPLEX["c128"]
    numpy = sys.modules.get("numpy")
    if numpy and isinstance(value, type) and issubclass(value, numpy.complexfloating):
        value = numpy.dtype(value)
    if numpy and isinstance(value, numpy.dtype) and value.kind == "c" and value.isnative:
        return COMPLEX.get(f"c{8 * value.itemsize}")
    return None


def named_type(value: Any) -> DType | None:
    """The type that ``pk.f32``, ``np.float32`` or ``np.dtype("f4")`` names; None for what names no type of kernels."""
    if isinstance(value, DType):
        return value
    numpy = sys.modules.get("numpy")
    if numpy and (
        isinstance(value, numpy.dtype) or (isinstance(value, type) and issubclass(value, numpy.generic))
    ):
        return from_numpy(numpy.dtype(value))
    return None


def numpy_dtype(dtype: Any) -> Any:
    """What NumPy takes as a dtype: a `DType`'s own, else `dtype` itself, which NumPy knows.

    Raises `KernelTypeError` for another string.
    """
    if isinstance(dtype, DType):
        return dtype.numpy
    if isinstance(dtype, str):
        import numpy

        try:
            return numpy.dtype(dtype)
        except TypeError:
            known = BY_NAME.get(dtype)
            raise KernelTypeError(
                f"{dtype!r} is no dtype",
                hint=f"write pk.{known.name}"
                if known
                else "write one of pk.f32, pk.f64, pk.i32, ..., or NumPy's name",
            ) from None
    return dtype


def by_numpy_name(name: str) -> DType | None:
    """The `DType` NumPy and ml_dtypes call so."""
    return _BY_NUMPY_NAME.get(name)


T = TypeVar("T")


class Intent:
    """Base of `In`, `Out` and `InOut`: what the kernel may do with an argument."""

    reads = writes = True

    def __class_getitem__(cls, item: Any) -> Any:
        return IntentAnnotation(cls.__name__, cls.reads, cls.writes, item)


class In(Intent):
    """``x: pk.In[pk.f32[:]]``: the kernel only reads; a store is a `KernelTypeError`."""

    writes = False


class Out(Intent):
    """``y: pk.Out[pk.f32[:]]``: the kernel only writes; a load is a `KernelTypeError`."""

    reads = False


class InOut(Intent):
    """``z: pk.InOut[pk.f32[:]]``: the kernel reads and writes."""


@record
class IntentAnnotation:
    """``pk.Out[pk.f32[:]]``: an intent around an array annotation."""

    name: str
    reads: bool
    writes: bool
    of: Any

    def __repr__(self) -> str:
        return f"{self.name}[{self.of!r}]"


class _Known(type):
    """``isinstance(x, pk.static)``: on the device `python` all numbers and words are known."""

    def __instancecheck__(cls, value: object) -> bool:
        if isinstance(value, tuple | list):
            return all(isinstance(item, cls) for item in value)
        return value is None or isinstance(value, int | float | str)


class static(metaclass=_Known):  # noqa: N801 - reads as a word of the language: `n: pk.static`
    """Annotation of a compile-time parameter; ``pk.static(expr)`` asserts a compile-time value.

    In array programs ``isinstance(x, pk.static)`` says whether `x` is known when compiling.
    """

    def __new__(cls, value: T) -> T:  # type: ignore[misc]
        return value
