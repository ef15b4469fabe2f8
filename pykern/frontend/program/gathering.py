"""``x[k]`` where `k` is an array of integers: every element is looked up, as NumPy's advanced indexing does.

Comes in: an array and the parts of an index, of which at least one is an array. Goes out: a new array (no
view), one linalg.generic that looks up its elements. Index arrays are broadcast together; their axes stand
where they stood in the index, or in front where a slice comes between two of them.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mlir import ir
from mlir.dialects import tensor

from pykern.frontend import arithmetic
from pykern.frontend.casts import materialise
from pykern.frontend.program import elementwise, tensors
from pykern.frontend.program.tensors import Extent, Input, Shape, from_memory, loop_index
from pykern.frontend.program.values import Cell
from pykern.frontend.values import Scalar
from pykern.types import weak_int

if TYPE_CHECKING:
    from pykern.frontend.program.translator import ProgramTranslator

Inside = Callable[[Scalar, int], ir.Value]
"""Brings an index into a length."""


@dataclass(frozen=True)
class Taken:
    """A part of an index: a slice of an axis (`backwards`: from its end), a number, an array of numbers, or a
    new axis, where all three are None."""

    axis: int = -1
    extent: Extent | None = None
    backwards: bool = False
    array: Cell | None = None

    @property
    def looks_up(self) -> bool:
        return self.array is not None or (self.extent is not None and not self.extent.kept)


@dataclass(frozen=True)
class Layout:
    """The result: its shape, the loop of each part that is no look-up, the loops of the index arrays."""

    shape: Shape
    loops: dict[int, int]
    block: Shape
    first: int


def read(t: ProgramTranslator, node: ast.AST, x: Cell, parts: Sequence[Taken], inside: Inside) -> Cell:
    """The elements the parts name."""
    arrays = [part.array for part in parts if part.array is not None]
    layout = _layout(parts, elementwise.broadcast_shapes(t, node, arrays))
    if 0 in layout.shape:
        return Cell(x.dtype, layout.shape, tensors.empty(x.dtype, layout.shape))
    for part in parts:
        if part.array is not None and x.shape[part.axis] == 0:
            raise t.type_error(node, f"axis {part.axis} of {x.description} has no elements")

    def body(elements: list[Scalar]) -> Sequence[Scalar]:
        given = iter(elements)
        indices: list[ir.Value] = [None] * len(x.shape)  # type: ignore[list-item]
        for number, part in enumerate(parts):
            if part.array is not None:
                indices[part.axis] = inside(next(given), x.shape[part.axis])
            elif part.extent is not None:
                indices[part.axis] = _position(part, part.extent, layout.loops.get(number))
        return [from_memory(x.dtype, tensor.ExtractOp(x.ssa, indices).result)]

    inputs: list[Input] = [elementwise.broadcast_input(a, layout.block, layout.first) for a in arrays]
    [(dtype, ssa)] = tensors.elementwise(layout.shape, inputs, body)
    return Cell(dtype, layout.shape, ssa)


def _layout(parts: Sequence[Taken], block: Shape) -> Layout:
    looked = [n for n, part in enumerate(parts) if part.looks_up]
    together = looked[-1] - looked[0] == len(looked) - 1
    at = looked[0] if together else 0
    shape: list[int] = []
    loops: dict[int, int] = {}
    first = 0
    for number, part in enumerate(parts):
        if number == at:
            first = len(shape)
            shape += block
        if not part.looks_up:
            loops[number] = len(shape)
            shape.append(1 if part.extent is None else part.extent.size)
    return Layout(tuple(shape), loops, block, first)


def _position(part: Taken, extent: Extent, loop: int | None) -> ir.Value:
    """Where an iteration of the result is on the axis of a slice or of a number."""
    offset = (
        Scalar(weak_int, const=extent.offset)
        if isinstance(extent.offset, int)
        else Scalar(weak_int, extent.offset)
    )
    if loop is None:
        return materialise(offset)
    step = -extent.step if part.backwards else extent.step
    start = (extent.size - 1) * extent.step if part.backwards else 0
    moved = arithmetic.binary("*", loop_index(loop), Scalar(weak_int, const=step))
    moved = arithmetic.binary("+", moved, Scalar(weak_int, const=start))
    return materialise(arithmetic.binary("+", offset, moved))
