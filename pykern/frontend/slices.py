"""Parts of arrays and rows in a kernel: ``x[i, :2]``, ``x[i - 1 : i + 2, j]``, ``x[i, ::-1]``, ``a.T``.

Comes in: a subscript with a slice in it. Goes out: a `View` of what it takes a part of, which reads and writes the
array's own elements, as NumPy's views do. A slice lies inside of its array: other than in Python, nothing is cut off.
Its length is known where its bounds differ by a constant, ``x[3 * i : 3 * i + 3]``, see `differences`.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pykern.errors import INDICES
from pykern.frontend import arithmetic, from_end, rows
from pykern.frontend.casts import convert
from pykern.frontend.differences import difference
from pykern.frontend.rows import Place, Rows
from pykern.frontend.values import Scalar, TupleValue, Value, describe
from pykern.types import weak_int

if TYPE_CHECKING:
    from pykern.frontend.elements import Elements


def has_slice(node: ast.expr, rank: int) -> bool:
    """Whether an index takes a part of a dimension, or all of one in front of another index."""
    items = list(node.elts) if isinstance(node, ast.Tuple) else [node]
    if len(items) <= rank:
        while items and is_whole(items[-1]):
            items.pop()  # x[i, :] is x[i]
    return any(isinstance(part, ast.Slice) or _is_ellipsis(part) for part in items)


def is_whole(node: ast.expr) -> bool:
    """Whether an index takes a whole dimension: `:`, or `...`, which stands for all that are left."""
    if isinstance(node, ast.Slice):
        return node.lower is node.upper is node.step is None
    return _is_ellipsis(node)


def _is_ellipsis(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is Ellipsis


def sliced(t: Elements, node: ast.Subscript, base: Rows) -> Rows:
    """What the subscript takes of `base`. Raises `KernelTypeError` for what lies outside of a known length, for more
    indices than dimensions, and for steps that are not known."""
    nodes = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if len(nodes) <= len(base.shape) and all(map(is_whole, nodes)):
        return base
    taken = parts(t, node, base)
    if isinstance(base, rows.Row):
        for d, part in enumerate(taken):
            _check_inside(t, base, part, t.length(base, d))
    starts: list[Value] = [part.start if isinstance(part, Taken) else part for part in taken]
    shape = [part.length for part in taken if isinstance(part, Taken)]
    steps = tuple(part.step if isinstance(part, Taken) else None for part in taken)
    return rows.view(t, node, base, starts, shape, _strided(steps))


def _check_inside(t: Elements, base: rows.Row, part: Scalar | Taken, length: Scalar) -> None:
    """Of a row of values: no memory is there to be checked."""
    if isinstance(part, Scalar):
        rows.check_index(t, base, part, length)
        return
    rows.check_index(t, base, part.start, arithmetic.binary("+", length, _number(1)))
    if not part.length.is_const:
        return
    way = _number((part.length.const - 1) * part.step)  # type: ignore[operator]
    rows.check_index(t, base, arithmetic.binary("+", part.start, way), length)


def parts(t: Elements, node: ast.Subscript, base: Rows) -> list[Scalar | Taken]:
    """Of each dimension an index, or what a slice takes."""
    found: list[Scalar | Taken] = []
    for d, (place, part) in enumerate(_items(t, node, base)):
        if isinstance(part, ast.Slice):
            found.append(_taken(t, node, part, base, d))
            continue
        index = t.place(place, t.as_scalar(place, part), base, d)
        if index is not part and isinstance(part, Scalar) and part.is_const:
            from_end.note(t.frame.function.source.file, node, d)
        found.append(convert(index, weak_int))
    return found


def transposed(t: Elements, node: ast.AST, base: Rows) -> Rows:
    """``a.T``: the dimensions in the opposite order."""
    if len(base.shape) < 2:
        return base
    shape = [t.length(base, d) for d in reversed(range(len(base.shape)))]
    return rows.view(t, node, base, [], shape, lambda _, indices: indices[::-1])


def _strided(steps: tuple[int | None, ...]) -> Place:
    """Of each dimension an index, or where a slice begins and how far its elements are apart."""

    def place(starts: tuple[Value, ...], indices: tuple[Scalar, ...]) -> tuple[Scalar, ...]:
        own = iter(indices)
        return tuple(
            start if step is None else _moved(start, next(own), step)  # type: ignore[misc]
            for start, step in zip(starts, steps, strict=True)
        )

    return place


def _moved(start: Value, index: Scalar, step: int) -> Scalar:
    assert isinstance(start, Scalar)
    if step != 1:
        index = arithmetic.binary("*", index, _number(step))
    return index if start.is_const and start.const == 0 else arithmetic.binary("+", start, index)


def _number(value: int) -> Scalar:
    return Scalar(weak_int, const=value)


def _items(t: Elements, node: ast.Subscript, base: Rows) -> list[tuple[ast.expr, Value | ast.Slice]]:
    """What is given for each dimension."""
    nodes = list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
    items: list[tuple[ast.expr, Value | ast.Slice]] = []
    rest: int | None = None
    for part in nodes:
        if isinstance(part, ast.Slice):
            items.append((part, part))
        elif _is_ellipsis(part):
            if rest is not None:
                raise t.syntax_error(part, "an index has one `...` at most", "write `:` for each dimension")
            rest = len(items)
        else:
            value = t.expression(part.value if isinstance(part, ast.Starred) else part)
            several = value.items if isinstance(value, TupleValue) else (value,)
            items += [(part, v) for v in several]
    missing = len(base.shape) - len(items)
    if missing < 0:
        raise t.type_error(node.slice, f"{describe(base)} has {len(base.shape)} dimensions, and {len(items)} indices "
                           "are given", "give one for each dimension", INDICES)  # fmt: skip
    whole = ast.copy_location(ast.Slice(), node)
    at = len(items) if rest is None else rest
    return [*items[:at], *[(whole, whole)] * missing, *items[at:]]


@dataclass(frozen=True)
class Taken:
    """What a slice takes of a dimension."""

    start: Scalar
    step: int
    length: Scalar


@dataclass(frozen=True)
class _Bound:
    """An end of a slice: a value, and where it is known a number counted from the start, or from the length on."""

    value: Scalar
    from_start: int | None = None
    from_length: int | None = None


def _taken(t: Elements, access: ast.Subscript, part: ast.Slice, base: Rows, d: int) -> Taken:
    length, step = t.length(base, d), _step(t, part)
    first, last = _Bound(_number(0), 0), _Bound(length, length.const if length.is_const else None, 0)  # type: ignore[arg-type]
    if step < 0:
        end = arithmetic.binary("-", length, _number(1))
        first, last = _Bound(end, end.const if end.is_const else None, -1), _Bound(_number(-1), -1)  # type: ignore[arg-type]
    lower, upper = (
        default if given is None else _bound(t, access, given, base, d, length)
        for given, default in ((part.lower, first), (part.upper, last))
    )
    known = _known_distance(t, part, lower, upper)
    if known is not None:
        known = known if step > 0 else -known
        return Taken(lower.value, step, _number(max(-(-known // abs(step)), 0)))
    ends = (upper, lower) if step > 0 else (lower, upper)
    distance = arithmetic.binary("-", ends[0].value, ends[1].value)
    distance = arithmetic.maximum(distance, _number(0))
    if abs(step) > 1:
        more = arithmetic.binary("+", distance, _number(abs(step) - 1))
        distance = arithmetic.binary("//", more, _number(abs(step)))
    return Taken(lower.value, step, distance)


def _known_distance(t: Elements, part: ast.Slice, lower: _Bound, upper: _Bound) -> int | None:
    if lower.from_start is not None and upper.from_start is not None:
        return upper.from_start - lower.from_start
    if lower.from_length is not None and upper.from_length is not None:
        return upper.from_length - lower.from_length
    counted = (
        lower.from_length is not None or upper.from_length is not None
    )  # a negative constant is another number
    if part.lower is None or part.upper is None or counted:
        return None
    return difference(t, part.upper, part.lower)


def _step(t: Elements, part: ast.Slice) -> int:
    if part.step is None:
        return 1
    step = t.scalar(part.step)
    if not step.is_const or type(step.const) is not int or step.const == 0:
        raise t.type_error(part.step, "the step of a slice is a constant, and not zero",
                           "write x[i, ::2], or a loop over range(a, b, step)")  # fmt: skip
    return step.const


def _bound(t: Elements, access: ast.Subscript, node: ast.expr, base: Rows, d: int, length: Scalar) -> _Bound:
    """A bound that is given; a negative constant counts from the end."""
    value = t.scalar(node)
    if not value.dtype.is_integer:
        raise t.type_error(node, f"a bound of a slice must be an integer, not {describe(value)}",
                           "use // to divide, or pk.cast(x, pk.i64) to cut off the fraction", INDICES)  # fmt: skip
    value = convert(value, weak_int)
    if not value.is_const:
        return _Bound(value)
    number = value.const
    assert isinstance(number, int)
    if length.is_const and not -length.const <= number <= length.const:  # type: ignore[operator]
        raise t.type_error(node, f"the bound {number} is outside of dimension {d} of {describe(base)}",
                           "a slice lies inside of its array: nothing is cut off", INDICES)  # fmt: skip
    if number >= 0:
        return _Bound(value, number)
    from_end.note(t.frame.function.source.file, access, d)
    end = arithmetic.binary("+", length, value)
    return _Bound(end, end.const if end.is_const else None, number)  # type: ignore[arg-type]
