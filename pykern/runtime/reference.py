"""What the names of the kernel language do as plain Python: the numbers half of the reference device.

The other half, who runs when, is `python_device`. Scalars of arrays are NumPy's, indices Python ints,
so promotion is NumPy's own. Results are rounded once from f64.
"""

from __future__ import annotations

import contextvars
import math
from collections.abc import Callable
from dataclasses import field
from typing import Any, Protocol

from pykern.data.promotion import promote
from pykern.data.records import record
from pykern.errors import NAN_HINT, KernelTypeError, NotANumber
from pykern.runtime.reference_place import stands_as_constant
from pykern.types import DType, bool_, from_numpy, weak_float, weak_int


@record
class Launch:
    """The index space of a launch on the reference device."""

    counts: tuple[int, ...]
    workgroup: tuple[int, ...]
    subgroup_size: int
    debug: bool = False
    shared_bytes: int | None = None
    sized: list[tuple[Any, DType]] = field(default_factory=list)
    """Where the kernel asks for the shared array that the launch sizes, once it has asked."""
    static: frozenset[str] = frozenset()
    """The kernel's static parameters: constants, as captured names are."""
    from_end: frozenset[tuple[str, int, int, int]] | None = None
    """File, line, column and dimension of accesses that count from the end; None where only what is written at the
    access tells, which goes for all constants then."""
    nan: bool = False
    """An operation that makes a NaN of numbers is an error."""
    races: Any = None
    """`pykern.runtime.races.Races`, where accesses are noted."""

    @property
    def groups(self) -> tuple[int, ...]:
        return tuple(-(-n // w) for n, w in zip(self.counts, self.workgroup, strict=True))


class WorkItem(Protocol):
    """What a running work-item offers the language."""

    index: tuple[int, ...]
    local: tuple[int, ...]
    group: tuple[int, ...]
    linear: int
    launch: Launch

    def shared(self, shape: Any, dtype: DType) -> Any: ...
    def private(self, shape: Any, dtype: DType) -> Any: ...
    def barrier(self) -> None: ...
    def collective(self, name: str, value: Any, detail: Any) -> Any: ...


_current: contextvars.ContextVar[WorkItem | None] = contextvars.ContextVar("pykern_work_item", default=None)
current: Callable[[], WorkItem | None] = _current.get
enter = _current.set
leave = _current.reset


def dtype_of(x: Any) -> DType | None:
    """The type of a NumPy scalar; None for Python's own (weak) numbers."""
    return from_numpy(x.dtype) if hasattr(x, "dtype") else None


def bits_of(x: Any) -> int:
    dtype = dtype_of(x)
    return 64 if dtype is None else dtype.bits


def is_complex(x: Any) -> bool:
    """Whether a number is a complex one."""
    return isinstance(x, complex) or (hasattr(x, "dtype") and x.dtype.kind == "c")


def stored(x: Any, dtype: DType) -> Any:
    """`x` as an element of memory: `cast`, and fp8 as ml_dtypes rounds an f32."""
    if not dtype.is_storage:
        return cast(x, dtype)
    import numpy as np

    with np.errstate(all="ignore"):
        return np.asarray(cast(x, dtype.loaded)).astype(dtype.numpy)[()]


def cast(x: Any, dtype: DType) -> Any:
    """See `pykern.language.cast`."""
    if dtype.is_storage:
        return dtype.loaded.numpy.type(stored(x, dtype))
    if dtype.weak:
        return int(_to_integer(x, -(2**63), 2**63 - 1)) if dtype.kind == "i" else float(x)
    kind = dtype.numpy.type
    if dtype.kind == "c":
        return kind(x)
    if is_complex(x):
        raise KernelTypeError(
            "a scalar is needed here, not a complex number", hint="write z.real, z.imag or abs(z)"
        )
    if dtype.kind == "b":
        return kind(bool(x))
    if dtype.is_float:
        import numpy as np

        with np.errstate(all="ignore"):
            return kind(x)
    if dtype.kind == "u":
        low, high = 0, 2**dtype.bits - 1
    else:
        low, high = -(2 ** (dtype.bits - 1)), 2 ** (dtype.bits - 1) - 1
    return kind(_to_integer(x, low, high))


def bitcast(x: Any, dtype: DType) -> Any:
    """See `pykern.language.bitcast`."""
    given = dtype_of(x)
    for kind in (given, dtype):
        if kind is None or kind.weak or kind.kind == "b":
            raise KernelTypeError(f"{kind.name if kind else type(x).__name__} has no bits of a fixed number",
                                  hint="cast to a type first, as in pk.f32(x)")  # fmt: skip
    assert given is not None
    if given.bits != dtype.bits:
        raise KernelTypeError(f"{given.name} has {given.bits} bits, and {dtype.name} has {dtype.bits}",
                              hint="give types of one size, as f32 and u32")  # fmt: skip
    bits = given.numpy.type(x).view(dtype.numpy)
    return dtype.loaded.numpy.type(bits) if dtype.is_storage else bits


def _to_integer(x: Any, low: int, high: int) -> int:
    dtype = dtype_of(x)
    if isinstance(x, float) or (dtype is not None and dtype.is_float):
        number = float(x)
        if math.isnan(number):
            return 0
        return high if number >= high else low if number <= low else int(number)
    return (int(x) - low) % (high - low + 1) + low


def fitted(x: Any, dtype: DType) -> Any:
    """`x` as an operand, or an element, of `dtype`: `cast`, but a Python integer that is written as a constant and
    that the type does not hold is refused. Others wrap."""
    if type(x) is int and dtype.is_integer and not dtype.weak and dtype != bool_:
        refuse_unfit(x, dtype)
    return cast(x, dtype)


def refuse_unfit(number: int, dtype: DType) -> None:
    """Raise `KernelTypeError` for a constant of the running line that an integer type does not hold."""
    low = 0 if dtype.kind == "u" else -(1 << (dtype.bits - 1))
    high = low + (1 << dtype.bits) - 1
    if low <= number <= high:
        return
    if is_refused(number):
        raise unfit(number, dtype.name, low, high)


def is_refused(number: int) -> bool:
    """Whether a number that no constant may be is one; where the compiler has looked at the kernel, none is."""
    item = current()
    if item is None:
        return stands_as_constant(number, frozenset())
    return item.launch.from_end is None and stands_as_constant(number, item.launch.static)


def unfit(number: int, name: str, low: int, high: int) -> KernelTypeError:
    """The error for a constant that an integer type does not hold."""
    return KernelTypeError(
        f"the constant {number} does not fit {name} ({low} .. {high})",
        hint=f"use a wider type, as in pk.i64(...), or cast the constant, as in pk.{name}({number}), which wraps",
    )


def where(condition: Any, a: Any, b: Any) -> Any:
    """`a` or `b` in their common type."""
    if is_complex(a) or is_complex(b):
        import numpy as np

        return np.where(condition, a, b)[()]
    dtype = promote(known_dtype(a), known_dtype(b))
    first, second = fitted(a, dtype), fitted(b, dtype)
    return first if condition else second


def known_dtype(x: Any) -> DType:
    """The type of a scalar, Python's own weak."""
    dtype = dtype_of(x)
    if dtype is not None:
        return dtype
    return bool_ if isinstance(x, bool) else weak_int if isinstance(x, int) else weak_float


def extremum(values: tuple, name: str) -> Any:
    """minimum or maximum of two or more, NaN wins."""
    import numpy as np

    if len(values) == 1 and isinstance(values[0], tuple):
        values = values[0]
    result = values[0]
    for value in values[1:]:
        dtype = promote(known_dtype(result), known_dtype(value))
        if dtype.is_integer and not dtype.weak and dtype != bool_:
            for one in (result, value):
                fitted(one, dtype)
            pick = (min if name == "minimum" else max)(int(result), int(value))
            result = cast(pick, dtype)  # a weak one is compared as what it is
        elif hasattr(result, "dtype") or hasattr(value, "dtype"):
            result = getattr(np, name)(result, value)
        else:
            nan = result != result or value != value
            pick = (min if name == "minimum" else max)(result, value)
            result = (
                math.nan
                if nan
                else float(pick)
                if isinstance(result, float) or isinstance(value, float)
                else pick
            )
    return result


# -- functions of numbers -----------------------------------------------------------------------


def no_new_nan(result: Any, operands: tuple) -> Any:
    """The result. Where the launch looks for NaNs, one of operands that are none is `NotANumber`."""
    item = current()
    if result != result and item is not None and item.launch.nan and all(x == x for x in operands):
        given = ", ".join(f"{float(x):.9g}" for x in operands)
        shown = item.index[0] if len(item.index) == 1 else item.index
        raise NotANumber(
            f"this operation makes a NaN of numbers ({given}) in work-item {shown}", hint=NAN_HINT
        )
    return result
