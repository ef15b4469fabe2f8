"""NumPy's functions that put elements into order: sort, argsort, partition, median, quantile.

Comes in: a call. Goes out: for few elements a sorting network, comparisons and choices of whole slices, which fuse
with what is around them (K. E. Batcher, "Sorting networks and their applications", AFIPS 1968). For more the launch of
a kernel that sorts the places of each row by keys, integers in the order of the elements; the elements are looked up
by them, so their derivative is that of the look-up. Sorting is stable, and NaN stands at the end, as in NumPy.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from pykern.data.promotion import promote, true_divide
from pykern.data.source import Builtin, CapturedKernel, FunctionSource, KernelOptions, TypeName
from pykern.frontend.program import arguments
from pykern.frontend.program.composition import Composer, is_given, number, numbers
from pykern.frontend.program.tile_lengths import refuse
from pykern.frontend.program.values import Cell
from pykern.frontend.values import (
    FunctionValue,
    NoneValue,
    Scalar,
    Text,
    TupleValue,
    TypeValue,
    Value,
    describe,
)
from pykern.passes.analysis.cost_model.lengths import INSERTION_SORTED, NETWORK_SORTED
from pykern.types import BY_NAME, DType, bool_, f64, i32, i64

if TYPE_CHECKING:
    from pykern.frontend.program.translator import ProgramTranslator

_LOOPS = """\
def sort_places(order, spare, keys, other):
    row = index()
    n = keys.shape[1]
    counts = private(({digits}, 256), i32)
    for digit in range({digits}):
        for value in range(256):
            counts[digit, value] = 0
    for k in range(n):
        key = keys[row, k]
        order[row, k] = k
        for digit in unroll(range({digits})):
            counts[digit, (key >> (8 * digit)) & 255] += 1
    is_moved = False
    for digit in unroll(range({digits})):
        if counts[digit, (keys[row, 0] >> (8 * digit)) & 255] < n:
            before = i32(0)
            for value in range(256):
                count = counts[digit, value]
                counts[digit, value] = before
                before += count
            if is_moved:
                move(order, spare, keys, other, counts, row, n, digit)
            else:
                move(spare, order, other, keys, counts, row, n, digit)
            is_moved = not is_moved
    if is_moved:
        for k in range(n):
            order[row, k] = spare[row, k]
"""
_MOVE = """\
def move(order, old_order, keys, old_keys, counts, row, n, digit):
    for k in range(n):
        key = old_keys[row, k]
        value = (key >> (8 * digit)) & 255
        place = counts[digit, value]
        counts[digit, value] = place + 1
        keys[row, place] = key
        order[row, place] = old_order[row, k]
"""
_INSERT = """\
def sort_places(order, spare, keys, other):
    row = index()
    for k in range(keys.shape[1]):
        key = keys[row, k]
        j = k
        while j > 0 and keys[row, j - 1] > key:
            keys[row, j] = keys[row, j - 1]
            order[row, j] = order[row, j - 1]
            j -= 1
        keys[row, j] = key
        order[row, j] = k
"""
_PLACES = """\
def places_in_order(given):
    keys = copy(given)
    order = empty(given.shape, i32)
    sort_places(order, {spare}, keys, {other}, ndrange=given.shape[0])
    return order
"""


def _sort(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    x, axis, made = _given(t, node, "sort", "x axis= kind= stable=", args, keywords)
    return _sorted(made, x, axis)


def _argsort(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    x, axis, made = _given(t, node, "argsort", "x axis= kind= stable=", args, keywords)
    return made.cast(_places(made, x, axis), i64)


def _partition(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    """All of it sorted: the element `kth` then stands in its place."""
    x, axis, made = _given(t, node, "partition", "x kth axis= kind=", args, keywords)
    return _sorted(made, x, axis)


def _argpartition(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    x, axis, made = _given(t, node, "argpartition", "x kth axis= kind=", args, keywords)
    return made.cast(_places(made, x, axis), i64)


def _given(
    t: ProgramTranslator, node: ast.Call, name: str, parameters: str, args: list[Value], keywords: dict
) -> tuple[Cell, int, Composer]:
    given = arguments.bind(t, node, name, parameters, args, keywords)
    made = Composer(t, node)
    x = made.array(given["x"])
    if isinstance(given["axis"], NoneValue) and (
        "axis" in keywords or len(args) > parameters.split().index("axis=")
    ):
        x, axis = made.reshaped(x, -1), 0
    else:
        axis = arguments.axis(t, node, given["axis"] if is_given(given["axis"]) else number(-1), len(x.shape))
    if "kth" in given:
        n = x.shape[axis]
        for kth in arguments.integers(t, node, given["kth"], "`kth`"):
            if not -n <= kth < n:
                raise t.type_error(
                    node, f"there is no element {kth} among {n}", "count from 0, or from the end"
                )
    return x, axis, made


def _sorted(made: Composer, x: Cell, axis: int) -> Cell:
    refuse(made.t, made.node, (x.shape[axis],), "this sorts along")
    n = x.shape[axis]
    if n > NETWORK_SORTED:
        return made.cell("take_along_axis", x, _places(made, x, axis), number(axis))
    parts: list[Value] = [made.element(x, axis, k) for k in range(n)]
    if len(parts) < 2:
        return made.cell("copy", x)
    for low, high in _network(n):
        a, b = parts[low], parts[high]
        is_later = made.op(">", a, b)
        if x.dtype.is_float:
            is_later = made.op("|", is_later, made.op("!=", a, a))
        parts[low], parts[high] = made.call("where", is_later, b, a), made.call("where", is_later, a, b)
    return made.cell("stack", TupleValue(tuple(parts)), number(axis))


def _network(n: int) -> Iterator[tuple[int, int]]:
    """The comparisons of Batcher's merge exchange, of places below `n`."""
    width = 1
    while width < n:
        distance = width
        while distance:
            for start in range(distance % width, n - distance, 2 * distance):
                for low in range(start, min(start + distance, n - distance)):
                    if low // (2 * width) == (low + distance) // (2 * width):
                        yield low, low + distance
            distance //= 2
        width *= 2


def _places(made: Composer, x: Cell, axis: int) -> Cell:
    """The places of the elements along the axis, in their order, as i32."""
    refuse(made.t, made.node, (x.shape[axis],), "this sorts along")
    last = made.cell("moveaxis", x, number(axis), number(-1))
    keys = _keys(made, made.cell("stop_gradient", last))
    n = x.shape[axis]
    plain = tuple(map(int, last.shape))  # each row is sorted alone: the size of tiles of them does not matter
    rows = made.reshaped(Cell(keys.dtype, plain, keys.ssa), x.size // n if n else 0, n)
    if x.size:
        rows = made.array(made.t.called_with(made.node, FunctionValue(_function(keys.dtype, n)), [rows], {}))
    else:
        rows = made.cell("zeros", numbers(rows.shape), TypeValue(i32))
    ordered = Cell(rows.dtype, last.shape, made.reshaped(rows, *plain).ssa)
    return made.cell("moveaxis", ordered, number(-1), number(axis))


def _keys(made: Composer, x: Cell) -> Cell:
    """Unsigned integers in the order of the elements: equal zeros are equal, NaN is the greatest."""
    if x.dtype == bool_:
        return made.array(made.cast(x, BY_NAME["u8"]))
    if x.dtype.kind == "u":
        return x
    bits = x.dtype.bits
    kind = TypeValue(BY_NAME[f"u{bits}"])
    sign = Scalar(kind.dtype, const=1 << (bits - 1))
    if not x.dtype.is_float:
        return made.array(made.op("^", made.cell("bitcast", x, kind), sign))
    is_zero, is_nan = made.op("==", x, number(0.0)), made.op("!=", x, x)
    read = made.cell("bitcast", made.cast(made.call("where", is_zero, number(0.0), x), x.dtype), kind)
    is_negative = made.op(">=", read, sign)
    flipped = made.call("where", is_negative, made.op("^", read, Scalar(kind.dtype, const=(1 << bits) - 1)),
                        made.op("^", read, sign))  # fmt: skip
    return made.array(made.call("where", is_nan, Scalar(kind.dtype, const=(1 << bits) - 1), flipped))


def _function(keys: DType, n: int) -> FunctionSource:
    """Of rows of keys, the places in order."""
    names = tuple((b, Builtin(b)) for b in ("index", "private", "unroll", "range"))
    if n <= INSERTION_SORTED:
        kernel = FunctionSource("sort_places", "<pykern.sort>", 1, _INSERT, names)
        spare, other = "order", "keys"
    else:
        text = _LOOPS.format(digits=keys.bits // 8)
        move = FunctionSource("move", "<pykern.sort>", 1, _MOVE, names)
        kernel = FunctionSource(
            "sort_places", "<pykern.sort>", 1, text, (*names, ("i32", TypeName("i32")), ("move", move))
        )
        spare, other = "empty(given.shape, i32)", "empty_like(given)"
    captured = CapturedKernel(kernel, (), KernelOptions(False, False))
    taken = (
        ("sort_places", captured),
        ("i32", TypeName("i32")),
        *((b, Builtin(b)) for b in ("copy", "empty", "empty_like")),
    )
    return FunctionSource(
        "places_in_order", "<pykern.sort>", 1, _PLACES.format(spare=spare, other=other), taken
    )


# -- what is read from the order ----------------------------------------------------------------


def _median(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    given = arguments.bind(t, node, "median", "x axis= keepdims=", args, keywords)
    made = Composer(t, node)
    x, kept = _last(made, given["x"], given["axis"], "median")
    ordered = _sorted(made, made.floats(x), len(x.shape) - 1)
    n, along = ordered.shape[-1], len(x.shape) - 1
    middle = made.part(ordered, along, (n - 1) // 2, n // 2 + 1)
    found = _unless_nan(made, ordered, made.array(made.call("mean", middle, number(along))))
    return made.reshaped(made.array(found), *kept) if _is_kept(made, given) else found


def _quantile(scale: float, name: str) -> Callable:
    def apply(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
        given = arguments.bind(t, node, name, "x q axis= method= keepdims=", args, keywords)
        made = Composer(t, node)
        x, kept = _last(made, given["x"], given["axis"], name)
        q = made.operand(given["q"])
        if isinstance(q, Cell) and len(q.shape) > 1:
            raise t.type_error(
                node, f"`q` is a number or a vector, not {q.description}", "give one dimension"
            )
        places = q if isinstance(q, Cell) else made.array(q)
        kind = true_divide(x.dtype, x.dtype)
        kind = kind if isinstance(q, Scalar) and q.dtype.weak else promote(kind, q.dtype)
        places = made.cast(places, f64)
        if scale != 1.0:
            places = made.op("/", places, number(scale))
        ordered = _sorted(made, x, len(x.shape) - 1)
        method = _method(t, node, given["method"])
        found = _between(made, ordered, places, method, kind)
        if scale == 1.0 and q.dtype.is_integer and method == "linear":  # the first or the last element
            found = made.cast(found, x.dtype)
        shape = (q.shape if isinstance(q, Cell) else ()) + (kept if _is_kept(made, given) else x.shape[:-1])
        return made.reshaped(made.array(found), *shape)

    return apply


_METHODS = ("linear", "lower", "higher", "midpoint", "nearest")


def _method(t: ProgramTranslator, node: ast.Call, value: Value) -> str:
    chosen = value.value if isinstance(value, Text) else "linear" if not is_given(value) else ""
    if chosen not in _METHODS:
        raise t.type_error(node, f"there is no method {describe(value) if not chosen else repr(chosen)}",
                           f"write one of {', '.join(_METHODS)}")  # fmt: skip
    return chosen


def _between(made: Composer, ordered: Cell, q: Value, method: str, kind: DType) -> Value:
    """The elements at the places ``q * (n - 1)``, by NumPy's rules for places between two; those of `q` come first."""
    axis = len(ordered.shape) - 1
    place = made.op("*", q, number(float(ordered.shape[-1] - 1)))
    low, high = made.call("floor", place), made.call("ceil", place)
    ends = {"lower": low, "higher": high, "nearest": made.call("round", place)}
    if method in ends:
        return _unless_nan(made, ordered, _at(made, ordered, ends[method]))
    a, b = _at(made, ordered, low), _at(made, ordered, high)
    a, b = map(made.floats, (a, b))
    share = made.cast(made.op("-", place, low), kind)
    if method == "midpoint":
        share = made.call("where", made.op("==", low, high), number(0.0), number(0.5))
        share = made.cast(share, kind)
    share = made.reshaped(made.array(share), -1, *(1,) * axis)
    distance = made.op("-", b, a)
    near_a = made.op("+", a, made.op("*", distance, share))
    near_b = made.op("-", b, made.op("*", distance, made.op("-", number(1.0), share)))
    found = made.call("where", made.op(">=", share, number(0.5)), near_b, near_a)
    return _unless_nan(made, ordered, made.call("where", made.op("==", a, b), a, found))


def _at(made: Composer, ordered: Cell, places: Value) -> Cell:
    """The elements at places, whose axis comes first."""
    flat = made.reshaped(made.array(made.cast(places, i64)), -1)
    taken = made.call("take", ordered, flat, number(-1))
    return made.cell("moveaxis", taken, number(-1), number(0))


def _unless_nan(made: Composer, ordered: Cell, found: Value) -> Value:
    """NaN where a row has one: it stands at the end."""
    if not ordered.dtype.is_float:
        return found
    axis = len(ordered.shape) - 1
    last = made.element(ordered, axis, ordered.shape[-1] - 1)
    return made.call("where", made.op("!=", last, last), last, found)


def _last(made: Composer, given: Value, axis: Value, name: str) -> tuple[Cell, tuple[int, ...]]:
    """The array with the axes that are gone along made one, the last; and the shape that `keepdims` gives."""
    x = made.array(given)
    chosen = arguments.axes(made.t, made.node, axis, len(x.shape))
    left = [a for a in range(len(x.shape)) if a not in chosen]
    refuse(made.t, made.node, [x.shape[a] for a in chosen], f"`{name}` goes along")
    n = math.prod(x.shape[a] for a in chosen)
    if not n:
        raise made.t.type_error(
            made.node, f"`{name}` of no elements: {x.description}", "give an axis with elements"
        )
    turned = made.cell("transpose", x, numbers((*left, *chosen)))
    kept = tuple(1 if a in chosen else length for a, length in enumerate(x.shape))
    return made.reshaped(turned, *(x.shape[a] for a in left), n), kept


def _is_kept(made: Composer, given: dict[str, Value]) -> bool:
    return arguments.flag(made.t, made.node, given["keepdims"], "`keepdims`")


HANDLERS: dict[str, Callable] = {
    "sort": _sort, "argsort": _argsort, "partition": _partition, "argpartition": _argpartition, "median": _median,
    "quantile": _quantile(1.0, "quantile"), "percentile": _quantile(100.0, "percentile"),
}  # fmt: skip
