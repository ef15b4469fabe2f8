"""Attention on Hopper: matrix products by `wgmma`, keys and values copied to shared memory through tensor maps.

Comes in: attention over f16 or bf16 in a kernel, and the boxes of keys and values that a tensor map copies. Goes out:
the kernel's body. A warpgroup (four subgroups) computes 64 queries. Shared memory has two slots for blocks of keys and
values: one is multiplied while the other is filled. Queries and the exponentials of scores are left operands in
registers. The accumulators lie in registers as those of smaller matrix instructions do, so that the softmax between
both products is that of `matrix_attention`. Read next: `factor_boxes`.
"""

from __future__ import annotations

from mlir import ir
from mlir.dialects import arith, scf

from pykern.dialect import attributes as kern
from pykern.dialect.matrices import QUAD
from pykern.dialect.memory import BarrierOp, SharedOp
from pykern.dialect.warpgroups import (
    ITEMS,
    PANEL_BYTES,
    BeginPhasesOp,
    CopyBoxOp,
    ExpectBytesOp,
    MultiplyWordsOp,
    TensorMapOp,
    WaitPhaseOp,
)
from pykern.dialect.warpgroups import ROWS as WARPGROUP_ROWS
from pykern.passes.analysis.cost_model.devices import MATRIX_ATTENTION_KEYS, WARPGROUP_ATTENTION_SLOTS
from pykern.passes.codegen.device.attention_elements import AXES, KEYS, VALUES, AttentionElements
from pykern.passes.codegen.device.factor_boxes import LINES, TERM, FactorBoxes, boxes_of, may_have_map
from pykern.passes.codegen.device.matrix_attention import (
    TERMS,
    MatrixAttention,
    MatrixAttentionTile,
    shrunk,
)
from pykern.passes.codegen.device.product_space import added, scaled
from pykern.passes.fusion.attention.calls import AttentionCall
from pykern.passes.ir.constants import constant
from pykern.passes.kernels import index_constant

_PANEL_WORDS = PANEL_BYTES // 4


def warpgroup_boxes(
    found: AttentionCall, tile: MatrixAttentionTile, aligned: bool
) -> tuple[FactorBoxes, FactorBoxes] | None:
    """The boxes of keys and values; None where a warpgroup cannot compute it.

    It cannot where there are fewer queries than it takes, or no tensor map describes keys or values. `aligned` says
    whether the program's arguments begin at multiples of 16 bytes.
    """
    if tile.items != ITEMS:
        return None
    keys, values = (_boxes(found, n, aligned) for n in (KEYS, VALUES))
    return None if keys is None or values is None else (keys, values)


def _boxes(found: AttentionCall, n: int, aligned: bool) -> FactorBoxes | None:
    array, shape = found.call.operands[n], found.shape
    kind = ir.MemRefType(array.type)
    strides, _ = kind.get_strides_and_offset()
    dynamic = ir.ShapedType.get_dynamic_stride_or_offset()
    indices = list(enumerate(shape.maps[n].results))
    indices = [(n, each) for n, each in indices if not _is_zero(each)]  # an array of one batch
    plain = all(isinstance(each, ir.AffineDimExpr) for _, each in indices)
    if not plain or not kind.has_static_shape or dynamic in strides or not may_have_map(array, aligned):
        return None
    lines, terms = map(shape.dimension, AXES[n])
    whose = {lines: LINES, terms: TERM}
    dimensions = [
        (whose.get(place, place), kind.shape[n], strides[n])
        for n, place in ((n, ir.AffineDimExpr(each).position) for n, each in reversed(indices))
    ]
    return boxes_of(str(kind.element_type), dimensions)


def _is_zero(index: ir.AffineExpr) -> bool:
    return isinstance(index, ir.AffineConstantExpr) and ir.AffineConstantExpr(index).value == 0


class WarpgroupAttention(MatrixAttention):
    """The kernel, of one warpgroup."""

    def __init__(
        self, elements: AttentionElements, tile: MatrixAttentionTile, boxes: tuple[FactorBoxes, FactorBoxes]
    ) -> None:
        super().__init__(elements, tile)
        self.boxes = boxes
        self.width = _whole(self.tile.columns)
        """Columns of the result that a group has."""
        self.depth = _whole(self.tile.depth)
        self.sides = MATRIX_ATTENTION_KEYS, self.width
        """Lines of keys and of values in a block."""
        panels = self.depth // WARPGROUP_ROWS, self.width // WARPGROUP_ROWS
        self.words = panels[0] * _PANEL_WORDS, panels[1] * _PANEL_WORDS

    def emit(self, blocks: int) -> None:
        number, first = self._place_items(blocks, self.width)
        begin, end = self.elements.key_range(first, self.tile.queries)
        self._begin(number, begin, end)
        words = [word for term in range(0, self.depth, TERMS) for word in self._queries(term)]
        _, _, *found = self._loop(words, begin, end)
        self._finish(found[:2], found[2:])

    def _begin(self, number: ir.Value, begin: ir.Value, end: ir.Value) -> None:
        """Shared memory, phases, and the first block's keys and values."""
        self.maps = [
            TensorMapOp.create(self.elements.arrays[n], boxes.form(side).text)
            for n, boxes, side in zip((KEYS, VALUES), self.boxes, self.sides, strict=True)
        ]
        word, wide = ir.IntegerType.get_signless(32), ir.IntegerType.get_signless(64)
        self.memory = SharedOp.create((WARPGROUP_ATTENTION_SLOTS * sum(self.words),), word)
        self.memory.owner.attributes[kern.AT_LAUNCH] = ir.UnitAttr.get()
        self.phases = SharedOp.create((WARPGROUP_ATTENTION_SLOTS,), wide)
        self.is_first = arith.CmpIOp(arith.CmpIPredicate.eq, number, index_constant(0)).result
        branch = scf.IfOp(self.is_first)
        with ir.InsertionPoint(branch.then_block):
            BeginPhasesOp.create(self.phases, WARPGROUP_ATTENTION_SLOTS)
            scf.YieldOp([])
        self._fetch(index_constant(0), begin, end)
        BarrierOp.create()  # the phases are there

    def _fetch(self, slot: ir.Value, key: ir.Value, end: ir.Value) -> None:
        """Ask for the boxes of a block, if there is one."""
        some = arith.CmpIOp(arith.CmpIPredicate.slt, key, end).result
        branch = scf.IfOp(arith.AndIOp(self.is_first, some).result)
        with ir.InsertionPoint(branch.then_block):
            ExpectBytesOp.create(self.phases, slot, 4 * sum(self.words))
            for number, term in enumerate(range(0, self.depth, WARPGROUP_ROWS)):
                place = added(self._place(slot, 0), number * _PANEL_WORDS)
                self._copy(0, (slot, place), key, index_constant(term))
            self._copy(1, (slot, self._place(slot, 1)), self.origin, key)
            scf.YieldOp([])

    def _copy(self, n: int, to: tuple[ir.Value, ir.Value], line: ir.Value, term: ir.Value) -> None:
        """Ask for the boxes of 64 terms of keys (0) or values (1), to a place in a slot."""
        boxes, side = self.boxes[n], self.sides[n]
        for first in boxes.first_lines(side):
            place = added(to[1], first // WARPGROUP_ROWS * _PANEL_WORDS)
            corner = boxes.corner(self.elements.batch, added(line, first), term)
            CopyBoxOp.create(self.maps[n], (self.memory, place), (self.phases, to[0]), corner)

    def _loop(self, words: list[ir.Value], begin: ir.Value, end: ir.Value) -> list[ir.Value]:
        """The maxima and sums of the lane's two rows, and its elements of the result."""
        zero, word = index_constant(0), ir.IntegerType.get_signless(32)
        nothing = constant(self.shape.element, 0)
        low = constant(self.shape.element, float("-inf"))
        cells = [nothing] * (self.width // 2)
        begun = [zero, constant(word, 0), low, low, nothing, nothing, *cells]
        loop = scf.ForOp(begin, end, index_constant(MATRIX_ATTENTION_KEYS), begun)
        with ir.InsertionPoint(loop.body):
            slot, parity, *held = loop.inner_iter_args
            key = loop.induction_variable
            WaitPhaseOp.create(self.phases, slot, parity)
            BarrierOp.create()  # everybody has read the other slot
            other = arith.SubIOp(index_constant(1), slot).result
            self._fetch(other, added(key, MATRIX_ATTENTION_KEYS), end)
            scores = self._scored(self._products(words, slot), key)
            tops, totals, shrinks = self._weigh(scores, held[:2], held[2:4])
            left = [w for term in range(0, MATRIX_ATTENTION_KEYS, TERMS) for w in self._weights(scores, term)]
            sums = MultiplyWordsOp.create(
                left, (self.memory, self._place(slot, 1)), shrunk(held[4:], shrinks), self.boxes[1].by_terms,
                self.boxes[1].kind,
            )  # fmt: skip
            is_last = arith.CmpIOp(
                arith.CmpIPredicate.eq, slot, index_constant(WARPGROUP_ATTENTION_SLOTS - 1)
            ).result
            turned = arith.XOrIOp(parity, constant(word, 1)).result
            parity = arith.SelectOp(is_last, turned, parity).result
            scf.YieldOp([other, parity, *tops, *totals, *sums])
        return list(loop.results)[2:]

    def _products(self, words: list[ir.Value], slot: ir.Value) -> list[list[ir.Value]]:
        """Of 64 queries and 64 keys: four of each eight keys."""
        nothing = [constant(self.shape.element, 0)] * (MATRIX_ATTENTION_KEYS // 2)
        boxes = self.boxes[0]
        found = MultiplyWordsOp.create(
            words, (self.memory, self._place(slot, 0)), nothing, boxes.by_terms, boxes.kind
        )
        return [found[n : n + QUAD] for n in range(0, len(found), QUAD)]

    def _place(self, slot: ir.Value, n: int) -> ir.Value:
        """Where the keys or values of a slot begin."""
        return added(scaled(slot, sum(self.words)), n * self.words[0])


def _whole(count: int) -> int:
    """In panels."""
    return -(-count // WARPGROUP_ROWS) * WARPGROUP_ROWS
