"""NumPy's functions that sum arrays up, beside the reductions: norms, averages, sums without NaN, tests of closeness.

Comes in: a call. Goes out: a value made of reductions, operators and `where`.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from pykern.frontend import mathematics, numpy_elements
from pykern.frontend.closeness import greatest
from pykern.frontend.program import arguments, elementwise, factorizations
from pykern.frontend.program.composition import Composer, is_given, number, numbers
from pykern.frontend.program.operators import truth
from pykern.frontend.program.values import Cell
from pykern.frontend.values import Scalar, Text, Value

if TYPE_CHECKING:
    from pykern.frontend.program.translator import ProgramTranslator

Along = dict[str, Value]
"""`axis` and `keepdims`, as they were given."""


def _along(given: dict[str, Value]) -> Along:
    return {n: given[n] for n in ("axis", "keepdims") if is_given(given[n])}


def _count_nonzero(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    given = arguments.bind(t, node, "count_nonzero", "x axis= keepdims=", args, keywords)
    made = Composer(t, node)
    return made.call("sum", truth(made, made.array(given["x"])), **_along(given))


def _ptp(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    """The greatest element less the least."""
    given = arguments.bind(t, node, "ptp", "x axis= keepdims=", args, keywords)
    made, along = Composer(t, node), _along(given)
    x = made.array(given["x"])
    return made.op("-", made.call("max", x, **along), made.call("min", x, **along))


def _average(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    """The mean, weighted where weights are given."""
    given = arguments.bind(t, node, "average", "x axis= weights= keepdims=", args, keywords)
    made, along = Composer(t, node), _along(given)
    x = made.floats(given["x"])  # a product of integers would not fit
    if not is_given(given["weights"]):
        return made.call("mean", x, **along)
    weights = made.array(given["weights"])
    if weights.shape != x.shape and "axis" in along and len(weights.shape) == 1:
        axis = arguments.axis(t, node, along["axis"], len(x.shape))
        weights = made.reshaped(weights, *(weights.size if a == axis else 1 for a in range(len(x.shape))))
    wide = made.cell("broadcast_to", weights, numbers(x.shape))
    total = made.op("*", x, weights)
    return made.op("/", made.call("sum", total, **along), made.call("sum", wide, **along))


# -- without NaN --------------------------------------------------------------------------------


def _without_nan(name: str, reduction: str, instead: float) -> Callable:
    def apply(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
        given = arguments.bind(t, node, name, "x axis= keepdims=", args, keywords)
        made, along = Composer(t, node), _along(given)
        x = made.array(given["x"])
        if not x.dtype.is_float:
            return made.call(reduction, x, **along)
        missing = made.call("isnan", x)
        value = made.call(reduction, made.call("where", missing, Scalar(x.dtype, const=instead), x), **along)
        if math.isfinite(instead):
            return value
        return made.call("where", made.call("all", missing, **along), Scalar(x.dtype, const=math.nan), value)

    return apply


def _nanmean(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    given = arguments.bind(t, node, "nanmean", "x axis= keepdims=", args, keywords)
    made, along = Composer(t, node), _along(given)
    x = made.array(given["x"])
    if not x.dtype.is_float:
        return made.call("mean", x, **along)
    there = made.op("==", made.call("isnan", x), number(False))
    total = made.call("sum", made.call("where", there, x, Scalar(x.dtype, const=0.0)), **along)
    count = made.cast(made.call("sum", there, **along), x.dtype)
    return made.op("/", total, count)


def _nan_to_num(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    """NaN becomes 0, infinities the greatest and least numbers, unless others are given."""
    given = arguments.bind(t, node, "nan_to_num", "x copy= nan= posinf= neginf=", args, keywords)
    made = Composer(t, node)
    x = made.array(given["x"])
    if not x.dtype.is_float:
        return made.call("copy", x)
    most = greatest(x.dtype)
    instead = {"nan": 0.0, "posinf": most, "neginf": -most}
    chosen = [given[n] if is_given(given[n]) else Scalar(x.dtype, const=v) for n, v in instead.items()]
    return elementwise.apply(
        t, node, [x, *chosen], lambda e: numpy_elements.nan_to_num(mathematics.functions(t.fastmath), *e)
    )


# -- closeness ----------------------------------------------------------------------------------


def _isclose(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    """``|a - b| <= atol + rtol * |b|``, and equal infinities."""
    given = arguments.bind(t, node, "isclose", "a b rtol= atol= equal_nan=", args, keywords)
    made = Composer(t, node)
    rtol, atol = (given[n] if is_given(given[n]) else number(v) for n, v in (("rtol", 1e-5), ("atol", 1e-8)))
    operands = [*(made.operand(given[n]) for n in ("a", "b")), rtol, atol]
    is_equal = arguments.flag(t, node, given["equal_nan"], "`equal_nan`")
    return elementwise.apply(
        t,
        node,
        operands,
        lambda e: numpy_elements.is_close(mathematics.functions(t.fastmath), *e, equal_nan=is_equal),
    )


def _allclose(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    made = Composer(t, node)
    return made.call("all", _isclose(t, node, args, keywords))


def _isin(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    """Whether each element is one of those given, compared with all of them."""
    given = arguments.bind(t, node, "isin", "x values assume_unique= invert=", args, keywords)
    made = Composer(t, node)
    x, values = made.array(given["x"]), made.array(given["values"])
    each = made.reshaped(x, *x.shape, 1)
    is_inverse = arguments.flag(t, node, given["invert"], "`invert`")
    compared = made.op("!=" if is_inverse else "==", each, made.reshaped(values, -1))
    return made.call("all" if is_inverse else "any", compared, number(-1))


def _array_equal(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    given = arguments.bind(t, node, "array_equal", "a b", args, keywords)
    made = Composer(t, node)
    a, b = (made.array(v) for v in given.values())
    if a.shape != b.shape:
        return number(False)
    return made.call("all", made.op("==", a, b))


# -- norms --------------------------------------------------------------------------------------

_NORM = "x ord= axis= keepdims="


def _norm(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    """`numpy.linalg.norm`: the root of the sum of squares; of vectors also of order 0, 1, inf, -inf and p."""
    given = arguments.bind(t, node, "norm", _NORM, args, keywords)
    made, along = Composer(t, node), _along(given)
    x = made.floats(given["x"])
    order = given["ord"]
    count = len(arguments.axes(t, node, given["axis"], len(x.shape)))
    is_plain = not is_given(order) or (isinstance(order, Text) and order.value == "fro" and count == 2)
    if is_plain or (isinstance(order, Scalar) and order.const == 2 and count == 1):
        return made.call("sqrt", made.call("sum", made.op("*", x, x), **along))
    if count == 2:
        return _matrix_norm(made, x, given)
    if count != 1 or not isinstance(order, Scalar) or not isinstance(order.const, int | float):
        raise t.type_error(node, "`ord` is a constant, of vectors or of matrices",
                           "leave `ord` out, or give one axis or two")  # fmt: skip
    size = made.call("abs", x)
    if order.const in (math.inf, -math.inf):
        return made.call("max" if order.const > 0 else "min", size, **along)
    if order.const == 0:
        return made.cast(made.call("sum", truth(made, x), **along), x.dtype)
    if order.const == 1:
        return made.call("sum", size, **along)
    powers = made.call("sum", made.op("**", size, number(float(order.const))), **along)
    return made.op("**", powers, number(1.0 / order.const))


def of_singular_values(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> bool:
    """Whether the norm that a call asks for is one of a matrix's singular values."""
    given = arguments.bind(t, node, "norm", _NORM, args, keywords)
    count = len(arguments.axes(t, node, given["axis"], len(arguments.array(t, node, given["x"]).shape)))
    return count == 2 and _order(given) in (2, -2, "nuc")


def _order(given: dict[str, Value]) -> object:
    """The order of a norm, where it is a constant."""
    order = given["ord"]
    return order.value if isinstance(order, Text) else order.const if isinstance(order, Scalar) else None


def _matrix_norm(made: Composer, x: Cell, given: dict[str, Value]) -> Value:
    """Of matrices the extreme sum of a column (1, -1) or row (inf, -inf), or of singular values (2, -2, nuc)."""
    kind = _order(given)
    if kind not in ("nuc", 1, -1, 2, -2, math.inf, -math.inf):
        raise made.t.type_error(made.node, "`ord` of matrices is 'fro', 'nuc', 1, -1, 2, -2, np.inf or -np.inf",
                                "give one axis for norms of vectors")  # fmt: skip
    axes = arguments.axes(made.t, made.node, given["axis"], len(x.shape))
    moved = made.cell("moveaxis", x, numbers(axes), numbers((-2, -1)))
    batch = moved.shape[:-2]
    if kind in (2, -2, "nuc"):
        rows = made.reshaped(moved, math.prod(batch), *moved.shape[-2:])
        values = factorizations.singular(made, rows)[1]
    else:
        values = made.array(made.call("sum", made.call("abs", moved), number(-2 if abs(kind) == 1 else -1)))
    name = "sum" if kind == "nuc" else "max" if kind > 0 else "min"  # type: ignore[operator]
    found = made.array(made.call(name, values, number(-1)))
    is_kept = arguments.flag(made.t, made.node, given["keepdims"], "`keepdims`")
    shape = tuple(1 if k in axes else n for k, n in enumerate(x.shape)) if is_kept else batch
    return made.reshaped(found, *shape)


HANDLERS: dict[str, Callable] = {
    "count_nonzero": _count_nonzero, "ptp": _ptp, "average": _average, "nanmean": _nanmean,
    "nansum": _without_nan("nansum", "sum", 0.0), "nanprod": _without_nan("nanprod", "prod", 1.0),
    "nanmax": _without_nan("nanmax", "max", -math.inf), "nanmin": _without_nan("nanmin", "min", math.inf),
    "nan_to_num": _nan_to_num, "isclose": _isclose, "allclose": _allclose, "array_equal": _array_equal, "isin": _isin,
    "norm": _norm,
}  # fmt: skip
