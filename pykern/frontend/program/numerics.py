"""NumPy's functions of numerical work: linspace, gradient, trapezoid, interp, searchsorted, and some of numbers.

Comes in: a call. Goes out: a value made of slices, operators, look-ups and `where`.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable
from typing import TYPE_CHECKING

from pykern.data.promotion import promote
from pykern.frontend import mathematics
from pykern.frontend.program import arguments, elementwise
from pykern.frontend.program.composition import Composer, is_given, number, numbers
from pykern.frontend.program.tensors import strong
from pykern.frontend.program.tile_lengths import refuse
from pykern.frontend.program.values import Cell
from pykern.frontend.values import NoneValue, Scalar, Text, TupleValue, TypeValue, Value, describe
from pykern.types import bool_, f16, f64, i64

if TYPE_CHECKING:
    from pykern.frontend.program.translator import ProgramTranslator


# -- along an axis ------------------------------------------------------------------------------


def _linspace(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    """`num` numbers from `start` to `stop`, as NumPy computes them; the last one is `stop` itself."""
    given = arguments.bind(t, node, "linspace", "start stop num= endpoint= dtype=", args, keywords)
    made = Composer(t, node)
    count = arguments.integer(t, node, given["num"], "`num`") if is_given(given["num"]) else 50
    if count < 0:
        raise t.type_error(
            node, f"`num` is not negative, and this is {count}", "write how many numbers there are"
        )
    has_end = not is_given(given["endpoint"]) or arguments.flag(t, node, given["endpoint"], "`endpoint`")
    ends = [t.as_scalar(node, given[n]) for n in ("start", "stop")]
    kind = promote(*(e.dtype for e in ends))
    kind = f64 if kind.weak or not kind.is_float else kind
    start, stop = (made.cast(end, kind) for end in ends)
    intervals = count - 1 if has_end else count
    places = made.cast(made.call("arange", number(count)), kind)
    distance = made.op("-", stop, start)
    step = made.op("/", distance, number(float(max(intervals, 1))))
    found = made.op("+", made.op("*", places, step), start)
    if has_end and count > 1:
        last = made.op("==", made.call("arange", number(count)), number(count - 1))
        found = made.call("where", last, stop, found)
    if not is_given(given["dtype"]):
        return found
    wanted = arguments.dtype(t, node, given["dtype"], kind)
    return made.cast(made.call("floor", found) if wanted.is_integer else found, wanted)


def _gradient(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    """Central differences, one-sided at the two ends; spacings are numbers."""
    made = Composer(t, node)
    unknown = keywords.keys() - {"axis"}
    if unknown or not args:
        what = f"no keyword `{min(unknown)}`" if unknown else "an array as its first argument"
        raise t.type_error(
            node, f"`gradient` has {what} in array programs", "write np.gradient(x, dx, axis=0)"
        )
    x = made.floats(args[0])
    axes = arguments.axes(t, node, keywords.get("axis", NoneValue()), len(x.shape))
    steps = list(args[1:]) or [number(1.0)]
    if len(steps) not in (1, len(axes)):
        raise t.type_error(
            node, f"{len(steps)} spacings are given for {len(axes)} axes", "give one, or one an axis"
        )
    steps = steps * len(axes) if len(steps) == 1 else steps
    found = tuple(_differences(made, x, a, t.as_scalar(node, h)) for a, h in zip(axes, steps, strict=True))
    alone = len(found) == 1 and (len(x.shape) == 1 or not isinstance(keywords.get("axis"), TupleValue | None))
    return found[0] if alone else TupleValue(found)


def _differences(made: Composer, x: Cell, axis: int, step: Scalar) -> Value:
    n = x.shape[axis]
    if n < 2:
        raise made.t.type_error(made.node, f"`gradient` takes 2 elements along an axis, and {x.description} has {n}",
                                "leave this axis out: axis=0")  # fmt: skip
    inner = made.op("/", made.op("-", made.part(x, axis, 2, n), made.part(x, axis, 0, n - 2)),
                    made.op("*", number(2.0), step))  # fmt: skip
    first = made.op("/", made.op("-", made.part(x, axis, 1, 2), made.part(x, axis, 0, 1)), step)
    last = made.op("/", made.op("-", made.part(x, axis, n - 1, n), made.part(x, axis, n - 2, n - 1)), step)
    return made.call("concatenate", TupleValue((first, inner, last)), number(axis))


def _trapezoid(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    """The integral along an axis by trapezoids, over the places `x` or steps of `dx`."""
    given = arguments.bind(t, node, "trapezoid", "y x= dx= axis=", args, keywords)
    made = Composer(t, node)
    y = made.array(given["y"])
    axis = arguments.axis(t, node, given["axis"] if is_given(given["axis"]) else number(-1), len(y.shape))
    n = y.shape[axis]
    refuse(t, node, (n,), "`trapezoid` goes along")
    step: Value = given["dx"] if is_given(given["dx"]) else number(1.0)
    if is_given(given["x"]):
        x = made.array(given["x"])
        along = axis if len(x.shape) == len(y.shape) else 0
        step = made.op("-", made.part(x, along, 1, n), made.part(x, along, 0, max(n - 1, 0)))
        if len(x.shape) == 1:
            step = made.reshaped(
                made.array(step), *(max(n - 1, 0) if a == axis else 1 for a in range(len(y.shape)))
            )
    both = made.op("+", made.part(y, axis, 1, n), made.part(y, axis, 0, max(n - 1, 0)))
    return made.call("sum", made.op("/", made.op("*", step, both), number(2.0)), number(axis))


def _searchsorted(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    """Where values would stand in a sorted vector: a binary search of each, in as many steps as its length has bits."""
    given = arguments.bind(t, node, "searchsorted", "a v side=", args, keywords)
    made = Composer(t, node)
    a, v = made.array(given["a"]), given["v"]
    if len(a.shape) != 1:
        raise t.type_error(
            node, f"`searchsorted` looks in a vector, not in {a.description}", "give one dimension"
        )
    side = given["side"].value if isinstance(given["side"], Text) else "left"
    if side not in ("left", "right"):
        raise t.type_error(node, f"{side!r} is no side", "write side='left' or side='right'")
    wanted = made.operand(v)
    is_nan = made.call("isnan", wanted) if wanted.dtype.is_float else None  # which stands behind all numbers
    return _place(made, a, wanted, "<" if side == "left" else "<=", is_nan)


def _place(made: Composer, a: Cell, v: Cell | Scalar, symbol: str, is_nan: Value | None = None) -> Value:
    """How many elements of the sorted `a` are below `v`; `is_nan` says where that is NaN."""
    refuse(made.t, made.node, a.shape, "this searches along")
    shape = v.shape if isinstance(v, Cell) else ()
    found: Value = made.call("zeros", numbers(shape), dtype=TypeValue(i64))
    step = 1 << max(a.size.bit_length() - 1, 0)
    while step and a.size:
        further = made.op("+", found, number(step))
        at = made.call("minimum", further, number(a.size))
        seen = made.call("take", a, made.op("-", at, number(1)))
        is_below = made.op(symbol, seen, v)
        if is_nan is not None:
            behind = made.op("&", is_nan, made.op("==", seen, seen)) if symbol == "<" else is_nan
            is_below = made.op("|", is_below, behind)
        below = made.op("&", made.op("<=", further, number(a.size)), is_below)
        found = made.call("where", below, further, found)
        step //= 2
    return found


def _interp(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    """Linear interpolation between the points (`xp`, `fp`), whose `xp` rise; beyond them the values at the ends."""
    given = arguments.bind(t, node, "interp", "x xp fp left= right=", args, keywords)
    made = Composer(t, node)
    x = made.operand(given["x"])
    xp, fp = (made.array(made.cast(made.array(given[n]), f64)) for n in ("xp", "fp"))
    if len(xp.shape) != 1 or xp.shape != fp.shape or not xp.size:
        raise t.type_error(node, f"`interp` takes vectors of as many points: {xp.description}, {fp.description}",
                           "give xp and fp of one length")  # fmt: skip
    x = made.cast(x, f64)
    last = xp.size - 1
    place = made.op("-", _place(made, xp, x, "<="), number(1))  # type: ignore[arg-type]
    low = made.call("clamp", place, number(0), number(max(last - 1, 0)))
    high = made.call("minimum", made.op("+", low, number(1)), number(last))
    x0, x1, y0, y1 = (made.call("take", c, p) for c, p in ((xp, low), (xp, high), (fp, low), (fp, high)))
    slope = made.op("/", made.op("-", y1, y0), made.op("-", x1, x0))
    found = made.op("+", made.op("*", slope, made.op("-", x, x0)), y0)
    ends = [
        given[n] if is_given(given[n]) else made.element(fp, 0, k) for n, k in (("left", 0), ("right", last))
    ]
    found = made.call("where", made.op("<", x, made.element(xp, 0, 0)), ends[0], found)
    found = made.call("where", made.op("==", x, made.element(xp, 0, last)), made.element(fp, 0, last), found)
    return made.call("where", made.op(">", x, made.element(xp, 0, last)), ends[1], found)


# -- numbers ------------------------------------------------------------------------------------


def _rounded(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    """To a number of decimals, as NumPy does: scaled, rounded to even, and scaled back."""
    given = arguments.bind(t, node, "round", "x decimals=", args, keywords)
    made = Composer(t, node)
    x = made.operand(given["x"])
    x = made.operand(made.cast(x, f16)) if isinstance(x, Cell) and x.dtype == bool_ else x  # NumPy's
    places = arguments.integer(t, node, given["decimals"], "`decimals`") if is_given(given["decimals"]) else 0
    if places == 0 or (x.dtype.is_integer and places > 0):
        return elementwise.apply(t, node, [x], lambda e: _nearest(e[0]))
    if not x.dtype.is_float:
        raise t.type_error(node, f"{x.dtype.name} is not rounded to {places} decimals here", "round a float")
    scale = number(10.0 ** abs(places))
    there, back = ("*", "/") if places > 0 else ("/", "*")
    return made.op(back, made.call("round", made.op(there, x, scale)), scale)


def _clip(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    """``np.clip(x, low, high)``; None for a bound that there is not, which may go by NumPy's names."""
    named = {"a_min": "low", "min": "low", "a_max": "high", "max": "high"}
    keywords = {named.get(n, n): v for n, v in keywords.items()}
    given = arguments.bind(t, node, "clip", "x low= high=", args, keywords)
    made = Composer(t, node)
    found: Value = made.operand(given["x"])
    for name, bound in (("maximum", given["low"]), ("minimum", given["high"])):
        found = made.call(name, found, made.operand(bound)) if is_given(bound) else found
    return found if is_given(given["low"]) or is_given(given["high"]) else made.call("copy", found)


def _nearest(x: Scalar) -> Scalar:
    found = mathematics.apply("round", [x], False)
    assert isinstance(found, Scalar)
    return found


def _select(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    """Of each element the value whose condition is the first that holds; the default where none does."""
    given = arguments.bind(t, node, "select", "conditions choices default=", args, keywords)
    conditions, choices = given["conditions"], given["choices"]
    if not isinstance(conditions, TupleValue) or not isinstance(choices, TupleValue):
        raise t.type_error(
            node, "`select` takes a list of conditions and one of values", "write [x < 0, x > 1]"
        )
    if len(conditions.items) != len(choices.items) or not choices.items:
        raise t.type_error(
            node,
            f"{len(conditions.items)} conditions choose among {len(choices.items)} values",
            "give one value each",
        )
    made = Composer(t, node)
    default = made.operand(given["default"] if is_given(given["default"]) else number(0))
    values = [made.operand(v) for v in choices.items]
    kinds = sorted((v.dtype for v in (*values, default)), key=lambda kind: kind.weak)
    kind = strong(functools.reduce(promote, kinds))  # Python's numbers, the last ones, give way
    found: Value = made.cast(default, kind)
    for condition, choice in zip(reversed(conditions.items), reversed(values), strict=True):
        condition = made.operand(condition)
        if condition.dtype != bool_:
            raise t.type_error(node, f"`select` takes bools, not {describe(condition)}", "compare: x > 0")
        found = made.call("where", condition, made.cast(choice, kind), found)
    return found


def _polyval(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    """A polynomial by Horner's rule; the coefficient of the highest power comes first."""
    given = arguments.bind(t, node, "polyval", "p x", args, keywords)
    made = Composer(t, node)
    p, x = made.array(given["p"]), made.operand(given["x"])
    if len(p.shape) != 1:
        raise t.type_error(node, f"the coefficients are a vector, not {p.description}", "give one dimension")
    shape = x.shape if isinstance(x, Cell) else ()
    found: Value = made.call("zeros", numbers(shape), dtype=TypeValue(promote(strong(x.dtype), p.dtype)))
    for power in range(p.size):
        found = made.op("+", made.op("*", found, x), made.element(p, 0, power))
    return found


def _array(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    """``np.array([[a, b], [c, d]])``: a new array of numbers or arrays."""
    given = arguments.bind(t, node, "array", "values dtype= copy=", args, keywords)
    if is_given(given["copy"]) and not arguments.flag(t, node, given["copy"], "`copy`"):
        return _asarray(t, node, args, keywords)
    made = Composer(t, node)
    x = made.array(given["values"])
    if is_given(given["dtype"]):
        x = made.array(made.cast(x, arguments.dtype(t, node, given["dtype"], x.dtype)))
    return made.cell("copy", x)


def _asarray(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    """``np.asarray(x)``: an array of this type itself; what is none, or of another type, becomes a new one."""
    given = arguments.bind(t, node, "asarray", "values dtype= copy=", args, keywords)
    x = given["values"]
    copies = arguments.flag(t, node, given["copy"], "`copy`")
    wanted = arguments.dtype(t, node, given["dtype"], x.dtype) if isinstance(x, Cell) else None
    if isinstance(x, Cell) and not (x.is_scalar or copies or wanted != x.dtype):
        return x
    return _array(t, node, args[:2], {n: v for n, v in keywords.items() if n != "copy"})


HANDLERS: dict[str, Callable] = {
    "linspace": _linspace, "gradient": _gradient, "trapezoid": _trapezoid, "searchsorted": _searchsorted,
    "interp": _interp, "round": _rounded,
    "clamp": _clip,
    "select": _select, "polyval": _polyval, "numpy.array": _array, "numpy.asarray": _asarray,
}  # fmt: skip
