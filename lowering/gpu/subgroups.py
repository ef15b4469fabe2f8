"""Collectives by shuffles of a subgroup's lanes: `gpu.shuffle` on 32 bits, which every GPU has, or AMD's rows of lanes.

Sums are made in the shape of a tree, the same in every run. Everybody in the group meets at a collective
(`kern-split-guards` saw to it); lanes that the group does not have take no part. Where fewer lanes exchange values than
a subgroup has (some GPUs of WebGPU's), they do what they can by themselves, and memory of the group joins the results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith, memref, scf

from pykern.dialect.collectives import COLLECTIVES
from pykern.dialect.memory import SharedOp
from pykern.lowering.gpu import lane_rows
from pykern.lowering.gpu.grid import Grid, item_in_group
from pykern.passes import kernels
from pykern.passes.analysis.cost_model.devices import SUBGROUP_ITEMS
from pykern.passes.framework import Pass
from pykern.passes.ir.reduction import combine, kind_of, neutral
from pykern.passes.kernels import index_constant, named, replace

_REDUX = ("add", "min", "max", "umin", "umax", "and", "or", "xor")


@dataclass(frozen=True)
class LowerSubgroups(Pass):
    """Turn collectives into shuffles; those of the whole group take one cell of shared memory a subgroup.

    In:  kernels whose barriers and collectives are reached by the whole group.
    Out: gpu.shuffle, gpu.barrier; with `redux`, nvvm.redux.sync for integers of 32 bits; with `rows` ("cdna" or
         "rdna"), reductions by patterns of AMD's rows of 16 lanes. `kern.barrier` stays. With `lanes`, that many
         work-items exchange values, fewer than a subgroup has: then groups whose rows are not made of whole such
         parts, and shuffles between any two lanes, are left to `kern-lower-collectives`.
    """

    name: ClassVar[str] = "kern-lower-subgroups"
    powers: ClassVar[tuple[str, ...]] = ("subgroup_size",)
    subgroup_size: int = SUBGROUP_ITEMS
    lanes: int = 0
    redux: bool = False
    rows: str = ""

    def run(self, module: ir.Module) -> None:
        for kernel in kernels.kernels(module):
            found = named(kernel, *COLLECTIVES)
            if not found or (self.lanes and Grid(kernels.group(kernel)).block[0] % self.lanes):
                continue
            lanes = _Lanes(kernel, self)
            lowerings = _LOWERINGS if lanes.parts == 1 else _LOWERINGS_OF_PARTS
            for op in found:
                if op.name in lowerings:
                    with ir.InsertionPoint(op), op.location:
                        replace(op, [lowerings[op.name](lanes, op)])


class _Lanes:
    """Where the work-item stands among those that exchange values, and how many these are."""

    def __init__(self, kernel: ir.Operation, options: LowerSubgroups) -> None:
        self.kernel = kernel
        grid = Grid(kernels.group(kernel))
        self.total = grid.total
        self.hardware = options.lanes or options.subgroup_size
        self.size = min(self.hardware, self.total)
        self.parts = -(-min(options.subgroup_size, self.total) // self.size)  # of a subgroup
        self.redux, self.rows = options.redux, options.rows
        self.cells: dict[str, ir.Value] = {}
        with ir.InsertionPoint.at_block_begin(kernels.body(kernel)), kernel.location:
            item = item_in_group(grid, self.size)
            self.subgroup = arith.DivUIOp(item.number, index_constant(self.size)).result
        self.number, self.lane, self.base = item.number, item.lane, item.base

    @property
    def subgroups(self) -> int:
        return -(-self.total // self.size)

    @property
    def whole(self) -> bool:
        """Whether every subgroup has the same power of two of lanes."""
        return self.total % self.size == 0 and self.size & (self.size - 1) == 0

    def share(self, element: ir.Type) -> ir.Value:
        """One cell of shared memory a subgroup."""
        if str(element) not in self.cells:
            with ir.InsertionPoint.at_block_begin(kernels.body(self.kernel)), self.kernel.location:
                self.cells[str(element)] = SharedOp.create((self.subgroups,), element)
        return self.cells[str(element)]

    # -- shuffles --------------------------------------------------------------------------------

    def shuffle(self, value: ir.Value, mode: str, amount: ir.Value) -> ir.Value:
        """The value of another lane; `amount` is an i32."""
        return _by_words(value, lambda word: self._word(word, mode, amount))

    def _word(self, value: ir.Value, mode: str, amount: ir.Value) -> ir.Value:
        width = _constant(self.hardware)
        return ir.Operation.create(
            "gpu.shuffle",
            results=[value.type, ir.IntegerType.get_signless(1)],
            operands=[value, amount, width],
            attributes={"mode": ir.Attribute.parse(f"#gpu<shuffle_mode {mode}>")},
        ).results[0]

    def butterfly(self, kind: str, value: ir.Value, width: int) -> ir.Value:
        """Reduce stretches of `width` lanes, all of them there; every lane gets the result."""
        steps = [1 << n for n in range(width.bit_length() - 1)]
        for step in steps if self.rows else reversed(steps):  # rows want neighbours that hold the same
            value = combine(
                kind, value, _by_words(value, lambda word, step=step: self._exchanged(word, step))
            )
        return value

    def _exchanged(self, word: ir.Value, step: int) -> ir.Value:
        """The word of the lane whose number differs in the bit `step`."""
        moved = lane_rows.exchanged(word, step, self.rows == "rdna") if self.rows else None
        return self._word(word, "xor", _constant(step)) if moved is None else moved


def _reduce_subgroup(lanes: _Lanes, op: ir.Operation) -> ir.Value:
    return _reduced(lanes, kind_of(op), op.operands[0])


def _reduced(lanes: _Lanes, kind: str, value: ir.Value) -> ir.Value:
    if lanes.whole:
        in_hardware = lanes.redux and lanes.size == lanes.hardware and kind in _REDUX
        if in_hardware and value.type == ir.IntegerType.get_signless(32):
            return _redux(kind, value)
        return lanes.butterfly(kind, value, lanes.size)
    step = 1 << ((lanes.size - 1).bit_length() - 1)
    while step:
        other = lanes.shuffle(value, "down", _constant(step))
        place = arith.AddIOp(lanes.lane, index_constant(step)).result
        number = arith.AddIOp(lanes.number, index_constant(step)).result
        there = arith.AndIOp(
            _below(place, index_constant(lanes.size)), _below(number, index_constant(lanes.total))
        ).result
        value = combine(kind, value, arith.SelectOp(there, other, neutral(kind, value.type)).result)
        step //= 2
    return lanes.shuffle(value, "idx", _constant(0))


def _redux(kind: str, value: ir.Value) -> ir.Value:
    """One instruction of NVIDIA's, from sm_80 on."""
    return ir.Operation.create(
        "nvvm.redux.sync",
        results=[value.type],
        operands=[value, _constant(-1)],
        attributes={"kind": ir.Attribute.parse(f"#nvvm<redux_kind {kind}>")},
    ).result


def _reduce_group(lanes: _Lanes, op: ir.Operation) -> ir.Value:
    """A cell a subgroup; then every subgroup reduces the cells."""
    kind, count = kind_of(op), lanes.subgroups
    value = _reduced(lanes, kind, op.operands[0])
    if count == 1:
        return value
    cells = _told(lanes, value, 0)
    if not lanes.whole or count > lanes.size:
        found = [memref.LoadOp(cells, [index_constant(n)]).result for n in range(count)]
        value = found[0]
        for other in found[1:]:
            value = combine(kind, value, other)
        return value
    stretch = 1 << (count - 1).bit_length()  # every stretch of lanes reads all cells: all get the result
    cell = arith.RemUIOp(lanes.lane, index_constant(stretch)).result
    value = _found(cells, cell, _below(cell, index_constant(count)), kind)
    return lanes.butterfly(kind, value, stretch)


def _told(lanes: _Lanes, value: ir.Value, teller: int) -> ir.Value:
    """A cell a subgroup, with the value of the lane of this number."""
    cells = lanes.share(value.type)
    ir.Operation.create("gpu.barrier")  # what was there before has been read
    tells = arith.CmpIOp(arith.CmpIPredicate.eq, lanes.lane, index_constant(teller)).result
    branch = scf.IfOp(tells)
    with ir.InsertionPoint(branch.then_block):
        memref.StoreOp(value, cells, [lanes.subgroup])
        scf.YieldOp([])
    ir.Operation.create("gpu.barrier")
    return cells


def _scan(lanes: _Lanes, op: ir.Operation) -> ir.Value:
    kind = kind_of(op)
    value = _scanned(lanes, kind, op.operands[0])
    if op.name == "kern.subgroup_scan":
        return value
    return _behind(lanes, value, 1, neutral(kind, value.type))


def _scanned(lanes: _Lanes, kind: str, value: ir.Value) -> ir.Value:
    """Hillis and Steele: Data parallel algorithms, CACM 29 (1986)."""
    identity = neutral(kind, value.type)
    step = 1
    while step < lanes.size:
        value = combine(kind, _behind(lanes, value, step, identity), value)
        step *= 2
    return value


def _behind(lanes: _Lanes, value: ir.Value, step: int, identity: ir.Value) -> ir.Value:
    """The value `step` lanes before, or the neutral element."""
    there = arith.CmpIOp(arith.CmpIPredicate.uge, lanes.lane, index_constant(step)).result
    return arith.SelectOp(there, lanes.shuffle(value, "up", _constant(step)), identity).result


def _reduce_parts(lanes: _Lanes, op: ir.Operation) -> ir.Value:
    """Each part by itself; then every lane reduces the cells of its subgroup's parts."""
    kind = kind_of(op)
    part = _reduced(lanes, kind, op.operands[0])
    cells = _told(lanes, part, 0)
    value = None
    for cell, there in _cells_of_parts(lanes, lanes.parts):
        found = _found(cells, cell, there, kind)
        value = found if value is None else combine(kind, value, found)
    assert value is not None
    return value


def _scan_parts(lanes: _Lanes, op: ir.Operation) -> ir.Value:
    """Each part by itself; then the sums of the parts before it are added."""
    kind = kind_of(op)
    value = _scanned(lanes, kind, op.operands[0])
    cells = _told(lanes, value, lanes.size - 1)
    if op.name != "kern.subgroup_scan":
        value = _behind(lanes, value, 1, neutral(kind, value.type))
    before = neutral(kind, value.type)
    for cell, _ in _cells_of_parts(lanes, lanes.parts - 1):
        before = combine(kind, before, _found(cells, cell, _below(cell, lanes.subgroup), kind))
    return combine(kind, before, value)


def _cells_of_parts(lanes: _Lanes, count: int) -> Iterator[tuple[ir.Value, ir.Value | None]]:
    """The numbers of the first parts of the lane's subgroup, and whether the group has them: None for always."""
    parts = index_constant(lanes.parts)
    first = arith.SubIOp(lanes.subgroup, arith.RemUIOp(lanes.subgroup, parts).result).result
    for number in range(count):
        cell = arith.AddIOp(first, index_constant(number)).result
        always = lanes.subgroups % lanes.parts == 0
        yield cell, None if always else _below(cell, index_constant(lanes.subgroups))


def _found(cells: ir.Value, cell: ir.Value, there: ir.Value | None, kind: str) -> ir.Value:
    """What stands in a cell, or the neutral element."""
    if there is None:
        return memref.LoadOp(cells, [cell]).result
    found = memref.LoadOp(cells, [arith.SelectOp(there, cell, index_constant(0)).result]).result
    return arith.SelectOp(there, found, neutral(kind, found.type)).result


def _shuffle(lanes: _Lanes, op: ir.Operation) -> ir.Value:
    """A lane beyond the group's end gives the work-item's own value, as on the CPU."""
    value = op.operands[0]
    lane = arith.RemUIOp(op.operands[1], index_constant(lanes.size)).result
    number = arith.IndexCastOp(ir.IntegerType.get_signless(32), lane).result
    other = lanes.shuffle(value, "idx", number)
    if lanes.total % lanes.size == 0:
        return other
    there = _below(arith.AddIOp(lanes.base, lane).result, index_constant(lanes.total))
    return arith.SelectOp(there, other, value).result


def _below(a: ir.Value, b: ir.Value) -> ir.Value:
    return arith.CmpIOp(arith.CmpIPredicate.ult, a, b).result


def _constant(value: int) -> ir.Value:
    return arith.ConstantOp(ir.IntegerType.get_signless(32), value).result


def _by_words(value: ir.Value, move: Callable[[ir.Value], ir.Value]) -> ir.Value:
    """A value of any type that moves between lanes, 32 bits at a time."""
    i32, kind, bits = ir.IntegerType.get_signless(32), value.type, _to_bits(value)
    if bits.type.width > 32:
        half = arith.ConstantOp(bits.type, 32).result
        low = arith.TruncIOp(i32, bits).result
        high = arith.TruncIOp(i32, arith.ShRUIOp(bits, half).result).result
        low, high = (arith.ExtUIOp(bits.type, move(part)).result for part in (low, high))
        return _from_bits(arith.OrIOp(low, arith.ShLIOp(high, half).result).result, kind)
    if bits.type.width == 32:
        return _from_bits(move(bits), kind)
    moved = move(arith.ExtUIOp(i32, bits).result)
    return _from_bits(arith.TruncIOp(bits.type, moved).result, kind)


def _to_bits(value: ir.Value) -> ir.Value:
    if isinstance(value.type, ir.IndexType):
        return arith.IndexCastOp(ir.IntegerType.get_signless(64), value).result
    if isinstance(value.type, ir.FloatType):
        return arith.BitcastOp(ir.IntegerType.get_signless(value.type.width), value).result
    return value


def _from_bits(bits: ir.Value, kind: ir.Type) -> ir.Value:
    if bits.type == kind:
        return bits
    if isinstance(kind, ir.IndexType):
        return arith.IndexCastOp(kind, bits).result
    return arith.BitcastOp(kind, bits).result


_LOWERINGS = {
    "kern.group_reduce": _reduce_group,
    "kern.subgroup_reduce": _reduce_subgroup,
    "kern.subgroup_scan": _scan,
    "kern.subgroup_exclusive_scan": _scan,
    "kern.subgroup_shuffle": _shuffle,
    "kern.subgroup_broadcast": _shuffle,
}
_LOWERINGS_OF_PARTS = {
    "kern.group_reduce": _reduce_group,
    "kern.subgroup_reduce": _reduce_parts,
    "kern.subgroup_scan": _scan_parts,
    "kern.subgroup_exclusive_scan": _scan_parts,
}
"""Where a subgroup has several parts whose lanes exchange values."""
