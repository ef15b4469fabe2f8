"""Which array arguments a kernel reads and which it writes."""

from __future__ import annotations

from mlir import ir

from pykern.artifact import ArgumentUse
from pykern.passes import kernels

_ADDRESS = {"memref.extract_aligned_pointer_as_index": 0}
"""Taken for code that pykern did not make, which may do anything."""
_READS = {"memref.load": 0, "kern.atomic_rmw": 1, "kern.atomic_cas": 2} | _ADDRESS
_WRITES = {"memref.store": 1, "kern.atomic_rmw": 1, "kern.atomic_cas": 2} | _ADDRESS


WRITTEN = "kern.written"
"""Attribute of an argument that counts as written whatever the body does: the kernel whose derivative
this is writes it."""


def argument_uses(kernel: ir.Operation) -> tuple[ArgumentUse, ...]:
    """One entry per memref argument, in order. Asked on the kern stage."""
    read = _touched(kernel, _READS)
    written = written_arguments(kernel)
    return tuple(
        ArgumentUse(argument in read, argument in written)
        for argument in kernels.body(kernel).arguments
        if isinstance(argument.type, ir.MemRefType)
    )


def written_arguments(kernel: ir.Operation) -> set[ir.Value]:
    """Arrays the kernel writes, or is marked to write."""
    marked: set[ir.Value] = set()
    if "arg_attrs" in kernel.attributes:
        for argument, given in zip(
            kernels.body(kernel).arguments, ir.ArrayAttr(kernel.attributes["arg_attrs"]), strict=False
        ):
            if WRITTEN in ir.DictAttr(given):
                marked.add(argument)
    arguments = set(kernels.body(kernel).arguments)
    return marked | (_touched(kernel, _WRITES) & arguments)


def _touched(kernel: ir.Operation, operand_of: dict[str, int]) -> set[ir.Value]:
    return {op.operands[operand_of[op.name]] for op in kernels.named(kernel, *operand_of)}
