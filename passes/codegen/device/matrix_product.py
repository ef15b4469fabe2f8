"""A product of matrices by an instruction that a subgroup multiplies small matrices with: tensor cores, matrix cores.

Comes in: the elements of a product in a kernel, and a `MatrixTile`. Goes out: the kernel's body. Parts of the factors
lie in shared memory in several slots, of which one is read while the next are filled; beyond their edges are zeros.
Sums stay in registers until they are stored. Which lane holds which elements: `pykern.dialect.matrix_units`. Read next:
`matrix_panel` and `matrix_layout` (a factor, and where its elements lie), `word_panel` and `word_layout` (on AMD).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mlir import ir
from mlir.dialects import arith, scf

from pykern.dialect.index_space import GlobalIdOp, LocalIdOp
from pykern.dialect.matrices import CommitCopiesOp, MultiplyMatricesOp, WaitCopiesOp
from pykern.dialect.matrix_units import BITS, SUMS, UNITS, MatrixInstruction, Types
from pykern.dialect.memory import BarrierOp
from pykern.passes.analysis.cost_model.devices import MATRIX_WORDS
from pykern.passes.codegen.device.matrix_layout import MatrixTile, PanelLayout
from pykern.passes.codegen.device.matrix_panel import Panel, PanelSource
from pykern.passes.codegen.device.product_space import (
    ProductElements,
    ProductSpace,
    added,
    banded_tile,
    scaled,
    split,
)
from pykern.passes.codegen.device.term_parts import TermParts
from pykern.passes.codegen.device.word_layout import WordLayout
from pykern.passes.codegen.device.word_panel import WordPanel
from pykern.passes.ir.constants import constant
from pykern.passes.ir.structured import element_types
from pykern.passes.kernels import body, index_constant

_FIRST = next(iter(UNITS))
"""The unit whose types are named where the target has none."""


def why_not(op: ir.Operation, unit: str) -> str | None:
    """Why a product is not computed by such instructions; None where it is."""
    *types, out = map(str, element_types(op.operands))
    found, known = factor_types(op), UNITS[unit or _FIRST]
    if found not in known:
        return f"its factors are {types[0]} and {types[1]}; they multiply {_multiplied(known)}"
    assert found is not None
    if out != SUMS[found[0]]:
        return f"its sums are {out}"
    return None if unit else "this target has none"


def _multiplied(known: dict[Types, MatrixInstruction]) -> str:
    """What a unit multiplies, in words."""
    floats = [f"two of {left}" for left, _ in known if SUMS[left] != "i32"]
    return ", ".join(floats) + (", or bytes" if ("u8", "u8") in known else ", or signed bytes")


def factor_types(op: ir.Operation) -> Types | None:
    """The types of the factors, as instructions call them; None where none multiplies them."""
    types = [str(t) for t in element_types(op.operands)[:2]]
    if types == ["i8", "i8"]:
        left, right = (_byte(value) for value in body(op).arguments[:2])
        return None if left is None or right is None else (left, right)
    return (types[0], types[1]) if types[0] in BITS and types[0] == types[1] else None


def _byte(value: ir.Value) -> str | None:
    """How a byte is widened to 32 bits before it is multiplied."""
    uses = [use.owner.operation for use in value.uses]
    if len(uses) != 1 or str(uses[0].results[0].type) != "i32":
        return None
    return {"arith.extsi": "s8", "arith.extui": "u8"}.get(uses[0].name)


def instruction_of(product: ProductSpace, unit: str) -> MatrixInstruction:
    """The instruction that multiplies the factors; `why_not` has been asked."""
    types = factor_types(product.space.op)
    assert types is not None
    return UNITS[unit][types]


def steps_of(product: ProductSpace, instruction: MatrixInstruction) -> int:
    """How often such a kernel fetches terms."""
    return -(-product.count(product.terms) // _depth(instruction))


def _depth(instruction: MatrixInstruction) -> int:
    """Terms that are in shared memory at a time."""
    return MATRIX_WORDS * 32 // instruction.bits


class MatrixProduct:
    """The kernel."""

    def __init__(self, elements: ProductElements, tile: MatrixTile, unit: str, parts: TermParts) -> None:
        self.parts, self.unit = parts, unit
        self.elements, self.product, self.tile = elements, elements.product, tile
        types = factor_types(self.product.space.op)
        assert types is not None, "`why_not` has asked"
        self.types, self.instruction = types, UNITS[unit][types]
        self.fragments = tile.own_rows // self.instruction.rows, tile.own_columns // self.instruction.columns
        self.depth = _depth(self.instruction)
        self.steps = parts.steps(steps_of(self.product, self.instruction))
        self.copies = any(tile.copied) and not self.instruction.groups
        self.slots = min(tile.slots, self.steps + 1)
        self.panels = [self._panel(n) for n in (0, 1)]

    def _panel(self, n: int) -> Panel | WordPanel:
        product, tile, instruction = self.product, self.tile, self.instruction
        lines, terms = (product.count(g) for g in ((product.rows, product.columns)[n], product.terms))
        source = PanelSource(self.elements, n, lines, terms, n == 0, product.lies_by_terms(n))
        if instruction.groups:
            count = self.steps * self.parts.count
            layout = WordLayout(tile.side, MATRIX_WORDS, instruction.lanes_of_line)
            whole = count * self.depth == terms
            return WordPanel(source, layout, tile.items, tile.copied[n], self.slots, instruction, whole)
        # the instruction that loads matrices transposes elements of 16 bits alone
        by_terms = source.by_terms or instruction.bits < 16
        layout = PanelLayout(tile.side, by_terms, packed=32 // instruction.bits)
        return Panel(source, layout, tile.items, tile.copied[n], self.slots)

    def emit(self) -> None:
        tile = self.tile
        self.parts.prepare(self.elements)
        number = LocalIdOp.create(2)
        self.part = self.parts.place(self.elements, GlobalIdOp.create(0))
        self.begin = scaled(self.part, self.steps * self.depth)
        origins = [scaled(place, tile.side) for place in banded_tile(self.product, tile.side)]
        subgroup, lane = split(number, self.instruction.lanes)
        down, across = split(subgroup, tile.column_subgroups)
        own = scaled(down, tile.own_rows), scaled(across, tile.own_columns)
        for panel, origin, mine in zip(self.panels, origins, own, strict=True):
            panel.prepare(number, origin, mine)
        sums = self._loop()
        self._store(sums, [added(*each) for each in zip(origins, own, strict=True)], lane)

    def _loop(self) -> list[ir.Value]:
        """The sums of a lane, over all terms."""
        ahead, first = self.slots - 1, index_constant(0)
        for stage in range(ahead):
            self._finish(
                index_constant(stage),
                self._begin(index_constant(stage), index_constant(stage * self.depth)),
            )
        zeros = [constant(element_types(self.elements.points.operands)[2], 0)] * (
            len(self.instruction.cells) * self.fragments[0] * self.fragments[1]
        )
        end, step = index_constant(self.steps * self.depth), index_constant(self.depth)
        loop = scf.ForOp(first, end, step, [first, *zeros])
        with ir.InsertionPoint(loop.body):
            slot, *sums = loop.inner_iter_args
            if self.copies:
                WaitCopiesOp.create(self.slots - 2)
            BarrierOp.create()  # the slot is filled, and everybody has read the one before it
            free = _next(slot, 0, -1, ahead)
            begun = self._begin(free, added(loop.induction_variable, ahead * self.depth))
            sums = self._multiply(slot, sums)
            self._finish(free, begun)
            scf.YieldOp([_next(slot, ahead, 1, 0), *sums])
        if self.copies:
            WaitCopiesOp.create(0)
        return list(loop.results)[1:]

    def _begin(self, slot: ir.Value, term: ir.Value) -> list[Any]:
        begun = [panel.begin(slot, added(self.begin, term)) for panel in self.panels]
        if self.copies:
            CommitCopiesOp.create()
        return begun

    def _finish(self, slot: ir.Value, begun: list[Any]) -> None:
        for panel, loaded in zip(self.panels, begun, strict=True):
            panel.finish(slot, loaded)

    def _multiply(self, slot: ir.Value, held: list[ir.Value]) -> list[ir.Value]:
        """All terms of a slot."""
        each, (down, across) = len(self.instruction.cells), self.fragments
        sums = [held[n : n + each] for n in range(0, len(held), each)]
        for step in range(self.panels[0].steps):
            factors = [
                panel.fragments(slot, step, lines)
                for panel, lines in zip(self.panels, (self.tile.own_rows, self.tile.own_columns), strict=True)
            ]
            for left, right in zip(*factors, strict=True):
                sums = [
                    MultiplyMatricesOp.create(left[r], right[c], sums[r * across + c], self.types, self.unit)
                    for r in range(down)
                    for c in range(across)
                ]
        return [value for several in sums for value in several]

    def _store(self, sums: list[ir.Value], corner: list[ir.Value], lane: ir.Value) -> None:
        instruction, across = self.instruction, self.fragments[1]
        in_row, in_column = split(lane, instruction.across)
        row, column = (
            added(origin, scaled(number, step))
            for origin, number, step in zip(corner, (in_row, in_column), instruction.steps, strict=True)
        )
        for begin, together in self._runs(len(sums)):
            places = []
            for number in range(begin, begin + together):
                fragment, cell = divmod(number, len(instruction.cells))
                down, right = instruction.cells[cell]
                at = added(row, fragment // across * instruction.rows + down)
                places.append((at, added(column, fragment % across * instruction.columns + right)))
            with self.elements.where_inside(*places[0], (self.tile.side, self.tile.side)):
                for place, value in zip(places, sums[begin:], strict=False):
                    self.parts.store(self.elements, self.part, *place, value)

    def _runs(self, count: int) -> Iterator[tuple[int, int]]:
        """Sums that are stored under one condition: two neighbours, where they are, and the columns are even."""
        (first, *_), (second, *_) = self.instruction.cells[0::2], self.instruction.cells[1::2]
        pairs = second == (first[0], first[1] + 1) and self.product.count(self.product.columns) % 2 == 0
        together = 2 if pairs else 1
        return ((begin, together) for begin in range(0, count, together))


def _next(slot: ir.Value, last: int, step: int, then: int) -> ir.Value:
    """The slot one step on; `then` where it is the last one."""
    is_last = arith.CmpIOp(arith.CmpIPredicate.eq, slot, index_constant(last)).result
    return arith.SelectOp(is_last, index_constant(then), added(slot, step)).result
