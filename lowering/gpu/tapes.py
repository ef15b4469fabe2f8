"""Tapes of device kernels: memory of a size that is known before the code that reads it runs.

A device has no heap. Where every push stands in loops of constant length, the size is known here: a small tape
is private memory, a larger one memory that the launch brings. Else the launch brings memory of some size, and
finds out what is needed: a push beyond the end is counted and not made, and a work-item that counted too much
tells so and does not begin to pop. Slot k of work-item i lies at ``k * items + i``: neighbours side by side.

In: `kern.push` and `kern.pop`. Out: loads and stores. What the launch does is in `pykern.launching.device_tape`; the
arguments are told in `pykern.data.abi`, "Device code".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith, memref, scf

from pykern.data.artifact import TapeUse
from pykern.dialect import attributes as kern
from pykern.dialect.collectives import CONVERGENT, GroupReduceOp
from pykern.dialect.diagnostics import span_of
from pykern.dialect.index_space import GroupIdOp, GroupSizeOp, LocalLinearIdOp, NumGroupsOp
from pykern.dialect.memory import PrivateOp
from pykern.errors import TargetError
from pykern.lowering.gpu.tape_size import known_words, told_by_slots
from pykern.passes import kernels
from pykern.passes.analysis.cost_model.memory import PRIVATE_TAPE_WORDS
from pykern.passes.framework import Pass
from pykern.passes.ir.word_conversions import from_word, to_word
from pykern.passes.kernels import index_constant, named, replace, update_type
from pykern.passes.remarks import remark

PUSH, POP = "kern.push", "kern.pop"
USED, ITEM = 0, 1
BUFFERS = ("kern.shared", "kern.private")


@dataclass(frozen=True)
class PlaceTapes(Pass):
    """Give each kernel with pushes its tape.

    In:  kernels before work-items are placed.
    Out: the same with a private buffer for the tape, or arguments for it behind all others; where the size is
         not known, what pops stands in an `scf.if` that is taken where everything was pushed, by the whole group
         where there are barriers in it.
    """

    name: ClassVar[str] = "kern-place-tapes"
    private_words: int = PRIVATE_TAPE_WORDS

    def run(self, module: ir.Module) -> None:
        for kernel in kernels.kernels(module):
            if named(kernel, PUSH, POP):
                _place(kernel, self.private_words)


def _place(kernel: ir.Operation, private_words: int) -> None:
    block = kernels.body(kernel)
    first = block.operations[0].operation
    words = known_words(kernel)
    remark(kernel, _told(words, private_words))
    with ir.InsertionPoint(first), kernel.location:
        state = PrivateOp.create((2,), ir.IndexType.get())
        state.owner.operation.attributes[kern.TAPE_STATE] = ir.UnitAttr.get()
        memref.StoreOp(index_constant(0), state, [index_constant(USED)])
        if words is not None and words <= private_words:
            slots = PrivateOp.create((max(1, words),), _i64())
            slots.owner.operation.attributes[kern.TAPE_SLOTS] = ir.UnitAttr.get()
            return
    fixed = words is not None or told_by_slots(kernel)
    kernel.attributes[kern.TAPE] = ir.DenseI64ArrayAttr.get([words or 0, int(fixed)])
    kernel.attributes[kern.TAPE_SLOTS] = ir.IntegerAttr.get(_i64(), len(list(block.arguments)))
    dynamic = ir.ShapedType.get_dynamic_size()
    tape = block.add_argument(ir.MemRefType.get([dynamic, dynamic], _i64()), kernel.location)
    begin = block.add_argument(ir.IndexType.get(), kernel.location)
    with ir.InsertionPoint(first), kernel.location:
        item = arith.SubIOp(_number(kernels.rank(kernel)), begin).result
        memref.StoreOp(item, state, [index_constant(ITEM)])
    if words is None:
        need = block.add_argument(ir.MemRefType.get([1], _i32()), kernel.location)
        _guard_pops(block, _Counted(tape, state, need))
    update_type(kernel)


def _told(words: int | None, private_words: int) -> str:
    if words is None:
        return "the tape of a work-item has a size that launches count"
    where = "private memory" if words <= private_words else "memory that the launch brings"
    return f"the tape of a work-item has {words} words, in {where}"


def _number(rank: int) -> ir.Value:
    """The work-item's number in the launch, group by group: neighbours in a group are neighbours."""
    group, size = GroupIdOp.create(0), GroupSizeOp.create(0)
    for dim in range(1, rank):
        group = arith.AddIOp(
            arith.MulIOp(group, NumGroupsOp.create(dim)).result, GroupIdOp.create(dim)
        ).result
        size = arith.MulIOp(size, GroupSizeOp.create(dim)).result
    return arith.AddIOp(arith.MulIOp(group, size).result, LocalLinearIdOp.create()).result


@dataclass(frozen=True)
class _Counted:
    tape: ir.Value
    state: ir.Value
    need: ir.Value


def _guard_pops(block: ir.Block, counted: _Counted) -> None:
    """Put everything from the first pop on into a branch; where a branch pushes and pops, within it too."""
    ops = [o.operation for o in block.operations]
    end = ops.pop()
    for number, op in enumerate(ops):
        if op.name != POP and not named(op, POP):
            continue
        if named(op, PUSH):
            for region in op.regions:
                for inner in region.blocks:
                    _guard_pops(inner, counted)
            continue
        _guard(ops[number:], end, counted)
        return


def _guard(segment: list[ir.Operation], end: ir.Operation, counted: _Counted) -> None:
    late = [op for op in segment if op.name == PUSH or named(op, PUSH)]
    if late:
        raise TargetError("a tape is written again after it was read", span_of(late[0].location))
    crossing = [r for op in segment for r in op.results if any(u.owner.operation == end for u in r.uses)]
    with ir.InsertionPoint(segment[0]), segment[0].location:
        fits = _fits(counted)
        if any(named(op, *CONVERGENT) or op.name in CONVERGENT for op in segment):
            all_fit = GroupReduceOp.create("and", arith.ExtUIOp(_i32(), fits).result)
            fits = arith.CmpIOp(arith.CmpIPredicate.ne, all_fit, _constant(_i32(), 0)).result
        branch = scf.IfOp(fits, [v.type for v in crossing], has_else=bool(crossing))
    with ir.InsertionPoint(branch.then_block), end.location:
        last = scf.YieldOp(crossing).operation
    if crossing:
        with ir.InsertionPoint(branch.else_block), end.location:
            scf.YieldOp([_constant(v.type, 0) for v in crossing])
    for op in segment:
        op.move_before(branch.operation if op.name in BUFFERS else last)
    for value, result in zip(crossing, branch.results, strict=True):
        for use in [u for u in value.uses if u.owner.operation == end]:
            end.operands[use.operand_number] = result


def _fits(counted: _Counted) -> ir.Value:
    """Whether all pushes were made; where not, the launch is told how many there were."""
    used = memref.LoadOp(counted.state, [index_constant(USED)]).result
    capacity = memref.DimOp(counted.tape, index_constant(0)).result
    fits = arith.CmpIOp(arith.CmpIPredicate.ule, used, capacity).result
    branch = scf.IfOp(fits, has_else=True)
    with ir.InsertionPoint(branch.then_block):
        scf.YieldOp([])
    with ir.InsertionPoint(branch.else_block):
        most = arith.MinUIOp(used, index_constant(2**31 - 1)).result
        ir.Operation.create(
            "kern.atomic_rmw",
            results=[_i32()],
            operands=[arith.IndexCastOp(_i32(), most).result, counted.need, index_constant(0)],
            attributes={"kind": ir.StringAttr.get("max")},
        )
        scf.YieldOp([])
    return fits


@dataclass(frozen=True)
class LowerDeviceTapes(Pass):
    """Turn `kern.push` and `kern.pop` into stores and loads.

    In:  kernels whose tapes are placed; guards are split, for a push is one op to that pass.
    Out: no pushes and pops.
    """

    name: ClassVar[str] = "kern-lower-device-tapes"

    def run(self, module: ir.Module) -> None:
        for kernel in kernels.kernels(module):
            found = named(kernel, PUSH, POP)
            if not found:
                continue
            tape = _Tape(kernel)
            for op in found:
                with ir.InsertionPoint(op), op.location:
                    if op.name == PUSH:
                        tape.push(op.operands[0])
                        op.erase()
                    else:
                        replace(op, [tape.pop(op.results[0].type)])


class _Tape:
    def __init__(self, kernel: ir.Operation) -> None:
        buffers = named(kernel, "kern.private")
        self.state = _marked(kernel, buffers, kern.TAPE_STATE)
        use = tape_use(kernel)
        self.brought = use is not None
        self.counted = use is not None and use.words == 0
        if self.brought:
            self.memory = kernels.body(kernel).arguments[
                ir.IntegerAttr(kernel.attributes[kern.TAPE_SLOTS]).value
            ]
        else:
            self.memory = _marked(kernel, buffers, kern.TAPE_SLOTS)

    def push(self, value: ir.Value) -> None:
        used = self._state(USED)
        if self.counted:
            capacity = memref.DimOp(self.memory, index_constant(0)).result
            branch = scf.IfOp(arith.CmpIOp(arith.CmpIPredicate.ult, used, capacity).result)
            with ir.InsertionPoint(branch.then_block):
                memref.StoreOp(to_word(value), self.memory, self._place(used))
                scf.YieldOp([])
        else:
            memref.StoreOp(to_word(value), self.memory, self._place(used))
        after = arith.AddIOp(used, index_constant(1)).result
        memref.StoreOp(after, self.state, [index_constant(USED)])

    def pop(self, kind: ir.Type) -> ir.Value:
        used = arith.SubIOp(self._state(USED), index_constant(1)).result
        memref.StoreOp(used, self.state, [index_constant(USED)])
        return from_word(memref.LoadOp(self.memory, self._place(used)).result, kind)

    def _place(self, slot: ir.Value) -> list[ir.Value]:
        return [slot, self._state(ITEM)] if self.brought else [slot]

    def _state(self, word: int) -> ir.Value:
        return memref.LoadOp(self.state, [index_constant(word)]).result


def _marked(kernel: ir.Operation, buffers: list[ir.Operation], mark: str) -> ir.Value:
    """The buffer that `PlaceTapes` marked."""
    for op in buffers:
        if mark in op.attributes:
            return op.result
    raise kernels.comes_after(
        kernel, f"kernels with a buffer marked `{mark}` for their tape", "kern-place-tapes"
    )


def tape_use(entry: ir.Operation) -> TapeUse | None:
    """What a lowered kernel's launch has to bring."""
    told = kernels.integers(entry, kern.TAPE)
    return None if told is None else TapeUse(told[0], bool(told[1]))


def _constant(kind: ir.Type, value: int) -> ir.Value:
    if isinstance(kind, ir.FloatType):
        return arith.ConstantOp(kind, ir.FloatAttr.get(kind, float(value))).result
    return arith.ConstantOp(kind, ir.IntegerAttr.get(kind, value)).result


def _i32() -> ir.Type:
    return ir.IntegerType.get_signless(32)


def _i64() -> ir.Type:
    return ir.IntegerType.get_signless(64)
