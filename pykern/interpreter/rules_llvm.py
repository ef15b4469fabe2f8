"""How the llvm dialect reads in Python: pointers are addresses, structs are `Aggregate`s."""

from __future__ import annotations

import re

from mlir import ir

from pykern.interpreter.emit import Emitter, NoReading, integers, rule, template
from pykern.interpreter.rules_arith import Aggregate, constant
from pykern.interpreter.rules_memref import DYNAMIC
from pykern.interpreter.rules_pointer import atomic

template("{0}.astype(np.int64)", "llvm.ptrtoint", "llvm.inttoptr")
template("{0}", "llvm.freeze", "llvm.addrspacecast")

ANY_INDEX = -(2**31)
"""In the constant indices of a getelementptr: an operand."""


@rule("llvm.insertvalue")
def _put(e: Emitter, op: ir.Operation) -> None:
    whole, part = map(e.name, op.operands)
    e.assign(op, f"{whole}.put({', '.join([part, *map(str, integers(op, 'position'))])})")


@rule("llvm.extractvalue")
def _take(e: Emitter, op: ir.Operation) -> None:
    e.assign(op, f"{e.name(op.operands[0])}.take({', '.join(map(str, integers(op, 'position')))})")


@rule("llvm.getelementptr")
def _address(e: Emitter, op: ir.Operation) -> None:
    base, *others = map(e.name, op.operands)
    given, kind = iter(others), str(ir.TypeAttr(op.attributes["elem_type"]).value)
    steps = []
    for level, place in enumerate(integers(op, "rawConstantIndices")):
        index = next(given) if place in (ANY_INDEX, DYNAMIC) else str(place)
        if level:
            kind = inner(kind)
        steps.append(f"np.int64({index}) * {size_of(kind)}")
    e.assign(op, " + ".join([base, *steps]))


def inner(kind: str) -> str:
    """The element type of an array type."""
    match = re.fullmatch(r"!llvm\.array<\d+ x (.*)>", kind)
    if match is None:
        raise NoReading(f"an address inside of {kind} has no reading")
    return match[1]


def size_of(kind: str) -> int:
    """Bytes of a type."""
    if match := re.fullmatch(r"!llvm\.array<(\d+) x (.*)>", kind):
        return int(match[1]) * size_of(match[2])
    if match := re.fullmatch(r"vector<(\d+)x(.*)>", kind):
        return int(match[1]) * size_of(match[2])
    if kind in ("!llvm.ptr", "index", "ptr"):
        return 8
    if match := re.fullmatch(r"(?:b?f|i)(\d+)", kind):
        return max(1, int(match[1]) // 8)
    raise NoReading(f"the size of {kind} is not known")


@rule("llvm.intr.masked.load")
def _masked_load(e: Emitter, op: ir.Operation) -> None:
    pointer, mask, *other = map(e.name, op.operands)
    kind = e.dtype(op.results[0].type)
    place = f"int({pointer}) + n * {kind}.itemsize"
    otherwise = f"{other[0]}[n]" if other else f"{kind}.type(0)"
    e.assign(
        op,
        f"np.array([it.memory.load({place}, {kind}) if m else {otherwise} for n, m in enumerate({mask})], {kind})",
    )


@rule("llvm.intr.masked.store")
def _masked_store(e: Emitter, op: ir.Operation) -> None:
    value, pointer, mask = map(e.name, op.operands)
    kind = e.dtype(op.operands[0].type)
    with e.block(f"for n, (m, x) in enumerate(zip({mask}, {value})):"):
        e.line(f"if m: it.memory.store(x, int({pointer}) + n * {kind}.itemsize, {kind})")


@rule("llvm.intr.masked.gather")
def _gather(e: Emitter, op: ir.Operation) -> None:
    pointers, mask, *other = map(e.name, op.operands)
    kind = e.dtype(op.results[0].type)
    otherwise = f"{other[0]}[n]" if other else f"{kind}.type(0)"
    items = f"it.memory.load(int(p), {kind}) if m else {otherwise} for n, (p, m) in enumerate(zip({pointers}, {mask}))"
    e.assign(op, f"np.array([{items}], {kind})")


@rule("llvm.intr.memcpy", "llvm.intr.memcpy.inline", "llvm.intr.memmove")
def _copy(e: Emitter, op: ir.Operation) -> None:
    target, origin, size = map(e.name, list(op.operands)[:3])
    e.line(f"it.memory.store_many(it.memory.load_many(int({origin}), np.dtype(np.uint8), int({size})), "
           f"int({target}), np.dtype(np.uint8))")  # fmt: skip


@rule("llvm.alloca")
def _make(e: Emitter, op: ir.Operation) -> None:
    kind = str(ir.TypeAttr(op.attributes["elem_type"]).value)
    e.assign(
        op, f"np.int64(it.raw({e.object(object(), 'key')}, int({e.name(op.operands[0])}) * {size_of(kind)}))"
    )


@rule("llvm.mlir.addressof")
def _global(e: Emitter, op: ir.Operation) -> None:
    symbol = ir.FlatSymbolRefAttr(op.attributes["global_name"]).value
    found = e.globals.get(symbol)
    if (
        found is None
        or "value" not in found.attributes
        or not isinstance(found.attributes["value"], ir.DenseElementsAttr)
    ):
        raise NoReading(f"the global `{symbol}` has no value")
    dense = ir.DenseElementsAttr(found.attributes["value"])
    e.assign(op, f"np.int64(it.constant({e.object(constant(dense, dense.type))}).address)")


@rule("llvm.atomicrmw")
def _atomic(e: Emitter, op: ir.Operation) -> None:
    kinds = {0: "exchange", 1: "add", 2: "sub", 3: "and", 5: "or", 6: "xor", 7: "max", 8: "min", 9: "umax",
             10: "umin", 11: "add", 12: "sub", 13: "max", 14: "min"}  # fmt: skip
    number = ir.IntegerAttr(op.attributes["bin_op"]).value
    if number not in kinds:
        raise NoReading("this kind of `llvm.atomicrmw` has no reading")
    atomic(e, op, kinds[number])


@rule("llvm.cmpxchg")
def _exchange(e: Emitter, op: ir.Operation) -> None:
    pointer, expected, desired = map(e.name, op.operands)
    kind, old = e.dtype(op.operands[1].type), e.fresh("old")
    e.line(f"{old} = it.memory.load(int({pointer}), {kind}).copy()")
    e.line(f"if {old} == {expected}: it.memory.store({desired}, int({pointer}), {kind})")
    e.assign(op, f"{e.object(Aggregate())}.put({old}, 0).put({old} == {expected}, 1)")
