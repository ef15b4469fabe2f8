"""Reductions of a row in a kernel: ``x[i].sum()``, ``np.max(x[i])``, ``sum(x[i])``.

Comes in: the name of a reduction and an array of one dimension. Goes out: the value of a function of the language
itself, a loop over the elements in their order, which is translated like a user's. Types are NumPy's: small integers
add up in 64 bits; f16 and bf16 add up in f32, and the result is rounded.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pykern.data.promotion import sum_type
from pykern.data.source import Builtin, FunctionSource
from pykern.frontend import arithmetic
from pykern.frontend.casts import convert
from pykern.frontend.values import Array, Extension, FunctionValue, Scalar, Value, describe
from pykern.types import bool_, f64

if TYPE_CHECKING:
    from pykern.frontend.calls import Calls

_SUMMED = """\
def {name}(x, so_far):
    for k in loop_range(x.shape[0]):
        so_far = {taken_in}
    return so_far
"""
_EXTREMUM = """\
def {name}(x):
    so_far = x[0]
    for k in loop_range(1, x.shape[0]):
        so_far = {taken_in}
    return so_far
"""
_PLACE = """\
def {name}(x):
    best = x[0]
    place = 0
    for k in loop_range(1, x.shape[0]):
        value = x[k]
        if value {better} best or (value != value and best == best):
            best = value
            place = k
    return place
"""
_TEXTS = {
    "sum": _SUMMED.format(name="sum_of", taken_in="so_far + x[k]"),
    "prod": _SUMMED.format(name="prod_of", taken_in="so_far * x[k]"),
    "any": _SUMMED.format(name="any_of", taken_in="so_far | (x[k] != 0)"),
    "all": _SUMMED.format(name="all_of", taken_in="so_far & (x[k] != 0)"),
    "max": _EXTREMUM.format(name="max_of", taken_in="maximum(so_far, x[k])"),
    "min": _EXTREMUM.format(name="min_of", taken_in="minimum(so_far, x[k])"),
    "argmax": _PLACE.format(name="argmax_of", better=">"),
    "argmin": _PLACE.format(name="argmin_of", better="<"),
}
_STARTS: dict[str, object] = {"sum": 0, "prod": 1, "any": False, "all": True}


@dataclass(frozen=True)
class RowMethod(Extension):
    """``x[i].sum`` before it is called."""

    array: Array
    name: str

    @property
    def description(self) -> str:
        return f"the method `{self.name}` of {describe(self.array)}"


def call(t: Calls, node: ast.Call, name: str, array: Array, given: list[Value], keywords: dict) -> Value:
    """The reduction of all elements. Raises `KernelTypeError` for more than one dimension, and for other arguments."""
    if given or keywords:
        raise t.type_error(node, f"`{name}` of a row takes nothing else in kernels", f"write x[i].{name}()")
    if len(array.shape) != 1:
        raise t.type_error(node, f"`{name}` goes over one dimension, and this is {describe(array)}",
                           f"take a row, as in x[i].{name}(), and write a loop over the rows")  # fmt: skip
    if name == "mean":
        total = _reduced(t, node, "sum", array)
        kind = array.dtype if array.dtype.is_float else f64
        total = convert(total, f64) if not total.dtype.is_float else total
        return convert(arithmetic.binary("/", total, t.length(array, 0)), kind)
    found = _reduced(t, node, name, array)
    if name in ("sum", "prod") and array.dtype.is_float:
        return convert(found, array.dtype.loaded)
    return found


def _reduced(t: Calls, node: ast.Call, name: str, array: Array) -> Scalar:
    """In the type that sums are kept in."""
    names = tuple((n, Builtin(n)) for n in ("loop_range", "maximum", "minimum"))
    function = FunctionSource(f"{name}_of", f"<pykern.{name}>", 1, _TEXTS[name], names)
    arguments: list[Value] = [array]
    if name in _STARTS:
        kind = bool_ if name in ("any", "all") else sum_type(array.dtype.loaded)
        arguments.append(Scalar(kind, const=float(_STARTS[name]) if kind.is_float else _STARTS[name]))  # type: ignore[arg-type]
    found = t.called_with(node, FunctionValue(function), arguments, {})
    assert isinstance(found, Scalar)
    return found
