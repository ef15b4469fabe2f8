"""Tapes: blocks of 64-bit words on the heap that double when they are full.

A kernel that knows groups has a tape a work-item. Elsewhere work-items run one after the other, or W side
by side, and give their tape back as they found it: a thread has one for all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith, func, llvm, memref, scf

from pykern.dialect.memory import PrivateOp
from pykern.lowering.llvm.scratch import RELEASE, RESIZE
from pykern.passes import kernels
from pykern.passes.analysis.cost_model.memory import FEWEST_TAPE_WORDS
from pykern.passes.framework import Pass
from pykern.passes.ir.word_conversions import from_word, to_word
from pykern.passes.kernels import GROUP_OPS, index_constant, named, replace

GROW = "pykern.tape_grow"
BASE, USED, CAPACITY = range(3)


@dataclass(frozen=True)
class LowerTapes(Pass):
    """Turn `kern.push` and `kern.pop` into loads and stores, and calls of realloc.

    In:  a kernel as loops; with `groups`, at the work-item level, and only kernels that know groups.
    Out: the same with three words of memory of its own (address, words used, words there), set at the top
         of the function and freed at its end; with `groups`, of private memory of the work-item.
    """

    name: ClassVar[str] = "kern-lower-tapes"
    looks_for: ClassVar[tuple[str, ...]] = ("kern.push", "kern.pop")
    groups: bool = False

    def run(self, module: ir.Module) -> None:
        for kernel in list(kernels.kernels(module)):
            found = named(kernel, "kern.push", "kern.pop")
            if not found or (self.groups and not named(kernel, *GROUP_OPS)):
                continue
            _declare(module)
            tape = self._begin(kernel)
            for op in found:
                with ir.InsertionPoint(op), op.location:
                    if op.name == "kern.push":
                        _push(tape, op.operands[0])
                        op.erase()
                    else:
                        replace(op, [_pop(tape, op.results[0].type)])

    def _begin(self, kernel: ir.Operation) -> ir.Value:
        block = kernels.body(kernel)
        with ir.InsertionPoint.at_block_begin(block), kernel.location:
            words = ir.MemRefType.get([3], _i64())
            tape = PrivateOp.create((3,), _i64()) if self.groups else memref.AllocaOp(words, [], []).result
            for word in (BASE, USED, CAPACITY):
                _put(tape, word, _integer(0))
        with ir.InsertionPoint(block.operations[len(block.operations) - 1]), kernel.location:
            llvm.call(None, [_pointer(_get(tape, BASE))], [], [], callee=RELEASE)
        return tape


def _push(tape: ir.Value, value: ir.Value) -> None:
    bits = _bits(value)
    used, capacity = _get(tape, USED), _get(tape, CAPACITY)
    after = arith.AddIOp(used, _integer(_words(bits.type))).result
    full = arith.CmpIOp(arith.CmpIPredicate.sgt, after, capacity).result
    branch = scf.IfOp(full)
    with ir.InsertionPoint(branch.then_block):
        doubled = arith.AddIOp(arith.AddIOp(capacity, capacity).result, _integer(FEWEST_TAPE_WORDS)).result
        grown = func.CallOp([_i64()], GROW, [_get(tape, BASE), doubled]).results[0]
        _put(tape, BASE, grown)
        _put(tape, CAPACITY, doubled)
        scf.YieldOp([])
    word = _word(tape, used)
    ir.Operation.create("llvm.store", operands=[bits, word], attributes=_aligned())
    _put(tape, USED, after)


def _pop(tape: ir.Value, kind: ir.Type) -> ir.Value:
    stored = _stored(kind)
    used = arith.SubIOp(_get(tape, USED), _integer(_words(stored))).result
    _put(tape, USED, used)
    load = ir.Operation.create(
        "llvm.load", results=[stored], operands=[_word(tape, used)], attributes=_aligned()
    )
    return _number(load.result, kind)


def _declare(module: ir.Module) -> None:
    """What makes a piece of memory larger and gives it back, and a step to the first that stays out of loops."""
    known = kernels.symbols(module)
    if GROW in known:
        return
    pointer, word = ir.Type.parse("!llvm.ptr"), _i64()
    with ir.InsertionPoint.at_block_begin(module.body), ir.Location.unknown():
        func.FuncOp(RESIZE, ir.FunctionType.get([pointer, word], [pointer]), visibility="private")
        if RELEASE not in known:  # as the lowering of memref declares it, which looks for it
            parsed = ir.Module.parse(f"llvm.func @{RELEASE}(!llvm.ptr)")
            parsed.body.operations[0].operation.clone()
        grow = func.FuncOp(GROW, ir.FunctionType.get([word, word], [word]))
        grow.operation.attributes["passthrough"] = ir.ArrayAttr.get([ir.StringAttr.get("noinline")])
        with ir.InsertionPoint(grow.add_entry_block()):
            base, words = grow.arguments
            size = arith.MulIOp(words, _integer(8)).result
            moved = func.CallOp([pointer], RESIZE, [_pointer(base), size]).results[0]
            address = ir.Operation.create("llvm.ptrtoint", results=[word], operands=[moved]).result
            func.ReturnOp([address])


def _word(tape: ir.Value, number: ir.Value) -> ir.Value:
    offset = arith.MulIOp(number, _integer(8)).result
    return _pointer(arith.AddIOp(_get(tape, BASE), offset).result)


def _pointer(address: ir.Value) -> ir.Value:
    return ir.Operation.create(
        "llvm.inttoptr", results=[ir.Type.parse("!llvm.ptr")], operands=[address]
    ).result


def _get(tape: ir.Value, word: int) -> ir.Value:
    return memref.LoadOp(tape, [index_constant(word)]).result


def _put(tape: ir.Value, word: int, value: ir.Value) -> None:
    memref.StoreOp(value, tape, [index_constant(word)])


def _stored(kind: ir.Type) -> ir.Type:
    """As what a number lies on the tape: a word, or the lanes of a vector side by side."""
    if not isinstance(kind, ir.VectorType):
        return _i64()
    element = kind.element_type
    width = 64 if isinstance(element, ir.IndexType) else max(8, element.width)
    same = isinstance(element, ir.FloatType)
    return ir.VectorType.get(kind.shape, element if same else ir.IntegerType.get_signless(width))


def _words(stored: ir.Type) -> int:
    if not isinstance(stored, ir.VectorType):
        return 1
    return -(-stored.shape[0] * stored.element_type.width // 64)


def _bits(value: ir.Value) -> ir.Value:
    """A number, or a vector of numbers, as it lies on the tape."""
    kind = value.type
    stored = _stored(kind)
    if isinstance(kind, ir.VectorType):
        element = kind.element_type
        if isinstance(element, ir.IndexType):
            return arith.IndexCastOp(stored, value).result
        return value if kind == stored else arith.ExtUIOp(stored, value).result
    return to_word(value)


def _number(bits: ir.Value, kind: ir.Type) -> ir.Value:
    """`_bits` undone."""
    if isinstance(kind, ir.VectorType):
        if isinstance(kind.element_type, ir.IndexType):
            return arith.IndexCastOp(kind, bits).result
        return bits if bits.type == kind else arith.TruncIOp(kind, bits).result
    return from_word(bits, kind)


def _i64() -> ir.Type:
    return ir.IntegerType.get_signless(64)


def _integer(value: int) -> ir.Value:
    return arith.ConstantOp(_i64(), value).result


def _aligned() -> dict[str, ir.Attribute]:
    return {"alignment": ir.IntegerAttr.get(_i64(), 8)}
