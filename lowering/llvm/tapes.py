"""The tape of a work-item: a block of 64-bit words on the heap that doubles when it is full."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith, func, memref, scf

from pykern.dialect.memory import PrivateOp
from pykern.passes import kernels
from pykern.passes.framework import Pass
from pykern.passes.kernels import index_constant, named, replace

GROW = "kern.tape_grow"
BASE, USED, CAPACITY = range(3)


@dataclass(frozen=True)
class LowerTapes(Pass):
    """Turn `kern.push` and `kern.pop` into loads and stores, and calls of realloc.

    In:  a kernel at the work-item level. Out: the same with three words of private memory (address,
         words used, words there), set at the top and freed at the end.
    """

    name: ClassVar[str] = "kern-lower-tapes"

    def run(self, module: ir.Module) -> None:
        for kernel in list(kernels.kernels(module)):
            found = named(kernel, "kern.push", "kern.pop")
            if not found:
                continue
            _declare(module)
            tape = _begin(kernel)
            for op in found:
                with ir.InsertionPoint(op), op.location:
                    if op.name == "kern.push":
                        _push(tape, op.operands[0])
                        op.erase()
                    else:
                        replace(op, [_pop(tape, op.results[0].type)])


def _begin(kernel: ir.Operation) -> ir.Value:
    block = kernels.body(kernel)
    with ir.InsertionPoint.at_block_begin(block), kernel.location:
        tape = PrivateOp.create((3,), _i64())
        for word in (BASE, USED, CAPACITY):
            _put(tape, word, _integer(0))
    with ir.InsertionPoint(block.operations[len(block.operations) - 1]), kernel.location:
        ir.Operation.create(
            "func.call", operands=[_pointer(_get(tape, BASE))],
            attributes={"callee": ir.FlatSymbolRefAttr.get("free")},
        )  # fmt: skip
    return tape


def _push(tape: ir.Value, value: ir.Value) -> None:
    used, capacity = _get(tape, USED), _get(tape, CAPACITY)
    full = arith.CmpIOp(arith.CmpIPredicate.eq, used, capacity).result
    branch = scf.IfOp(full)
    with ir.InsertionPoint(branch.then_block):
        doubled = arith.AddIOp(arith.AddIOp(capacity, capacity).result, _integer(64)).result
        grown = func.CallOp([_i64()], GROW, [_get(tape, BASE), doubled]).results[0]
        _put(tape, BASE, grown)
        _put(tape, CAPACITY, doubled)
        scf.YieldOp([])
    word = _word(tape, used)
    ir.Operation.create("llvm.store", operands=[_bits(value), word], attributes=_aligned())
    _put(tape, USED, arith.AddIOp(used, _integer(1)).result)


def _pop(tape: ir.Value, kind: ir.Type) -> ir.Value:
    used = arith.SubIOp(_get(tape, USED), _integer(1)).result
    _put(tape, USED, used)
    load = ir.Operation.create(
        "llvm.load", results=[_i64()], operands=[_word(tape, used)], attributes=_aligned()
    )
    return _number(load.result, kind)


def _declare(module: ir.Module) -> None:
    """libc's realloc and free, and the step between them and the kernel, which stays out of its loops."""
    known = {ir.StringAttr(o.attributes["sym_name"]).value for o in module.body if "sym_name" in o.attributes}
    if GROW in known:
        return
    pointer, word = ir.Type.parse("!llvm.ptr"), _i64()
    with ir.InsertionPoint.at_block_begin(module.body), ir.Location.unknown():
        func.FuncOp("realloc", ir.FunctionType.get([pointer, word], [pointer]), visibility="private")
        func.FuncOp("free", ir.FunctionType.get([pointer], []), visibility="private")
        grow = func.FuncOp(GROW, ir.FunctionType.get([word, word], [word]))
        grow.operation.attributes["passthrough"] = ir.ArrayAttr.get([ir.StringAttr.get("noinline")])
        with ir.InsertionPoint(grow.add_entry_block()):
            base, words = grow.arguments
            size = arith.MulIOp(words, _integer(8)).result
            moved = func.CallOp([pointer], "realloc", [_pointer(base), size]).results[0]
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


def _bits(value: ir.Value) -> ir.Value:
    """A number as 64 bits."""
    kind = value.type
    if isinstance(kind, ir.IndexType):
        return arith.IndexCastOp(_i64(), value).result
    if isinstance(kind, ir.FloatType):
        value = arith.BitcastOp(ir.IntegerType.get_signless(kind.width), value).result
    return value if value.type == _i64() else arith.ExtUIOp(_i64(), value).result


def _number(bits: ir.Value, kind: ir.Type) -> ir.Value:
    if isinstance(kind, ir.IndexType):
        return arith.IndexCastOp(kind, bits).result
    narrow = ir.IntegerType.get_signless(kind.width)
    value = bits if narrow == _i64() else arith.TruncIOp(narrow, bits).result
    return arith.BitcastOp(kind, value).result if isinstance(kind, ir.FloatType) else value


def _i64() -> ir.Type:
    return ir.IntegerType.get_signless(64)


def _integer(value: int) -> ir.Value:
    return arith.ConstantOp(_i64(), value).result


def _aligned() -> dict[str, ir.Attribute]:
    return {"alignment": ir.IntegerAttr.get(_i64(), 8)}
