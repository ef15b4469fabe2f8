"""The names of the kernel language, as Python functions.

In a compiled kernel a call of one of them is an op. On the ``python`` device, and outside of kernels
where that makes sense, these very functions run: they are the reference.
`from_callable` tells which name a Python object stands for, however it was reached.
"""

from __future__ import annotations

import builtins
import math
import sys
from collections.abc import Callable
from typing import Any, TypeVar

from pykern.data.operator_functions import BINARY, UFUNC_METHODS, UNARY
from pykern.errors import KernelError, KernelTypeError
from pykern.runtime import reference as _reference
from pykern.runtime.reference_elementwise import on_arrays as _on_arrays
from pykern.runtime.reference_elementwise import update_each as _update_arrays
from pykern.types import DType, named_type

e, pi, tau, inf, nan = math.e, math.pi, math.tau, math.inf, math.nan

_NAMES: dict[int, str] = {}
__all__ = ["e", "inf", "nan", "pi", "tau"]  # the functions add themselves


_F = TypeVar("_F", bound=Callable[..., Any])


def _builtin(function: _F) -> _F:
    """Make a function a name of the language."""
    function.__pykern_builtin__ = function.__name__  # type: ignore[attr-defined]
    __all__.append(function.__name__)
    return function


def _counts(function: Callable) -> Callable:
    """Arrays of counts of bits hold bytes, as NumPy's."""
    return _on_arrays(function, "u1")


def from_callable(value: object) -> str | None:
    """The language's name for an object: ours, `math`'s, NumPy's or Python's; None for others."""
    name = getattr(value, "__pykern_builtin__", None)
    if isinstance(name, str):
        return name
    try:
        return _python_names().get(value) or _numpy_names().get(value)  # type: ignore[call-overload]
    except TypeError:  # not hashable
        return None


# -- where a work-item stands -------------------------------------------------------------------


def _item(name: str) -> _reference.WorkItem:
    item = _reference.current()
    if item is None:
        raise KernelError(
            f"pk.{name}() only works inside a kernel", hint="launch a kernel: k(..., ndrange=n)"
        )
    return item


def _coordinate(name: str, values: tuple[int, ...], dim: int | None) -> Any:
    if dim is None:
        return values[0] if len(values) == 1 else values
    if not 0 <= dim < len(values):
        raise KernelTypeError(f"pk.{name}({dim}): the ndrange has {len(values)} dimensions")
    return values[dim]


@_builtin
def index(dim: int | None = None) -> Any:
    """Coordinate of this work-item in the ndrange: an int where it has one dimension, else a tuple; `dim` picks one.

    A range's start and step are in it. Coordinates are weak integers of 64 bits: they take the type of what they meet.
    Raises `KernelTypeError` for a `dim` that the ndrange does not have, `KernelError` outside of a kernel, as
    all names of this group.
    """
    return _coordinate("index", _item("index").index, dim)


@_builtin
def local_index(dim: int | None = None) -> Any:
    """Coordinate in the workgroup, from 0: an int, or a tuple; `dim` picks one."""
    return _coordinate("local_index", _item("local_index").local, dim)


@_builtin
def group_index(dim: int | None = None) -> Any:
    """Coordinate of the workgroup among the groups, from 0: an int, or a tuple; `dim` picks one."""
    return _coordinate("group_index", _item("group_index").group, dim)


@_builtin
def group_size(dim: int | None = None) -> Any:
    """Size of a full workgroup, also in a partial last one: an int, or a tuple; `dim` picks one."""
    return _coordinate("group_size", _item("group_size").launch.workgroup, dim)


@_builtin
def num_groups(dim: int | None = None) -> Any:
    """Number of workgroups, a partial last one included: an int, or a tuple; `dim` picks one."""
    return _coordinate("num_groups", _item("num_groups").launch.groups, dim)


@_builtin
def ndrange(dim: int | None = None) -> Any:
    """Number of work-items: an int, or a tuple; `dim` picks one. A range counts those it has."""
    return _coordinate("ndrange", _item("ndrange").launch.counts, dim)


@_builtin
def subgroup_size() -> int:
    """Work-items in a full subgroup: 32, or what the target has."""
    return _item("subgroup_size").launch.subgroup_size


@_builtin
def subgroup_index() -> int:
    """Number of the subgroup in its workgroup, from 0; work-items are dealt in row-major order."""
    item = _item("subgroup_index")
    return item.linear // item.launch.subgroup_size


@_builtin
def lane_index() -> int:
    """Place of this work-item in its subgroup, from 0."""
    item = _item("lane_index")
    return item.linear % item.launch.subgroup_size


# -- tiles --------------------------------------------------------------------------------------


@_builtin
def tile(*sizes: int | None) -> Any:
    """The tile of a kernel whose index is a range: ``i, j = pk.tile()``. A tile indexes arrays: ``x[i, j]`` holds what
    is there, the last tile has fewer elements. ``x[i + 1]`` is the tile beside it.

    An ndrange of one dimension gives one tile, else a tuple. How large tiles are is left to the compiler; `sizes` fix
    it, one a dimension, None where it stays open, and where a size is 1 there is an integer. ``tile=`` of a launch does
    the same. Stands once in a kernel, in a statement of its own. Raises `KernelError` outside of a kernel.
    """
    return _reference_tiles().tile(sizes)


@_builtin
def tiles(start: int, stop: int | None = None) -> Any:
    """The tiles of a range, for a loop: ``for k in pk.tiles(n)``, or ``pk.tiles(start, stop)``. How many there are is
    left to the compiler, as for `tile`; what the loop carries is as after all of them.
    """
    return _reference_tiles().tiles(*((0, start) if stop is None else (start, stop)))


@_builtin
def positions(tile: Any) -> Any:
    """The indices of a tile, as an array of i64: ``pk.positions(i)[:, None] >= pk.positions(k)`` is a causal mask."""
    return _reference_tiles().positions(tile)


def _reference_tiles() -> Any:
    from pykern.runtime import reference_tiles  # here: it needs NumPy

    return reference_tiles


# -- memory and barriers ------------------------------------------------------------------------


@_builtin
def shared(shape: int | tuple[int, ...] | None, dtype: DType) -> Any:
    """Memory that the work-items of a group share; its contents are undefined at first: ``pk.shared((8, 8), pk.f32)``.

    `shape` is known when compiling; or None (or -1), once in a kernel: then it is an array of one
    dimension with as many elements as fit in the `shared_bytes=` of the launch. Raises `TargetError` for more than
    the target has.
    """
    return _item("shared").shared(shape, named_type(dtype) or dtype)


@_builtin
def private(shape: int | tuple[int, ...], dtype: DType) -> Any:
    """Memory of this work-item, undefined at first; it keeps its contents across barriers.

    `shape` (a length or several) is known when compiling, and so is `dtype`, e.g. ``pk.private(4, pk.f32)``.
    """
    return _item("private").private(shape, named_type(dtype) or dtype)


@_builtin
def barrier() -> None:
    """Wait for the work-items of the group; memory written before is seen after.

    Those who have returned are not waited for. All others of a group have to come by, equally often.
    """
    _item("barrier").barrier()


@_builtin
def subgroup_reduce(value: Any, op: str = "add") -> Any:
    """The reduction of `value` over the subgroup, in its type, for every lane.

    `op` is "add", "mul", "min" or "max"; for integers also "and", "or", "xor".
    """
    return _item("subgroup_reduce").collective("subgroup_reduce", value, op)


@_builtin
def subgroup_scan(value: Any, op: str = "add", exclusive: bool = False) -> Any:
    """The scan of `value` over the lanes of the subgroup, in its type, this lane included unless `exclusive`.

    `op` as for `subgroup_reduce`. The first lane of an exclusive scan gets the neutral number of `op`: 0 for "add".
    """
    name = "subgroup_exclusive_scan" if exclusive else "subgroup_scan"
    return _item("subgroup_scan").collective(name, value, op)


@_builtin
def subgroup_shuffle(value: Any, lane: int) -> Any:
    """The `value` of lane `lane` of the subgroup, in its type."""
    return _item("subgroup_shuffle").collective("subgroup_shuffle", value, lane)


@_builtin
def subgroup_broadcast(value: Any, lane: int = 0) -> Any:
    """The `value` of one lane, for the whole subgroup."""
    return _item("subgroup_broadcast").collective("subgroup_shuffle", value, lane)


@_builtin
def group_reduce(value: Any, op: str = "add") -> Any:
    """The reduction of `value` over the workgroup, in its type, for every work-item; `op` as for `subgroup_reduce`."""
    return _item("group_reduce").collective("group_reduce", value, op)


# -- atomics ------------------------------------------------------------------------------------


def _update(x: Any, index: Any, value: Any, change: Callable[[Any, Any], Any], bits: bool = False) -> Any:
    """One work-item runs at a time on the reference device: reading and writing is atomic.

    `value` takes the type of the elements first. Raises `KernelTypeError` for bool, and for floats where
    `bits` are combined.
    """
    import numpy as np

    dtype = x.dtype
    if dtype.kind == "b" or (bits and dtype.is_float):
        raise KernelTypeError(f"this atomic is not available for {dtype.name}")
    if isinstance(x, np.ndarray):
        return _update_arrays(x, index, value, change)
    with np.errstate(all="ignore"):
        given = _reference.fitted(value, dtype)
        return x.update(index, lambda old: change(old, given))


@_builtin
def atomic_add(x: Any, index: Any, value: Any) -> Any:
    """``x[index] += value`` as one; gives the old value.

    `x` is an array argument or shared memory of integers or floats, `index` an int or a tuple; `value` is converted
    to the type of the elements. Integers wrap. There is no order among work-items, so float sums differ in their last
    bits. In array programs and tile kernels `index` and `value` are arrays, each element of which takes part, and
    nothing is given back. Raises `KernelTypeError` for bool and fp8. The same holds for the other atomics.
    """
    return _update(x, index, value, lambda old, new: old + new)


@_builtin
def atomic_sub(x: Any, index: Any, value: Any) -> Any:
    """``x[index] -= value``; gives the old value."""
    return _update(x, index, value, lambda old, new: old - new)


@_builtin
def atomic_min(x: Any, index: Any, value: Any) -> Any:
    """``x[index] = min(x[index], value)``; gives the old value."""
    return _update(x, index, value, lambda old, new: minimum(old, new))


@_builtin
def atomic_max(x: Any, index: Any, value: Any) -> Any:
    """``x[index] = max(x[index], value)``; gives the old value."""
    return _update(x, index, value, lambda old, new: maximum(old, new))


@_builtin
def atomic_and_(x: Any, index: Any, value: Any) -> Any:
    """``x[index] &= value``; gives the old value. Integers only."""
    return _update(x, index, value, lambda old, new: old & new, bits=True)


@_builtin
def atomic_or_(x: Any, index: Any, value: Any) -> Any:
    """``x[index] |= value``; gives the old value. Integers only."""
    return _update(x, index, value, lambda old, new: old | new, bits=True)


@_builtin
def atomic_xor(x: Any, index: Any, value: Any) -> Any:
    """``x[index] ^= value``; gives the old value. Integers only."""
    return _update(x, index, value, lambda old, new: old ^ new, bits=True)


@_builtin
def atomic_exchange(x: Any, index: Any, value: Any) -> Any:
    """``x[index] = value``; gives the old value."""
    return _update(x, index, value, lambda old, new: new)


@_builtin
def atomic_compare_exchange(x: Any, index: Any, expected: Any, value: Any) -> Any:
    """Put `value` where `expected` stands (floats are compared by their bits); gives the old value."""
    return _update(x, index, value, lambda old, new: new if _same_bits(old, expected, x.dtype) else old)


def _same_bits(old: Any, expected: Any, dtype: DType) -> bool:
    return old.tobytes() == _reference.fitted(expected, dtype).tobytes()


# -- numbers ------------------------------------------------------------------------------------


@_builtin
@_on_arrays
def cast(x: Any, dtype: DType) -> Any:
    """`x` as `dtype`: float to integer truncates, saturates, NaN gives 0; integers wrap."""
    return _reference.cast(x, dtype)


@_builtin
@_on_arrays
def bitcast(x: Any, dtype: DType) -> Any:
    """The bits of `x` read as a `dtype` of the same size: ``pk.bitcast(x, pk.u32)`` of an f32, as ``x.view(np.uint32)``
    in NumPy. Raises `KernelTypeError` for types of different sizes, for bool, and for Python's numbers, which have no
    size. A float read as its bits has no derivative.
    """
    return _reference.bitcast(x, dtype)


@_builtin
@_on_arrays
def where(condition: Any, a: Any, b: Any) -> Any:
    """`a` where `condition` holds, else `b`, both in their common type."""
    return _reference.where(condition, a, b)


@_builtin
@_on_arrays
def minimum(*values: Any) -> Any:
    """The least of two or more numbers, in their common type; NaN wins. Arrays: element by element."""
    return _reference.extremum(values, "minimum")


@_builtin
@_on_arrays
def maximum(*values: Any) -> Any:
    """The greatest of two or more numbers, in their common type; NaN wins. Arrays: element by element."""
    return _reference.extremum(values, "maximum")


@_builtin
def clamp(x: Any, low: Any, high: Any) -> Any:
    """`x` brought into `low` .. `high`, in their common type; NaN stays."""
    return minimum(maximum(x, low), high)


@_builtin
def cdiv(a: Any, b: Any) -> Any:
    """``a / b`` of integers, rounded up, in their common type."""
    return a // b + (a % b != 0)


@_builtin
@_counts
def popcount(x: Any) -> int:
    """Number of bits set in an integer, as an integer."""
    return (builtins.int(x) & ((1 << _reference.bits_of(x)) - 1)).bit_count()


@_builtin
@_counts
def clz(x: Any) -> int:
    """Number of zero bits before the first one of an integer; its width for 0."""
    width = _reference.bits_of(x)
    return width - (builtins.int(x) & ((1 << width) - 1)).bit_length()


@_builtin
def unroll(items: Any) -> Any:
    """``for k in pk.unroll(range(4))``: one copy of the body for each value; `items` are known when compiling.

    A range or a tuple. Raises `KernelTypeError` for one that only the run knows.
    """
    return items


def _define_mathematics() -> None:
    for name, text in _reference.MATHEMATICS.items():

        def function(*args: Any, _name: str = name) -> Any:
            return _reference.apply(_name, args)

        function.__name__ = function.__qualname__ = name
        function.__doc__ = text
        globals()[name] = _builtin(_on_arrays(function))


_define_mathematics()


@_builtin
def print(*values: Any, sep: str = " ", end: str = "\n") -> None:
    """Print from a kernel, one work-item at a time, in no order: numbers, tuples of them, constant texts."""
    builtins.print(*map(_shown, values), sep=sep, end=end)


def _shown(value: Any) -> str:
    """A value as compiled kernels print it: in a tuple, too, by `str`."""
    return f"({', '.join(map(_shown, value))})" if isinstance(value, tuple) else str(value)


# -- other names for the same -------------------------------------------------------------------


_PYTHON = tuple(  # from builtins: names of ours shadow some of them here
    (getattr(builtins, name), name)
    for name in (
        "abs", "min", "max", "round", "len", "int", "float", "bool", "range", "print", "pow", "divmod",
        "sum", "any", "all", "enumerate", "zip", "reversed", "isinstance",
    )
)  # fmt: skip
_MATH = (
    "sqrt", "cbrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos",
    "atan", "atan2", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "erfc", "gamma", "lgamma", "hypot",
    "floor", "ceil", "trunc", "fabs", "fmod", "remainder", "copysign", "isnan", "isinf", "isfinite", "degrees",
    "radians", "pow", "fma", "nextafter", "gcd", "isqrt",
)  # fmt: skip
_NUMPY = {
    "arcsin": "asin", "arccos": "acos", "arctan": "atan", "arctan2": "atan2", "arcsinh": "asinh",
    "arccosh": "acosh", "arctanh": "atanh", "absolute": "abs", "fabs": "fabs", "power": "pow", "rint": "round",
    "minimum": "minimum", "maximum": "maximum", "where": "where", "sign": "sign", "square": "square",
    "fmod": "fmod", "clip": "clamp", "divmod": "divmod",
    "deg2rad": "radians", "rad2deg": "degrees", "bitwise_count": "popcount",
    **{n: n for n in _MATH if n not in ("gamma", "lgamma", "erf", "erfc", "remainder", "fma", "pow", "fabs", "fmod")},
}  # fmt: skip
_NUMPY |= {
    n: n for n in (
        "sum", "prod", "mean", "var", "std", "max", "min", "any", "all", "argmax", "argmin", "dot", "matmul", "outer",
        "cumsum", "cumprod",
        "transpose", "swapaxes", "reshape", "ravel", "expand_dims", "squeeze", "broadcast_to", "flip", "concatenate",
        "stack", "pad", "zeros", "ones", "empty", "full", "zeros_like", "ones_like", "empty_like", "full_like",
        "arange", "eye", "copy",
        "roll", "take", "take_along_axis", "repeat", "diff", "moveaxis", "fliplr", "flipud", "atleast_1d", "atleast_2d",
        "append", "meshgrid", "hstack", "vstack", "dstack", "column_stack", "split", "array_split", "hsplit", "vsplit",
        "diagonal", "diag", "trace", "triu", "tril", "size", "shape", "ndim",
        "count_nonzero", "ptp", "average", "nansum", "nanprod", "nanmax", "nanmin", "nanmean", "nan_to_num",
        "isclose", "allclose", "array_equal", "einsum", "tensordot", "inner", "vdot", "kron", "cross",
        "linspace", "gradient", "trapezoid", "searchsorted", "interp", "logaddexp", "fmax", "fmin", "heaviside", "sinc",
        "signbit", "select", "polyval", "rot90", "block", "isin", "round",
        "sort", "argsort", "partition", "argpartition", "median", "quantile", "percentile",
        "convolve", "correlate", "histogram", "digitize", "cov", "corrcoef", *BINARY, *UNARY,
    )
}  # fmt: skip
_NUMPY |= {
    "tile": "numpy.tile", "array": "numpy.array", "asarray": "numpy.array", "identity": "eye", "around": "round",
    "linalg.norm": "norm", "row_stack": "vstack", "trapz": "trapezoid", "float_power": "pow",
    "lib.stride_tricks.sliding_window_view": "sliding_window_view",
    **{path: path for method, names in UFUNC_METHODS.items() for path in (f"{n}.{method}" for n in names)},
}  # fmt: skip
_tables: dict[str, dict[Any, str]] = {}


def _python_names() -> dict[Any, str]:
    if "python" not in _tables:
        table: dict[Any, str] = dict(_PYTHON)
        table.update({getattr(math, n): n for n in _MATH if hasattr(math, n)})
        _tables["python"] = table
    return _tables["python"]


def _numpy_names() -> dict[Any, str]:
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return {}
    if "numpy" not in _tables:
        found = ((_attribute(numpy, path), name) for path, name in _NUMPY.items())
        _tables["numpy"] = {value: name for value, name in found if value is not None}
    return _tables["numpy"]


def _attribute(module: Any, path: str) -> Any:
    """``numpy.linalg.norm``; None where this NumPy has none."""
    for part in path.split("."):
        module = getattr(module, part, None)
    return module
