"""A product of matrices by an instruction of four subgroups, from factors that are copied box by box: Hopper's.

Comes in: the elements of a product of f16, bf16 or bytes in a kernel, and the boxes of its factors. Goes out: its body.
One work-item asks for the boxes of the steps to come, into slots of shared memory; a phase of each slot ends when
its bytes are there. Sums stay in registers, in f32 or i32, until they are stored. Beyond edges boxes hold zeros.
Read next: `factor_boxes` (which factors have boxes), `pykern.dialect.warpgroups` (the instructions).
"""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir
from mlir.dialects import arith, scf

from pykern.dialect import attributes as kern
from pykern.dialect.index_space import GlobalIdOp, LocalIdOp
from pykern.dialect.matrices import LANES, QUAD
from pykern.dialect.matrix_units import SUMS
from pykern.dialect.memory import BarrierOp, SharedOp
from pykern.dialect.warpgroups import (
    PANEL_BYTES,
    ROWS,
    BeginPhasesOp,
    CopyBoxOp,
    ExpectBytesOp,
    MultiplyPanelsOp,
    TensorMapOp,
    WaitPhaseOp,
)
from pykern.passes.analysis.cost_model.devices import WARPGROUP_TILES
from pykern.passes.codegen.device.factor_boxes import FactorBoxes
from pykern.passes.codegen.device.product_space import (
    ProductElements,
    added,
    banded_tile,
    scaled,
    split,
)
from pykern.passes.codegen.device.term_parts import TermParts
from pykern.passes.ir.constants import constant
from pykern.passes.kernels import index_constant

_PANEL_WORDS = PANEL_BYTES // 4


@dataclass(frozen=True)
class WarpgroupTile:
    """A square of the result, and how many slots its factors have in shared memory."""

    side: int
    slots: int

    @classmethod
    def of_side(cls, side: int, steps: int) -> WarpgroupTile:
        """The tile of the cost model; no more slots than there are steps, but two."""
        slots = next(each for known, each in WARPGROUP_TILES if known == side)
        return cls(side, max(2, min(slots, steps)))

    @property
    def panels(self) -> int:
        """Of 64 rows or columns."""
        return self.side // ROWS


class WarpgroupProduct:
    """The kernel, of one warpgroup."""

    def __init__(
        self,
        elements: ProductElements,
        tile: WarpgroupTile,
        boxes: tuple[FactorBoxes, FactorBoxes],
        parts: TermParts,
    ) -> None:
        self.elements, self.product, self.tile, self.boxes = elements, elements.product, tile, boxes
        self.terms, self.kind, self.parts = boxes[0].terms, boxes[0].kind, parts
        self.steps = parts.steps(-(-self.product.count(self.product.terms) // self.terms))
        self.factor_words = tile.panels * _PANEL_WORDS

    def emit(self) -> None:
        self.parts.prepare(self.elements)
        tile, i64 = self.tile, ir.IntegerType.get_signless(64)
        points = self.elements.points
        self.maps = [
            TensorMapOp.create(points.operands[n], boxes.form(tile.side).text)
            for n, boxes in enumerate(self.boxes)
        ]
        words = 2 * self.factor_words * tile.slots
        self.memory = SharedOp.create((words,), ir.IntegerType.get_signless(32))
        self.memory.owner.attributes[kern.AT_LAUNCH] = ir.UnitAttr.get()
        self.phases = SharedOp.create((tile.slots,), i64)
        number = LocalIdOp.create(2)
        self.is_first = arith.CmpIOp(arith.CmpIPredicate.eq, number, index_constant(0)).result
        self.part = self.parts.place(self.elements, GlobalIdOp.create(0))
        self.begin = scaled(self.part, self.steps * self.terms)
        self.origins = [scaled(place, tile.side) for place in banded_tile(self.product, tile.side)]
        self._begin()
        self._store(self._loop(), number)

    def _begin(self) -> None:
        branch = scf.IfOp(self.is_first)
        with ir.InsertionPoint(branch.then_block):
            BeginPhasesOp.create(self.phases, self.tile.slots)
            for step in range(min(self.tile.slots - 1, self.steps)):
                self._fetch(index_constant(step), index_constant(step))
            scf.YieldOp([])
        BarrierOp.create()  # the phases are there

    def _fetch(self, slot: ir.Value, step: ir.Value) -> None:
        """Ask for the boxes of both factors."""
        tile, term = self.tile, added(self.begin, scaled(step, self.terms))
        ExpectBytesOp.create(self.phases, slot, 2 * tile.panels * PANEL_BYTES)
        for n, boxes in enumerate(self.boxes):
            begin = self._factor_place(slot, n)
            for first in boxes.first_lines(tile.side):
                place = added(begin, first // ROWS * _PANEL_WORDS)
                corner = boxes.corner(self.elements.points.counters, added(self.origins[n], first), term)
                CopyBoxOp.create(self.maps[n], (self.memory, place), (self.phases, slot), corner)

    def _factor_place(self, slot: ir.Value, n: int) -> ir.Value:
        return added(scaled(slot, 2 * self.factor_words), n * self.factor_words)

    def _loop(self) -> list[ir.Value]:
        """The sums of a work-item, over all steps."""
        tile, word, first = self.tile, ir.IntegerType.get_signless(32), index_constant(0)
        count = tile.panels * tile.side // 2
        zeros = [constant(ir.F32Type.get() if SUMS[self.kind] == "f32" else word, 0)] * count
        begun = [first, constant(word, 0), *zeros]
        loop = scf.ForOp(first, index_constant(self.steps), index_constant(1), begun)
        with ir.InsertionPoint(loop.body):
            slot, parity, *sums = loop.inner_iter_args
            WaitPhaseOp.create(self.phases, slot, parity)
            BarrierOp.create()  # everybody has read the slot before it
            self._fetch_ahead(slot, loop.induction_variable)
            left, right = ((self.memory, self._factor_place(slot, n)) for n in (0, 1))
            by_terms = self.boxes[0].by_terms, self.boxes[1].by_terms
            sums = MultiplyPanelsOp.create(left, right, sums, tile.side, by_terms, self.kind)
            is_last = arith.CmpIOp(arith.CmpIPredicate.eq, slot, index_constant(tile.slots - 1)).result
            following = arith.SelectOp(is_last, first, added(slot, 1)).result
            turned = arith.XOrIOp(parity, constant(word, 1)).result
            scf.YieldOp([following, arith.SelectOp(is_last, turned, parity).result, *sums])
        return list(loop.results)[2:]

    def _fetch_ahead(self, slot: ir.Value, step: ir.Value) -> None:
        ahead = self.tile.slots - 1
        coming = added(step, ahead)
        some = arith.CmpIOp(arith.CmpIPredicate.ult, coming, index_constant(self.steps)).result
        branch = scf.IfOp(arith.AndIOp(self.is_first, some).result)
        with ir.InsertionPoint(branch.then_block):
            is_first = arith.CmpIOp(arith.CmpIPredicate.eq, slot, index_constant(0)).result
            before = arith.SubIOp(slot, index_constant(1)).result
            self._fetch(arith.SelectOp(is_first, index_constant(ahead), before).result, coming)
            scf.YieldOp([])

    def _store(self, sums: list[ir.Value], number: ir.Value) -> None:
        """Each subgroup has 16 of 64 rows; a lane two neighbours of each eight columns, of two rows."""
        subgroup, lane = split(number, LANES)
        in_row, in_column = split(lane, QUAD)
        row = added(added(self.origins[0], scaled(subgroup, ROWS // 4)), in_row)
        column = added(self.origins[1], scaled(in_column, 2))
        each = self.tile.side // 2
        together = 2 if self.product.count(self.product.columns) % 2 == 0 else 1  # under one condition
        for begin in range(0, len(sums), together):
            block, cell = divmod(begin, each)
            at = added(row, block * ROWS + cell // 2 % 2 * 8)
            along = added(column, cell // 4 * 8 + cell % 2)
            with self.elements.where_inside(at, along, (self.tile.side, self.tile.side)):
                for n, value in enumerate(sums[begin : begin + together]):
                    self.parts.store(self.elements, self.part, at, added(along, n), value)
