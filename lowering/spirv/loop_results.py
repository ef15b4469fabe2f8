"""What a loop's condition computes and code behind the loop uses is kept in memory, for each work-item its own.

Mesa's llvmpipe, which lavapipe runs kernels by, runs several work-items in the lanes of a vector. A lane that has left
a loop goes on computing the condition with the others, and its loads give something else then: a value that was loaded
there is lost behind the loop (a value that the loop carries is not, its lane is left alone). A store is of the lanes
that are still in the loop, so the value goes by way of memory, at a position that only the launch decides: a compiler
that knew it would make a value of it again.

Comes in: a flat kernel of the SPIR-V pipeline, whose memory is lowered. Goes out: the same. Read next: `cut_loops`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith, memref

from pykern.dialect.memory import PrivateOp
from pykern.lowering.spirv.unknown_zero import unknown_zero
from pykern.passes import kernels
from pykern.passes.framework import Pass
from pykern.passes.ir.values import is_argument
from pykern.passes.kernels import find, named, terminator

PLACES = 2
"""Of one element only one place is used, but nobody but the launch knows which."""


@dataclass(frozen=True)
class KeepLoopResults(Pass):
    """Give results of `scf.while` that its condition computes by way of memory.

    In:  flat kernels whose last argument holds the launch's slots.
    Out: such a result is stored before `scf.condition`, and loaded behind the loop.
    """

    name: ClassVar[str] = "kern-keep-loop-results"
    lowered: bool = True
    """Whether memory is that of SPIR-V already."""
    looks_for: ClassVar[tuple[str, ...]] = ("scf.while",)

    def run(self, module: ir.Module) -> None:
        for kernel in kernels.kernels(module):
            place: ir.Value | None = None
            for loop in named(kernel, "scf.while"):
                for number in _computed(loop):
                    if place is None:
                        place = _place(kernel)
                    self._keep(kernel, loop, number, place)

    def _keep(self, kernel: ir.Operation, loop: ir.Operation, number: int, place: ir.Value) -> None:
        result, condition = loop.results[number], terminator(kernels.body(loop))
        kind = _stored(result.type)
        with ir.InsertionPoint.at_block_begin(kernels.body(kernel)), loop.location:
            memory = self._memory(kind)
        with ir.InsertionPoint(condition), loop.location:
            memref.StoreOp(_converted(condition.operands[1 + number], kind), memory, [place])
        with ir.InsertionPoint.after(loop), loop.location:
            loaded = memref.LoadOp(memory, [place]).result
            kept = _converted(loaded, result.type)
        result.replace_all_uses_with(kept)

    def _memory(self, kind: ir.Type) -> ir.Value:
        if not self.lowered:
            return PrivateOp.create((PLACES,), kind)
        space = ir.Attribute.parse("#spirv.storage_class<Function>")
        return memref.AllocaOp(ir.MemRefType.get([PLACES], kind, memory_space=space), [], []).result


def _computed(loop: ir.Operation) -> list[int]:
    """Numbers of results that are used, and that ops of the loop make."""
    condition = terminator(kernels.body(loop))
    inside = {kernels.identity(op) for op in find(loop, lambda _: True)}
    return [
        number
        for number, (value, result) in enumerate(zip(list(condition.operands)[1:], loop.results, strict=True))
        if any(True for _ in result.uses)
        and not is_argument(value)
        and kernels.identity(value.owner.operation) in inside
    ]


def _place(kernel: ir.Operation) -> ir.Value:
    with ir.InsertionPoint.at_block_begin(kernels.body(kernel)), kernel.location:
        return arith.IndexCastOp(ir.IndexType.get(), unknown_zero(kernel)).result


def _stored(kind: ir.Type) -> ir.Type:
    """What memory has in place of indices and of single bits."""
    if isinstance(kind, ir.IndexType):
        return ir.IntegerType.get_signless(64)
    if isinstance(kind, ir.IntegerType) and kind.width == 1:
        return ir.IntegerType.get_signless(32)
    return kind


def _converted(value: ir.Value, to: ir.Type) -> ir.Value:
    if value.type == to:
        return value
    if isinstance(value.type, ir.IndexType) or isinstance(to, ir.IndexType):
        return arith.IndexCastOp(to, value).result
    narrower = ir.IntegerType(to).width < ir.IntegerType(value.type).width
    return (arith.TruncIOp if narrower else arith.ExtUIOp)(to, value).result
