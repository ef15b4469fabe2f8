"""Launches as functions on tensors, so that differentiation sees a call with arguments and results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, cast

from mlir import ir
from mlir.dialects import bufferization, func

from pykern.dialect import attributes as kern
from pykern.dialect.launch import LaunchOp
from pykern.passes.framework import Pass
from pykern.passes.kernels import named, programs


@dataclass(frozen=True)
class OutlineLaunches(Pass):
    """Move each launch into a function of its own.

    In:  programs on tensors, and functions that they call, that launch kernels on buffers of their tensors.
    Out: ``func.call @<kernel>.launch<n>`` on these tensors, which gives the arrays the kernel wrote.
    """

    name: ClassVar[str] = "kern-outline-launches"

    def run(self, module: ir.Module) -> None:
        number = 0
        helpers = [o.operation for o in module.body.operations if kern.HELPER in o.attributes]
        for function in (*programs(module), *helpers):
            for launch in named(function, "kern.launch"):
                _outline(module, launch, number)
                number += 1


def _outline(module: ir.Module, launch: ir.Operation, number: int) -> None:
    view = cast(LaunchOp, launch.opview)
    passed = list(view.call.operands)
    taken, slots = _slots(passed)
    arguments = [_tensor_of(v) for v in taken]
    readers = {n: reader for n, v in enumerate(taken) if (reader := _reader(v)) is not None}
    results = [arguments[n].type for n in readers]
    name = f"{view.kernel}.launch{number}"
    with ir.InsertionPoint(module.body), launch.location:
        kind = ir.FunctionType.get([a.type for a in arguments], results)
        made = func.FuncOp(name, kind, visibility="private")
        with ir.InsertionPoint(made.add_entry_block()):
            inside = list(made.arguments)
            buffers = [
                to_buffer(v.type, a, n in readers) if isinstance(v.type, ir.MemRefType) else a
                for n, (v, a) in enumerate(zip(taken, inside, strict=True))
            ]
            launch_like(view, view.kernel, [buffers[slot] for slot in slots])
            func.ReturnOp([to_tensor(inside[n].type, buffers[n]) for n in readers])
    made.operation.attributes[kern.LAUNCHES] = ir.FlatSymbolRefAttr.get(view.kernel)
    made.operation.attributes[kern.WRITES] = ir.DenseI64ArrayAttr.get(list(readers))
    with ir.InsertionPoint(launch), launch.location:
        call = func.CallOp(results, name, arguments)
    for reader, result in zip(readers.values(), call.results, strict=True):
        reader.results[0].replace_all_uses_with(result)
        reader.erase()
    launch.erase()
    for buffer in dict.fromkeys(v for v in passed if isinstance(v.type, ir.MemRefType)):
        if next(iter(buffer.uses), None) is None:
            buffer.owner.operation.erase()


def _slots(passed: list[ir.Value]) -> tuple[list[ir.Value], list[int]]:
    """What becomes an argument, and for each operand its number: an array the kernel writes and knows
    under two names stays one."""
    taken: list[ir.Value] = []
    slots: list[int] = []
    for value in passed:
        if value in taken and _reader(value) is not None:
            slots.append(taken.index(value))
        else:
            slots.append(len(taken))
            taken.append(value)
    return taken, slots


def to_buffer(kind: ir.Type, tensor: ir.Value, is_written: bool) -> ir.Value:
    return bufferization.to_buffer(kind, tensor, read_only=None if is_written else True)


def to_tensor(kind: ir.Type, buffer: ir.Value) -> ir.Value:
    return bufferization.to_tensor(kind, buffer, restrict=True, writable=True)


def launch_like(like: LaunchOp, kernel: str, operands: list[ir.Value]) -> None:
    """Launch `kernel` over the index space of `like`."""
    optional = {n: getattr(like, n) if n in like.attributes else None for n in ("starts", "steps")}
    LaunchOp.create(kernel, operands, like.ndrange, workgroup=like.workgroup, **optional)


def _tensor_of(value: ir.Value) -> ir.Value:
    if not isinstance(value.type, ir.MemRefType):
        return value
    return value.owner.operation.operands[0]


def _reader(buffer: ir.Value) -> ir.Operation | None:
    """The op that reads the buffer as a tensor behind the launch: there is one where the kernel writes it."""
    if not isinstance(buffer.type, ir.MemRefType):
        return None
    for use in buffer.uses:
        if use.owner.operation.name == "bufferization.to_tensor":
            return use.owner.operation
    return None
