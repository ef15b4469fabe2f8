"""np.pad: an array with a border around it, of a constant or of its own elements.

Comes in: a call. Goes out: the array put into a filled one; or, for the other modes, one loop nest in which each
element looks up the one that the mode repeats.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from mlir.dialects import tensor

from pykern.frontend import arithmetic
from pykern.frontend.casts import materialise
from pykern.frontend.program import arguments
from pykern.frontend.program.composition import is_given, number
from pykern.frontend.program.elementwise import broadcast_to
from pykern.frontend.program.tensors import Extent, elementwise, from_memory, insert_slice, loop_index
from pykern.frontend.program.tile_lengths import refuse
from pykern.frontend.program.values import Cell
from pykern.frontend.values import Scalar, Text, TupleValue, Value

if TYPE_CHECKING:
    from pykern.frontend.program.translator import ProgramTranslator

Widths = list[tuple[int, int]]


def _pad(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    given = arguments.bind(t, node, "pad", "x pad_width mode= constant_values=", args, keywords)
    x = arguments.array(t, node, given["x"])
    mode = given["mode"].value if isinstance(given["mode"], Text) else "constant"
    if mode not in ("constant", *_PLACES):
        raise t.type_error(node, f"`pad` has no mode {mode!r} in array programs",
                           f"the modes are 'constant', {', '.join(map(repr, _PLACES))}")  # fmt: skip
    widths = _widths(t, node, given["pad_width"], len(x.shape))
    if any(n < 0 for pair in widths for n in pair):
        raise t.type_error(node, "a width to pad is not negative")
    refuse(t, node, (n for n, pair in zip(x.shape, widths, strict=True) if any(pair)), "`pad` goes along")
    if mode == "constant":
        around = (
            t.as_scalar(node, given["constant_values"]) if is_given(given["constant_values"]) else number(0)
        )
        return _surrounded(t, node, x, widths, around)
    if is_given(given["constant_values"]):
        raise t.type_error(node, f"`constant_values` is not for the mode {mode!r}", "leave it out")
    if any(n == 0 and any(pair) for n, pair in zip(x.shape, widths, strict=True)):
        raise t.type_error(
            node, f"{x.description} has no elements that `pad` could repeat", "write mode='constant'"
        )
    return _repeated(x, widths, _PLACES[mode])


def _padded(x: Cell, widths: Widths) -> tuple[int, ...]:
    return tuple(n if pair == (0, 0) else sum(pair) + n for n, pair in zip(x.shape, widths, strict=True))


def _surrounded(t: ProgramTranslator, node: ast.Call, x: Cell, widths: Widths, around: Scalar) -> Cell:
    shape = _padded(x, widths)
    filled = broadcast_to(t, node, around, x.dtype, shape)
    extents = [Extent(before, n) for n, (before, _) in zip(x.shape, widths, strict=True)]
    return Cell(x.dtype, shape, insert_slice(x.ssa, filled.ssa, extents))


def _repeated(x: Cell, widths: Widths, place: Callable[[Scalar, int], Scalar]) -> Cell:
    def body(_: list[Scalar]) -> list[Scalar]:
        indices = []
        for axis, (n, (before, after)) in enumerate(zip(x.shape, widths, strict=True)):
            at = loop_index(axis)
            if before or after:
                at = place(arithmetic.binary("-", at, number(before)), n)
            indices.append(materialise(at))
        return [from_memory(x.dtype, tensor.ExtractOp(x.ssa, indices).result)]

    shape = _padded(x, widths)
    [(dtype, ssa)] = elementwise(shape, [], body)
    return Cell(dtype, shape, ssa)


# -- which element a place outside repeats: `at` counts from the first element, of `n` -----------


def _edge(at: Scalar, n: int) -> Scalar:
    return arithmetic.minimum(arithmetic.maximum(at, number(0)), number(n - 1))


def _wrap(at: Scalar, n: int) -> Scalar:
    return arithmetic.binary("%", at, number(n))


def _symmetric(at: Scalar, n: int) -> Scalar:
    """There and back again: the last element is repeated at once."""
    around = arithmetic.binary("%", at, number(2 * n))
    return arithmetic.minimum(around, arithmetic.binary("-", number(2 * n - 1), around))


def _reflect(at: Scalar, n: int) -> Scalar:
    """There and back again: the last element stands once."""
    around = arithmetic.binary("%", at, number(max(2 * n - 2, 1)))
    return arithmetic.minimum(around, arithmetic.binary("-", number(max(2 * n - 2, 0)), around))


_PLACES = {"edge": _edge, "wrap": _wrap, "reflect": _reflect, "symmetric": _symmetric}


def _widths(t: ProgramTranslator, node: ast.AST, value: Value, rank: int) -> list[tuple[int, int]]:
    """A number, (before, after) for all axes, or one pair an axis."""
    if isinstance(value, TupleValue) and value.items and isinstance(value.items[0], TupleValue):
        pairs = [arguments.integers(t, node, item, "a width to pad") for item in value.items]
        pairs = pairs * rank if len(pairs) == 1 else pairs
    else:
        pairs = [arguments.integers(t, node, value, "a width to pad")] * rank
    pairs = [p * 2 if len(p) == 1 else p for p in pairs]
    if len(pairs) != rank or any(len(p) != 2 for p in pairs):
        raise t.type_error(node, f"`pad` needs one (before, after) for each of {rank} axes")
    return [(p[0], p[1]) for p in pairs]


HANDLERS: dict[str, Callable] = {"pad": _pad}
