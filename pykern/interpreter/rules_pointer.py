"""How loads, stores and atomics through pointers read in Python: the same in the llvm and the spirv dialect."""

from __future__ import annotations

from mlir import ir

from pykern.interpreter.emit import Emitter, is_vector, rule
from pykern.interpreter.rules_vector import shape_of


@rule("llvm.load", "spirv.Load")
def _load(e: Emitter, op: ir.Operation) -> None:
    pointer, kind = e.name(op.operands[0]), op.results[0].type
    if is_vector(kind):
        e.assign(op, f"it.memory.load_many(int({pointer}), {e.dtype(kind)}, {shape_of(kind)[0]})")
    else:
        e.assign(op, f"it.memory.load(int({pointer}), {e.dtype(kind)})")


@rule("llvm.store")
def _store_first(e: Emitter, op: ir.Operation) -> None:
    _store(e, op.operands[0], op.operands[1])


@rule("spirv.Store")
def _store_second(e: Emitter, op: ir.Operation) -> None:
    _store(e, op.operands[1], op.operands[0])


def _store(e: Emitter, value: ir.Value, pointer: ir.Value) -> None:
    many = "store_many" if is_vector(value.type) else "store"
    e.line(f"it.memory.{many}({e.name(value)}, int({e.name(pointer)}), {e.dtype(value.type)})")


def atomic(e: Emitter, op: ir.Operation, kind: str) -> None:
    """An op of a pointer and a value that combines what stands there with the value, and gives what stood there."""
    pointer, value = map(e.name, op.operands)
    dtype, old = e.dtype(op.operands[1].type), e.name(op.results[0])
    e.line(f"{old} = it.memory.load(int({pointer}), {dtype}).copy()")
    e.line(f"it.memory.store(nb.COMBINE[{kind!r}]({old}, {value}), int({pointer}), {dtype})")
