"""Atomics as llvm.atomicrmw and llvm.cmpxchg; on memory of one thread as load, op, store."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith, memref, scf

from pykern.dialect import attributes as kern
from pykern.passes import kernels
from pykern.passes.framework import Pass
from pykern.passes.ir.reduction import atomic_result
from pykern.passes.ir.values import made_by
from pykern.passes.ir.word_conversions import as_bits
from pykern.passes.kernels import index_constant, named, replace

RMW_OF_INTEGERS = {
    "add": "add", "sub": "sub", "min": "min", "max": "max", "umin": "umin", "umax": "umax",
    "and": "_and", "or": "_or", "xor": "_xor", "exchange": "xchg",
}  # fmt: skip
RMW_OF_FLOATS = {"add": "fadd", "sub": "fsub", "min": "fminimum", "max": "fmaximum", "exchange": "xchg"}
"""LLVM's words for the kinds of `kern.atomic_rmw`."""


@dataclass(frozen=True)
class LowerAtomics(Pass):
    """Turn `kern.atomic_rmw` and `kern.atomic_cas` into what LLVM has.

    In:  loops; shared memory is already a buffer of the thread.
    Out: llvm.atomicrmw / llvm.cmpxchg on arguments, plain loads and stores on local buffers. An atomic
         marked `kern.launch_scope` is one among the work-items of its launch: where the function does all of
         them, one after the other, it is plain as well.
    """

    name: ClassVar[str] = "kern-lower-atomics"
    looks_for: ClassVar[tuple[str, ...]] = ("kern.atomic_",)

    def run(self, module: ir.Module) -> None:
        for kernel in kernels.kernels(module):
            found = named(kernel, "kern.atomic_rmw", "kern.atomic_cas")
            alone = _is_alone(kernel) if any(kern.LAUNCH_SCOPE in op.attributes for op in found) else None
            for op in found:
                with ir.InsertionPoint(op), op.location:
                    if (
                        alone is not None
                        and kern.LAUNCH_SCOPE in op.attributes
                        and not _is_local(op.operands[1])
                    ):
                        old = _either(alone, op)
                    else:
                        old = _rmw(op) if op.name == "kern.atomic_rmw" else _cas(op)
                replace(op, [old])


def _is_alone(kernel: ir.Operation) -> ir.Value | None:
    """Whether this call of the function does the whole launch; None where that is not asked cheaply."""
    if kernels.integers(kernel, kern.WORKGROUP) is not None:
        return None
    arguments = list(kernels.body(kernel).arguments)
    lo, hi = arguments[-3:-1]
    counts = kernels.rank(kernel) * (1 if kern.PLAIN in kernel.attributes else 3)
    known = kernels.integers(kernel, kern.NDRANGE)
    with ir.InsertionPoint.at_block_begin(kernels.body(kernel)), kernel.location:
        count = arguments[len(arguments) - 3 - counts] if known is None else index_constant(known[0])
        first = arith.CmpIOp(arith.CmpIPredicate.eq, lo, index_constant(0)).result
        last = arith.CmpIOp(arith.CmpIPredicate.eq, hi, count).result
        return arith.AndIOp(first, last).result


def _either(alone: ir.Value, op: ir.Operation) -> ir.Value:
    """Plain where `alone`, else atomic."""
    branch = scf.IfOp(alone, [op.results[0].type], has_else=True)
    kind = ir.StringAttr(op.attributes["kind"]).value
    value, memory, *indices = op.operands
    with ir.InsertionPoint(branch.then_block):
        scf.YieldOp([_plain(kind, value, memory, indices)])
    with ir.InsertionPoint(branch.else_block):
        scf.YieldOp([_rmw(op)])
    return branch.results[0]


def _is_local(memory: ir.Value) -> bool:
    return made_by(memory, "memref.alloca", "memref.alloc") is not None


def _rmw(op: ir.Operation) -> ir.Value:
    kind = ir.StringAttr(op.attributes["kind"]).value
    value, memory, *indices = op.operands
    if _is_local(memory):
        return _plain(kind, value, memory, indices)
    word = (RMW_OF_FLOATS if isinstance(value.type, ir.FloatType) else RMW_OF_INTEGERS)[kind]
    pointer = element_pointer(memory, indices)
    parsed = f"llvm.atomicrmw {word} %p, %v acq_rel : !llvm.ptr, {value.type}"
    return _from_text(parsed, value.type, p=pointer, v=value)


def _plain(kind: str, value: ir.Value, memory: ir.Value, indices: list[ir.Value]) -> ir.Value:
    old = memref.LoadOp(memory, indices).result
    memref.StoreOp(atomic_result(kind, old, value), memory, indices)
    return old


def _cas(op: ir.Operation) -> ir.Value:
    expected, desired, memory, *indices = op.operands
    kind = expected.type
    if _is_local(memory):
        old = memref.LoadOp(memory, indices).result
        same = arith.CmpIOp(arith.CmpIPredicate.eq, as_bits(old), as_bits(expected)).result
        memref.StoreOp(arith.SelectOp(same, desired, old).result, memory, indices)
        return old
    pointer = element_pointer(memory, indices)
    bits = [as_bits(expected), as_bits(desired)]
    integer = bits[0].type
    text = f"llvm.cmpxchg %p, %a, %b acq_rel acquire : !llvm.ptr, {integer}"
    pair = _from_text(text, ir.Type.parse(f"!llvm.struct<({integer}, i1)>"), p=pointer, a=bits[0], b=bits[1])
    old = ir.Operation.create(
        "llvm.extractvalue", results=[integer], operands=[pair],
        attributes={"position": ir.DenseI64ArrayAttr.get([0])},
    ).result  # fmt: skip
    return old if integer == kind else arith.BitcastOp(kind, old).result


def element_pointer(memory: ir.Value, indices: list[ir.Value]) -> ir.Value:
    """The address of an element as !llvm.ptr."""
    kind = ir.MemRefType(memory.type)
    base = memref.ExtractAlignedPointerAsIndexOp(memory).result
    metadata = memref.ExtractStridedMetadataOp(memory)
    position = metadata.results[1]
    strides = list(metadata.results)[2 + kind.rank :]
    for index, stride in zip(indices, strides, strict=True):
        position = arith.AddIOp(position, arith.MulIOp(index, stride).result).result
    size = index_constant(max(1, kind.element_type.width // 8))
    address = arith.AddIOp(base, arith.MulIOp(position, size).result).result
    integer = arith.IndexCastOp(ir.IntegerType.get_signless(64), address).result
    return ir.Operation.create(
        "llvm.inttoptr", results=[ir.Type.parse("!llvm.ptr")], operands=[integer]
    ).result


def _from_text(text: str, result: ir.Type, **operands: ir.Value) -> ir.Value:
    """An llvm op given in its own syntax: the enums of its attributes need no table here."""
    arguments = ", ".join(f"%{name}: {value.type}" for name, value in operands.items())
    module = ir.Module.parse(f"llvm.func @f({arguments}) {{ %r = {text}\n llvm.return }}")
    op = module.body.operations[0].regions[0].blocks[0].operations[0].operation
    made = ir.Operation.create(
        op.name, results=[result], operands=list(operands.values()),
        attributes={name: op.attributes[name] for name in op.attributes.keys()},  # noqa: SIM118
    )  # fmt: skip
    return made.result
