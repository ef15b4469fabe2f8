"""What a chip's groups may take: refused at the kernel's line before a driver would refuse the launch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir

from pykern.dialect import attributes as kern
from pykern.dialect.diagnostics import span_of
from pykern.errors import TargetError
from pykern.lowering.gpu.grid import Grid
from pykern.passes import kernels
from pykern.passes.analysis.cost_model.devices import MOST_ITEMS
from pykern.passes.framework import Pass
from pykern.passes.kernels import named

MAX_SHARED = 32 * 1024
"""Bytes that every device has. Code that cannot leave the size of shared memory to the launch takes what is left."""
DIFFERENT_GROUPS_HINT = "choose a smaller `workgroup=`"


@dataclass(frozen=True)
class CheckLimits(Pass):
    """Refuse groups, shared and private memory that the chip does not have.

    In:  flat kernels with buffers of kern. Out: the same.
    """

    name: ClassVar[str] = "kern-check-limits"
    chip: str = "this device"
    max_group: int = MOST_ITEMS
    max_depth: int = 1024
    """The most work-items along z."""
    max_shared: int = MAX_SHARED
    max_private: int = 512 << 10
    """Bytes of a work-item: the local memory of a thread on NVIDIA's chips, by the CUDA programming guide."""

    def run(self, module: ir.Module) -> None:
        for kernel in kernels.kernels(module):
            self._check_group(kernel)
            self._check_shared(kernel)
            self._check_private(kernel)

    def _check_group(self, kernel: ir.Operation) -> None:
        size = kernels.group(kernel)
        grid = Grid(size)
        if grid.total > self.max_group:
            raise TargetError(
                f"a group of {grid.total} work-items, and {self.chip} has {self.max_group} at most",
                span_of(kernel.location),
                DIFFERENT_GROUPS_HINT,
            )
        if grid.block[2] > self.max_depth:
            raise TargetError(
                f"a group of {grid.block[2]} work-items along the outer dimensions, "
                f"and {self.chip} has {self.max_depth} at most",
                span_of(kernel.location),
                DIFFERENT_GROUPS_HINT,
            )

    def _check_shared(self, kernel: ir.Operation) -> None:
        if (found := _beyond(kernel, "kern.shared", self.max_shared)) is not None:
            op, used = found
            raise TargetError(
                f"{used} bytes of shared memory, and {self.chip} has {self.max_shared} at most",
                span_of(op.location),
                "`shared_bytes=` at launch may have more",
            )

    def _check_private(self, kernel: ir.Operation) -> None:
        if (found := _beyond(kernel, "kern.private", self.max_private)) is not None:
            op, used = found
            raise TargetError(
                f"{used} bytes of private memory, and {self.chip} has {self.max_private} for a work-item",
                span_of(op.location),
                "pass an array with a row for each work-item",
            )


def _beyond(kernel: ir.Operation, buffers: str, most: int) -> tuple[ir.Operation, int] | None:
    """The first buffer with which those of a kind take more than `most` bytes, and how many they take."""
    used = 0
    for op in _own(kernel, buffers):
        used += buffer_bytes(ir.MemRefType(op.result.type))
        if used > most:
            return op, used
    return None


def buffer_bytes(kind: ir.MemRefType) -> int:
    element = kind.element_type
    total = 8 if isinstance(element, ir.IndexType) else max(1, element.width // 8)
    for length in kind.shape:
        total *= length
    return total


def shared_bytes(kernel: ir.Operation) -> int:
    """Static shared memory of a group, in bytes."""
    return sum(buffer_bytes(ir.MemRefType(op.result.type)) for op in _own(kernel, "kern.shared"))


def launch_shared_bytes(kernel: ir.Operation) -> int:
    """Shared memory that a launch of a program's kernel brings, in bytes."""
    brought = (op for op in named(kernel, "kern.shared") if kern.AT_LAUNCH in op.attributes)
    return sum(buffer_bytes(ir.MemRefType(op.result.type)) for op in brought)


def _own(kernel: ir.Operation, buffers: str) -> list[ir.Operation]:
    """Buffers whose memory comes with the code."""
    return [op for op in named(kernel, buffers) if kern.AT_LAUNCH not in op.attributes]


def bytes_left(used: int, arrays: int) -> int:
    """Bytes of `MAX_SHARED` for each of the arrays that the launch sizes, where others take `used`."""
    return (MAX_SHARED - used) // arrays


def elements_left(used: int, arrays: int, element: ir.Type) -> int:
    """The elements of a type that `bytes_left` holds."""
    return bytes_left(used, arrays) // max(1, element.width // 8)
