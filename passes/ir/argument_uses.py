"""Which array arguments a kernel reads and which it writes."""

from __future__ import annotations

from mlir import ir

from pykern.data.artifact import ArgumentUse
from pykern.dialect import attributes as kern
from pykern.passes import kernels

_ADDRESS = {"memref.extract_aligned_pointer_as_index": 0}
"""Taken for code that pykern did not make, which may do anything."""
_READS = {
    "memref.load": 0, "kern.load_words": 0, "kern.copy_async": 3, "kern.atomic_rmw": 1, "kern.atomic_cas": 2,
} | _ADDRESS  # fmt: skip
_WRITES = kernels.WRITTEN_OPERAND | _ADDRESS


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
    arguments = list(kernels.body(kernel).arguments)
    if "arg_attrs" in kernel.attributes:
        marks = kernels.argument_marks(kernel)
        marked = {a for a, given in zip(arguments, marks, strict=True) if kern.WRITTEN in given}
    else:
        marked = set()
    return marked | (_touched(kernel, _WRITES) & set(arguments))


def _touched(kernel: ir.Operation, operand_of: dict[str, int]) -> set[ir.Value]:
    return {op.operands[operand_of[op.name]] for op in kernels.named(kernel, *operand_of)}
