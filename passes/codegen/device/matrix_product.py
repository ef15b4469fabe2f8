"""A product of matrices by an instruction that a subgroup multiplies small matrices with: tensor cores.

Comes in: the elements of a product of f16 or bf16 in a kernel, and a `MatrixTile`. Goes out: the kernel's body. Parts
of the factors lie in shared memory in several slots, of which one is read while the next are filled; beyond their edges
are zeros. Sums stay in registers, in f32, until they are stored. Which lane holds which elements:
`pykern.dialect.matrices`. Read next: `matrix_panel` (a factor), `matrix_layout` (where its elements lie).
"""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir
from mlir.dialects import arith, scf

from pykern.dialect.index_space import GlobalIdOp, LocalIdOp
from pykern.dialect.matrices import (
    BYTES,
    COLUMNS,
    FLOATS,
    LANES,
    PACKED,
    QUAD,
    ROWS,
    WORDS,
    CommitCopiesOp,
    MultiplyMatricesOp,
    WaitCopiesOp,
)
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
from pykern.passes.ir.constants import constant
from pykern.passes.ir.structured import element_types
from pykern.passes.kernels import body, index_constant


def why_not(op: ir.Operation, unit: str) -> str | None:
    """Why a product is not computed by such instructions; None where it is."""
    *types, out = map(str, element_types(op.operands))
    if factor_types(op) is None:
        return f"its factors are {types[0]} and {types[1]}; they multiply two of f16, two of bf16, or bytes"
    if out != ("f32" if types[0] in FLOATS else "i32"):
        return f"its sums are {out}"
    return None if unit else "this target has none"


def factor_types(op: ir.Operation) -> tuple[str, str] | None:
    """The types of the factors, as the instruction calls them; None where it does not multiply them."""
    types = [str(t) for t in element_types(op.operands)[:2]]
    if types == ["i8", "i8"]:
        left, right = (_byte(value) for value in body(op).arguments[:2])
        return None if left is None or right is None else (left, right)
    return (types[0], types[1]) if types[0] in FLOATS and types[0] == types[1] else None


def _byte(value: ir.Value) -> str | None:
    """How a byte is widened to 32 bits before it is multiplied."""
    uses = [use.owner.operation for use in value.uses]
    if len(uses) != 1 or str(uses[0].results[0].type) != "i32":
        return None
    return {"arith.extsi": BYTES[0], "arith.extui": BYTES[1]}.get(uses[0].name)


@dataclass(frozen=True)
class TermParts:
    """Groups that have the same cells, each with a part of the terms: `memory` holds `count` sums of each cell."""

    count: int
    memory: ir.Value


def steps_of(product: ProductSpace) -> int:
    """How often such a kernel fetches terms."""
    types = factor_types(product.space.op)
    assert types is not None, "`why_not` has asked"
    return -(-product.count(product.terms) // (MATRIX_WORDS * PACKED[types[0]]))


class MatrixProduct:
    """The kernel."""

    def __init__(self, elements: ProductElements, tile: MatrixTile, parts: TermParts | None = None) -> None:
        self.parts = parts
        self.elements, self.product, self.tile = elements, elements.product, tile
        self.fragments = tile.own_rows // ROWS, tile.own_columns // COLUMNS
        types = factor_types(self.product.space.op)
        assert types is not None, "`why_not` has asked"
        self.types, self.packed = types, PACKED[types[0]]
        self.depth = MATRIX_WORDS * self.packed
        self.steps = -(-steps_of(self.product) // (1 if parts is None else parts.count))
        self.copies, self.slots = any(tile.copied), min(tile.slots, self.steps + 1)
        self.panels = [self._panel(n) for n in (0, 1)]

    def _panel(self, n: int) -> Panel:
        product, tile = self.product, self.tile
        lines, terms = (product.count(g) for g in ((product.rows, product.columns)[n], product.terms))
        by_terms, is_byte = product.lies_by_terms(n), self.packed > 2
        source = PanelSource(self.elements, n, lines, terms, n == 0, by_terms)
        # the instruction that loads matrices transposes elements of 16 bits alone
        layout = PanelLayout(tile.side, by_terms or is_byte, packed=self.packed)
        return Panel(source, layout, tile.items, tile.copied[n], self.slots)

    def emit(self) -> None:
        tile = self.tile
        number, batch = LocalIdOp.create(2), GlobalIdOp.create(0)
        self.begin = index_constant(0)
        if self.parts is not None:
            self.memory = self.elements.kernel.value(self.parts.memory)
            batch, self.part = split(batch, self.parts.count)
            self.begin = scaled(self.part, self.steps * self.depth)
        self.elements.place(self.product.batch, batch)
        origins = [scaled(place, tile.side) for place in banded_tile(self.product, tile.side)]
        subgroup, lane = split(number, LANES)
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
            QUAD * self.fragments[0] * self.fragments[1]
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

    def _begin(self, slot: ir.Value, term: ir.Value) -> list[list[ir.Value]]:
        begun = [panel.begin(slot, added(self.begin, term)) for panel in self.panels]
        if self.copies:
            CommitCopiesOp.create()
        return begun

    def _finish(self, slot: ir.Value, begun: list[list[ir.Value]]) -> None:
        for panel, loaded in zip(self.panels, begun, strict=True):
            panel.finish(slot, loaded)

    def _multiply(self, slot: ir.Value, held: list[ir.Value]) -> list[ir.Value]:
        """All terms of a slot. A load gives one fragment of the left factor, two of the right one."""
        sums = [held[n : n + QUAD] for n in range(0, len(held), QUAD)]
        down, across = self.fragments
        for term in range(0, self.depth, WORDS * self.packed):
            left = [self.panels[0].load(slot, ROWS * r, term) for r in range(down)]
            pairs = [self.panels[1].load(slot, 2 * COLUMNS * c, term) for c in range(across // 2)]
            right = [pair[half : half + 2] for pair in pairs for half in (0, 2)]
            sums = [
                MultiplyMatricesOp.create(left[r], right[c], sums[r * across + c], self.types)
                for r in range(down)
                for c in range(across)
            ]
        return [each for four in sums for each in four]

    def _store(self, sums: list[ir.Value], corner: list[ir.Value], lane: ir.Value) -> None:
        across = self.fragments[1]
        in_row, in_column = split(lane, QUAD)
        row, column = added(corner[0], in_row), added(corner[1], scaled(in_column, 2))
        for number, value in enumerate(sums):
            fragment, cell = divmod(number, QUAD)
            at = added(row, fragment // across * ROWS + cell // 2 * (ROWS // 2))
            along = added(column, fragment % across * COLUMNS + cell % 2)
            branch = scf.IfOp(self.elements.inside(at, along))
            with ir.InsertionPoint(branch.then_block):
                if self.parts is None:
                    self.elements.finish(at, along, value)
                else:
                    self.elements.keep(at, along, value, self.memory, self.part)
                scf.YieldOp([])


def _next(slot: ir.Value, last: int, step: int, then: int) -> ir.Value:
    """The slot one step on; `then` where it is the last one."""
    is_last = arith.CmpIOp(arith.CmpIPredicate.eq, slot, index_constant(last)).result
    return arith.SelectOp(is_last, index_constant(then), added(slot, step)).result
