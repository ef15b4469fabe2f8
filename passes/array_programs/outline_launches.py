"""Launches as functions on tensors, so that differentiation sees a call with arguments and results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import bufferization, func

from pykern.dialect.launch import LaunchOp
from pykern.passes.array_programs.aliases import programs
from pykern.passes.framework import Pass
from pykern.passes.kernels import named

LAUNCHES = "kern.launches"
"""Mark of a function that launches one kernel: the kernel's symbol."""
WRITES = "kern.writes"
"""Numbers of the arguments whose arrays the kernel writes: their new contents are the results."""


@dataclass(frozen=True)
class OutlineLaunches(Pass):
    """Move each launch into a function of its own.

    In:  programs on tensors that launch kernels on buffers of their tensors.
    Out: ``func.call @<kernel>.launch<n>`` on these tensors, which gives the arrays the kernel wrote.
    """

    name: ClassVar[str] = "kern-outline-launches"

    def run(self, module: ir.Module) -> None:
        number = 0
        for program in programs(module):
            for launch in named(program, "kern.launch"):
                _outline(module, launch, number)
                number += 1


def _outline(module: ir.Module, launch: ir.Operation, number: int) -> None:
    view: LaunchOp = launch.opview
    passed = list(view.call.operands)
    arguments = [_tensor_of(v) for v in passed]
    readers = [_reader(v) for v in passed]
    written = [n for n, reader in enumerate(readers) if reader is not None]
    results = [arguments[n].type for n in written]
    name = f"{view.kernel}.launch{number}"
    with ir.InsertionPoint(module.body), launch.location:
        made = func.FuncOp(
            name, ir.FunctionType.get([a.type for a in arguments], results), visibility="private"
        )
        with ir.InsertionPoint(made.add_entry_block()):
            func.ReturnOp(launch_on_tensors(view, view.kernel, list(made.arguments), passed, written))
    made.operation.attributes[LAUNCHES] = ir.FlatSymbolRefAttr.get(view.kernel)
    made.operation.attributes[WRITES] = ir.DenseI64ArrayAttr.get(written)
    with ir.InsertionPoint(launch), launch.location:
        call = func.CallOp(results, name, arguments)
    for n, result in zip(written, call.results, strict=True):
        reader = readers[n]
        assert reader is not None
        reader.results[0].replace_all_uses_with(result)
        reader.erase()
    launch.erase()
    for buffer in dict.fromkeys(v for v in passed if isinstance(v.type, ir.MemRefType)):
        if next(iter(buffer.uses), None) is None:
            buffer.owner.operation.erase()


def launch_on_tensors(
    like: LaunchOp, kernel: str, values: list[ir.Value], types: list[ir.Value], written: list[int]
) -> list[ir.Value]:
    """Launch `kernel` over the index space of `like`, on buffers of tensors; the tensors it left.

    `types` are values of the types the kernel takes.
    """
    buffers = []
    for n, (value, kind) in enumerate(zip(values, types, strict=True)):
        if isinstance(kind.type, ir.MemRefType):
            value = bufferization.to_buffer(kind.type, value, read_only=n not in written)
        buffers.append(value)
    optional = {n: getattr(like, n) if n in like.attributes else None for n in ("starts", "steps")}
    LaunchOp.create(kernel, buffers, like.ndrange, workgroup=like.workgroup, **optional)
    return [
        bufferization.to_tensor(values[n].type, buffers[n], restrict=True, writable=True) for n in written
    ]


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
