"""NumPy's functions of windows, of bins and of several variables: convolve, histogram, cov and what is like them.

Comes in: a call. Goes out: a value made of slices, products, look-ups and writes by indices; a window is a read at
the sum of two positions, which fuses with what uses it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from mlir import ir

from pykern.data.promotion import promote
from pykern.frontend.program import arguments
from pykern.frontend.program.composition import Composer, is_given, number, numbers
from pykern.frontend.program.tensors import Input, elementwise
from pykern.frontend.program.tile_lengths import refuse
from pykern.frontend.program.values import Cell
from pykern.frontend.values import NoneValue, Text, TupleValue, TypeValue, Value, describe
from pykern.types import bool_, f64, i64

if TYPE_CHECKING:
    from pykern.frontend.program.translator import ProgramTranslator


# -- windows ------------------------------------------------------------------------------------


def _sliding_window_view(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    """For each place of a window, what is in it; the axes of windows come last. In NumPy it is a view."""
    given = arguments.bind(t, node, "sliding_window_view", "x window_shape axis=", args, keywords)
    made = Composer(t, node)
    x = made.array(given["x"])
    lengths = arguments.integers(t, node, given["window_shape"], "the length of a window")
    if is_given(given["axis"]):
        items = given["axis"].items if isinstance(given["axis"], TupleValue) else (given["axis"],)
        axes = tuple(arguments.axis(t, node, item, len(x.shape)) for item in items)
    else:
        axes = tuple(range(len(x.shape)))
    if len(axes) != len(lengths):
        raise t.type_error(
            node, f"{len(lengths)} lengths of a window are given for {len(axes)} axes", "give one an axis"
        )
    return _windows(made, x, list(zip(axes, lengths, strict=True)))


def _windows(made: Composer, x: Cell, windows: list[tuple[int, int]]) -> Cell:
    """`windows` holds axes and lengths."""
    refuse(made.t, made.node, x.shape, "windows go along")
    places = list(x.shape)
    for axis, length in windows:
        places[axis] -= length - 1
        if length < 1 or places[axis] < 1:
            raise made.t.type_error(made.node, f"a window of {length} elements does not fit into {x.description}",
                                    "give 1 to as many as the axis has")  # fmt: skip
    read: list[ir.AffineExpr] = [ir.AffineExpr.get_dim(a) for a in range(len(x.shape))]
    for loop, (axis, _) in enumerate(windows, len(x.shape)):
        read[axis] = read[axis] + ir.AffineExpr.get_dim(loop)
    shape = (*places, *(length for _, length in windows))
    [(dtype, ssa)] = elementwise(shape, [Input(x.dtype, x.ssa, tuple(read))], lambda e: e)
    return x.view(Cell(dtype, shape, ssa))


def _convolve(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    given = arguments.bind(t, node, "convolve", "a v mode=", args, keywords)
    made = Composer(t, node)
    a, v = _vectors(made, given, "convolve")
    return _convolved(made, a, v, _mode(made, given["mode"], "full"))


def _correlate(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    given = arguments.bind(t, node, "correlate", "a v mode=", args, keywords)
    made = Composer(t, node)
    a, v = _vectors(made, given, "correlate")
    mode = _mode(made, given["mode"], "valid")
    if v.size > a.size:
        return made.call("flip", _convolved(made, v, made.cell("flip", a), mode))
    return _convolved(made, a, made.cell("flip", v), mode)


def _vectors(made: Composer, given: dict[str, Value], name: str) -> tuple[Cell, Cell]:
    a, v = (made.array(given[n]) for n in "av")
    for x in (a, v):
        if len(x.shape) != 1 or not x.size:
            raise made.t.type_error(
                made.node, f"`{name}` takes vectors with elements, not {x.description}", "give one dimension"
            )
    return a, v


def _mode(made: Composer, value: Value, default: str) -> str:
    chosen = value.value if isinstance(value, Text) else "" if is_given(value) else default
    if chosen not in ("full", "same", "valid"):
        raise made.t.type_error(made.node, f"there is no mode {describe(value) if not chosen else repr(chosen)}",
                                "write 'full', 'same' or 'valid'")  # fmt: skip
    return chosen


def _convolved(made: Composer, a: Cell, v: Cell, mode: str) -> Value:
    """The sum over the shorter vector: each result is a window of the longer one times the other, turned around."""
    if v.size > a.size:
        a, v = v, a
    kind = promote(a.dtype, v.dtype)
    if kind == bool_:
        raise made.t.type_error(
            made.node, "these are bools, which are not multiplied", "convert them: x.astype(pk.i32)"
        )
    a, v = (made.array(made.cast(x, kind)) for x in (a, v))
    n, m = a.size, v.size
    before = {"full": m - 1, "same": m // 2, "valid": 0}[mode]
    count = {"full": n + m - 1, "same": n, "valid": n - m + 1}[mode]
    behind = count - (n - m + 1) - before
    if before or behind:
        a = made.cell("pad", a, numbers((before, behind)))
    return made.call("matmul", _windows(made, a, [(0, m)]), made.call("flip", v))


# -- bins ---------------------------------------------------------------------------------------


def _histogram(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    """How many elements are in each bin, and the edges of the bins; the last bin has its upper edge, too."""
    given = arguments.bind(t, node, "histogram", "x bins= range= density= weights=", args, keywords)
    made = Composer(t, node)
    x = made.reshaped(made.floats(given["x"]), -1)
    refuse(t, node, x.shape, "`histogram` goes along")
    bins = given["bins"] if is_given(given["bins"]) else number(10)
    if isinstance(bins, Cell | TupleValue):
        edges = made.array(bins)
        if len(edges.shape) != 1 or edges.size < 2:
            raise t.type_error(
                node, f"the edges of bins are a vector, not {edges.description}", "give 2 at least"
            )
        place = made.op("-", made.call("searchsorted", edges, x, side=Text("right")), number(1))
        last = made.element(edges, 0, edges.size - 1)
        place = made.call("where", made.op("==", x, last), number(edges.size - 2), place)
    else:
        edges, place = _even_bins(made, x, arguments.integer(t, node, bins, "`bins`"), given["range"])
    count = edges.size - 1
    first, last = made.element(edges, 0, 0), made.element(edges, 0, count)
    inside = made.op("&", made.op(">=", x, first), made.op("<=", x, last))
    place = made.call(
        "where", inside, place, number(count)
    )  # what is outside goes into a bin behind the last
    taken: Value = number(1)
    kind = i64
    if is_given(given["weights"]):
        weights = made.reshaped(made.array(given["weights"]), -1)
        taken, kind = weights, weights.dtype
    held = made.cell("zeros", numbers((count + 1,)), TypeValue(kind))
    made.call("add.at", held, made.cast(place, i64), taken)
    found: Value = made.part(held, 0, 0, count)
    if arguments.flag(t, node, given["density"], "`density`"):
        widths = made.op("-", made.part(edges, 0, 1, count + 1), made.part(edges, 0, 0, count))
        found = made.op("/", made.op("/", found, made.cast(widths, f64)), made.call("sum", found))
    return TupleValue((found, edges))


def _even_bins(made: Composer, x: Cell, count: int, limits: Value) -> tuple[Cell, Value]:
    """Edges at equal distances, and the bin of each element: a division, set right at the edges as NumPy does."""
    if count < 1:
        raise made.t.type_error(made.node, f"there is 1 bin at least, not {count}", "give a positive number")
    if isinstance(limits, TupleValue) and len(limits.items) == 2:
        low, high = (made.cast(made.t.as_scalar(made.node, v), x.dtype) for v in limits.items)
    elif is_given(limits):
        raise made.t.type_error(
            made.node, f"the range is a pair of numbers, not {describe(limits)}", "write (low, high)"
        )
    elif x.size:
        low, high = (made.call(name, x) for name in ("min", "max"))
    else:
        low, high = (made.cast(number(end), x.dtype) for end in (0.0, 1.0))
    is_empty = made.op("==", low, high)
    low, high = (
        made.call("where", is_empty, made.op(s, v, number(0.5)), v) for s, v in (("-", low), ("+", high))
    )
    edges = made.cell("linspace", low, high, number(count + 1))
    share = made.op("/", made.op("-", x, low), made.op("-", high, low))
    place = made.cast(made.op("*", share, number(float(count))), i64)
    place = made.call("clamp", place, number(0), number(count - 1))
    lower = made.call("take", edges, place)
    upper = made.call("take", edges, made.op("+", place, number(1)))
    is_before = made.op("<", x, lower)
    is_behind = made.op("&", made.op(">=", x, upper), made.op("!=", place, number(count - 1)))
    place = made.op("-", place, made.cast(is_before, i64))
    return edges, made.op("+", place, made.cast(is_behind, i64))


def _bincount(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    """How often each integer below `minlength` occurs, or the sum of its weights; others are not counted."""
    given = arguments.bind(t, node, "bincount", "x weights= minlength=", args, keywords)
    made = Composer(t, node)
    x = made.array(given["x"])
    refuse(t, node, x.shape, "`bincount` goes along")
    if len(x.shape) != 1 or x.dtype.is_float:
        raise t.type_error(node, f"`bincount` takes a vector of integers, not {x.description}",
                           "write x.ravel(), and x.astype(np.int64) of floats")  # fmt: skip
    if not is_given(given["minlength"]):
        raise t.type_error(node, "how many bins `bincount` has would depend on values",
                           "write np.bincount(x, minlength=n); integers from n on are not counted then")  # fmt: skip
    count = arguments.integer(t, node, given["minlength"], "`minlength`")
    if count < 0:
        raise t.type_error(node, f"`minlength` is negative: {count}", "give the number of bins")
    x = made.array(made.cast(x, i64))
    is_inside = made.op("&", made.op(">=", x, number(0)), made.op("<", x, number(count)))
    place = made.array(made.call("where", is_inside, x, number(count)))
    taken: Value = number(1)
    if is_given(given["weights"]):
        weights = made.array(given["weights"])
        if weights.shape != x.shape:
            raise t.type_error(node, f"there is a weight for each integer, and this is {weights.description}",
                               f"give {x.size} weights")  # fmt: skip
        taken = made.cast(weights, f64)
    kind = f64 if is_given(given["weights"]) else i64
    held = made.cell("zeros", numbers((count + 1,)), TypeValue(kind))  # the last bin holds what is outside
    made.call("add.at", held, place, taken)
    return made.call("copy", made.part(held, 0, 0, count))


def _digitize(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    """The bin of each element, among edges that rise or fall."""
    given = arguments.bind(t, node, "digitize", "x bins right=", args, keywords)
    made = Composer(t, node)
    bins, x = made.array(given["bins"]), given["x"]
    is_right = arguments.flag(t, node, given["right"], "`right`")
    side = Text("left" if is_right else "right")
    rising = made.call("searchsorted", bins, x, side=side)
    if bins.size < 2:
        return rising
    falling = made.call("searchsorted", made.call("flip", bins), x, side=side)
    is_falling = made.op(">", made.element(bins, 0, 0), made.element(bins, 0, bins.size - 1))
    return made.call("where", is_falling, made.op("-", number(bins.size), falling), rising)


# -- statistics of several variables ------------------------------------------------------------


def _cov(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    given = arguments.bind(t, node, "cov", "m y= rowvar= bias= ddof=", args, keywords)
    return _covariance(Composer(t, node), given)


def _covariance(made: Composer, given: dict[str, Value]) -> Value:
    """Products of what differs from the means; variables are rows, observations columns."""
    t, node = made.t, made.node
    turned = is_given(given["rowvar"]) and not arguments.flag(t, node, given["rowvar"], "`rowvar`")
    parts = [made.array(given[n]) for n in "my" if is_given(given.get(n))]
    for k, x in enumerate(parts):
        if len(x.shape) > 2:
            raise t.type_error(
                node, f"variables are the rows of a matrix, not {x.description}", "give two dimensions"
            )
        x = made.reshaped(x, 1, -1) if len(x.shape) < 2 else made.cell("transpose", x) if turned else x
        parts[k] = x if x.dtype == f64 else made.array(made.cast(x, f64))
    x = parts[0] if len(parts) == 1 else made.cell("vstack", TupleValue(tuple(parts)))
    n = x.shape[1]
    bias = arguments.flag(t, node, given.get("bias", NoneValue()), "`bias`")
    freedom = given.get("ddof", NoneValue())
    less = arguments.integer(t, node, freedom, "`ddof`") if is_given(freedom) else int(not bias)
    centred = made.op("-", x, made.call("mean", x, axis=number(1), keepdims=number(True)))
    found = made.array(made.call("matmul", centred, made.call("transpose", centred)))
    scaled = made.array(made.op("/", found, number(float(max(n - less, 0)))))
    return made.reshaped(scaled) if scaled.size == 1 else scaled


def _corrcoef(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    given = arguments.bind(t, node, "corrcoef", "m y= rowvar=", args, keywords)
    made = Composer(t, node)
    found = made.array(_covariance(made, given))
    if not found.shape:
        return made.op("/", found, found)
    scale = made.array(made.call("sqrt", made.call("diagonal", found)))
    n = scale.size
    scaled = made.op("/", made.op("/", found, made.reshaped(scale, n, 1)), made.reshaped(scale, 1, n))
    return made.call("clamp", scaled, number(-1.0), number(1.0))


HANDLERS: dict[str, Callable] = {
    "sliding_window_view": _sliding_window_view, "convolve": _convolve, "correlate": _correlate,
    "histogram": _histogram, "bincount": _bincount, "digitize": _digitize, "cov": _cov, "corrcoef": _corrcoef,
}  # fmt: skip
