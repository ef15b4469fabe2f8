"""How memref reads in Python: memrefs are `View`s."""

from __future__ import annotations

import numpy as np
from mlir import ir

from pykern.interpreter.emit import Emitter, NoReading, dtype_of, integers, rule
from pykern.interpreter.rules_arith import constant

DYNAMIC = ir.ShapedType.get_dynamic_size()
UNKNOWN_STRIDE = ir.ShapedType.get_dynamic_stride_or_offset()


@rule("memref.load")
def _load(e: Emitter, op: ir.Operation) -> None:
    memory, *index = map(e.name, op.operands)
    e.assign(op, f"{memory}.load({', '.join(index)})")


@rule("memref.store")
def _store(e: Emitter, op: ir.Operation) -> None:
    value, memory, *index = map(e.name, op.operands)
    e.line(f"{memory}.store({', '.join([value, *index])})")


@rule("memref.dim")
def _dim(e: Emitter, op: ir.Operation) -> None:
    memory, which = map(e.name, op.operands)
    e.assign(op, f"np.int64({memory}.sizes[int({which})])")


@rule("memref.alloca", "memref.alloc")
def _make(e: Emitter, op: ir.Operation) -> None:
    kind = ir.MemRefType(op.results[0].type)
    shared = "Workgroup" in str(kind.memory_space) or "workgroup" in str(kind.memory_space)
    make_buffer(e, op, "it.shared" if shared else "it.private")


def make_buffer(e: Emitter, op: ir.Operation, maker: str) -> None:
    """A buffer of the op's type; operands are lengths that are not known."""
    kind = ir.MemRefType(op.results[0].type)
    given = iter(map(e.name, op.operands))
    sizes = ", ".join(f"int({next(given)})" if n == DYNAMIC else str(n) for n in kind.shape)
    key = e.object(object(), "key")
    e.assign(op, f"{maker}({key}, ({sizes}{',' if kind.shape else ''}), {e.dtype(kind)})")


@rule("memref.dealloc", "memref.assume_alignment", "memref.distinct_objects")
def _nothing(e: Emitter, op: ir.Operation) -> None:
    for result, operand in zip(op.results, op.operands, strict=False):
        e.line(f"{e.name(result)} = {e.name(operand)}")


@rule("memref.get_global")
def _global(e: Emitter, op: ir.Operation) -> None:
    symbol = ir.FlatSymbolRefAttr(op.attributes["name"]).value
    found = e.globals[symbol]
    if "initial_value" not in found.attributes or not isinstance(
        found.attributes["initial_value"], ir.DenseElementsAttr
    ):
        raise NoReading(f"the global `{symbol}` has no value")
    values = constant(found.attributes["initial_value"], op.results[0].type)
    e.assign(op, f"it.constant({e.object(np.ascontiguousarray(values))})")


@rule("memref.cast", "memref.memory_space_cast")
def _cast(e: Emitter, op: ir.Operation) -> None:
    e.assign(op, e.name(op.operands[0]))


@rule("memref.extract_aligned_pointer_as_index")
def _pointer(e: Emitter, op: ir.Operation) -> None:
    e.assign(op, f"np.int64({e.name(op.operands[0])}.address)")


@rule("memref.extract_strided_metadata")
def _metadata(e: Emitter, op: ir.Operation) -> None:
    memory = e.name(op.operands[0])
    rank = len(ir.MemRefType(op.operands[0].type).shape)
    base, offset, *rest = map(e.name, op.results)
    e.line(f"{base} = View({memory}.memory, {memory}.address, {memory}.dtype, (), ())")
    e.line(f"{offset} = np.int64(0)")
    for n in range(rank):
        e.line(f"{rest[n]} = np.int64({memory}.sizes[{n}])")
        e.line(f"{rest[rank + n]} = np.int64({memory}.strides[{n}])")


def mixed(e: Emitter, op: ir.Operation, name: str, given) -> list[str]:
    """Integers that are attributes or, where those say so, operands."""
    found = []
    for value in integers(op, name):
        found.append(f"int({next(given)})" if value in (DYNAMIC, UNKNOWN_STRIDE) else str(value))
    return found


@rule("memref.reinterpret_cast")
def _reinterpret(e: Emitter, op: ir.Operation) -> None:
    memory, *others = map(e.name, op.operands)
    given = iter(others)
    offsets = mixed(e, op, "static_offsets", given)
    sizes, strides = mixed(e, op, "static_sizes", given), mixed(e, op, "static_strides", given)
    address = f"{memory}.address + {offsets[0]} * {memory}.dtype.itemsize"
    e.assign(op, f"View({memory}.memory, {address}, {memory}.dtype, {_tuple(sizes)}, {_tuple(strides)})")


@rule("memref.subview")
def _subview(e: Emitter, op: ir.Operation) -> None:
    memory, *others = map(e.name, op.operands)
    given = iter(others)
    offsets = mixed(e, op, "static_offsets", given)
    sizes, strides = mixed(e, op, "static_sizes", given), mixed(e, op, "static_strides", given)
    if len(sizes) != len(ir.MemRefType(op.results[0].type).shape):
        raise NoReading("`memref.subview` that drops dimensions has no reading")
    steps = [f"{n} * {memory}.strides[{d}]" for d, n in enumerate(strides)]
    e.assign(
        op,
        f"View({memory}.memory, {memory}.at({', '.join(offsets)}), {memory}.dtype, {_tuple(sizes)}, {_tuple(steps)})",
    )


def _tuple(items: list[str]) -> str:
    return f"({''.join(f'{item}, ' for item in items)})"


@rule("memref.atomic_rmw")
def _atomic(e: Emitter, op: ir.Operation) -> None:
    kinds = {0: "add", 1: "add", 2: "and", 3: "exchange", 4: "max", 5: "max", 6: "max", 7: "umax", 8: "min",
             9: "min", 10: "min", 11: "umin", 12: "mul", 13: "mul", 14: "or", 15: "xor"}  # fmt: skip
    value, memory, *index = map(e.name, op.operands)
    kind = kinds[ir.IntegerAttr(op.attributes["kind"]).value]
    changed = f"lambda old, new={value}: nb.COMBINE[{kind!r}](old, new)"
    e.assign(op, f"{memory}.change({', '.join([changed, *index])})")


@rule("builtin.unrealized_conversion_cast")
def _convert(e: Emitter, op: ir.Operation) -> None:
    """Between descriptors and memrefs, and between index and i64."""
    value, kind = op.operands[0], op.results[0].type
    if isinstance(kind, ir.MemRefType):
        rank = len(ir.MemRefType(kind).shape)
        e.assign(op, f"it.view({e.name(value)}, {e.object(dtype_of(kind))}, {rank})")
    elif isinstance(value.type, ir.MemRefType):
        e.assign(op, f"it.descriptor({e.name(value)})")
    else:
        e.assign(op, e.name(value))
