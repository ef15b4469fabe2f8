"""Per-work-item memory: a buffer with one cell for each work-item of a group."""

from __future__ import annotations

from dataclasses import dataclass, field

from mlir import ir
from mlir.dialects import arith, memref

from pykern.dialect.diagnostics import span_of
from pykern.dialect.index_space import LocalLinearIdOp
from pykern.errors import TargetError
from pykern.passes.analysis.cost_model.memory import GROUP_BUFFER_BYTES, STACK_BUFFER_BYTES


@dataclass
class Slots:
    """Makes buffers at the top of a kernel and accesses to the own cell in them."""

    kernel: ir.Operation
    work_items: int
    made: list[ir.Operation] = field(default_factory=list)
    linear: ir.Value = field(init=False)

    def __post_init__(self) -> None:
        with ir.InsertionPoint.at_block_begin(self.kernel.regions[0].blocks[0]), self.kernel.location:
            self.linear = LocalLinearIdOp.create()

    def buffer(self, shape: list[int], element: ir.Type) -> ir.Value:
        """A buffer for one group, on the stack while it is small."""
        kind = ir.MemRefType.get(shape, element)
        count = 1
        for length in shape:
            count *= length
        nbytes = count * element_bytes(element)
        if nbytes > GROUP_BUFFER_BYTES:
            raise TargetError(
                f"a group takes {nbytes} bytes of shared or kept memory, and {GROUP_BUFFER_BYTES} are the most",
                span_of(self.kernel.location),
                hint="share less: a smaller pk.shared, a smaller workgroup",
            )
        large = nbytes > STACK_BUFFER_BYTES
        made = memref.AllocOp if large else memref.AllocaOp
        with ir.InsertionPoint(self.linear.owner), self.kernel.location:
            alignment = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), 64)
            op = made(kind, [], [], alignment=alignment)
        self.made.append(op.operation)
        if large:
            self._free(op.result)
        return op.result

    def sized_buffer(self, size: ir.Value, element: ir.Type) -> ir.Value:
        """A buffer of as many elements as fit in `size` bytes, an argument of the kernel."""
        with ir.InsertionPoint(self.linear.owner), self.kernel.location:
            length = self.elements(size, element)
            kind = ir.MemRefType.get([ir.ShapedType.get_dynamic_size()], element)
            alignment = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), 64)
            made = memref.AllocOp(kind, [length[-1].result], [], alignment=alignment)
        self.made += [*length, made.operation]
        self._free(made.result)
        return made.result

    def elements(self, size: ir.Value, element: ir.Type) -> list[ir.Operation]:
        """The ops that count the elements in `size` bytes; the last one's result is the count."""
        width = arith.ConstantOp(ir.IndexType.get(), element_bytes(element))
        return [width.operation, arith.DivUIOp(size, width.result).operation]

    def _free(self, buffer: ir.Value) -> None:
        block = self.kernel.regions[0].blocks[0]
        with ir.InsertionPoint(block.operations[len(block.operations) - 1]), self.kernel.location:
            self.made.append(memref.DeallocOp(buffer).operation)

    def slot(self, kind: ir.Type) -> ir.Value:
        """A cell of type `kind` for each work-item; i1 is kept as a byte."""
        element = ir.IntegerType.get_signless(8) if _is_bool(kind) else kind
        return self.buffer([self.work_items], element)

    def store(self, value: ir.Value, slot: ir.Value) -> None:
        """At the current insertion point."""
        if _is_bool(value.type):
            value = arith.ExtUIOp(ir.IntegerType.get_signless(8), value).result
        memref.StoreOp(value, slot, [self.linear])

    def load(self, slot: ir.Value, kind: ir.Type, cell: ir.Value | None = None) -> ir.Value:
        """The own cell, or the given one."""
        value = memref.LoadOp(slot, [self.linear if cell is None else cell]).result
        return arith.TruncIOp(kind, value).result if _is_bool(kind) else value


def _is_bool(kind: ir.Type) -> bool:
    return isinstance(kind, ir.IntegerType) and kind.width == 1


def element_bytes(kind: ir.Type) -> int:
    """Bytes of an element in memory."""
    if isinstance(kind, ir.IndexType):
        return 8
    return max(1, kind.width // 8)
