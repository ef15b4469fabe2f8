"""A kernel that became loops does a whole launch: what C calls has no part to do, and nobody to report to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith

from pykern.dialect import attributes as kern
from pykern.dialect.diagnostics import span_of
from pykern.errors import TargetError
from pykern.passes import kernels
from pykern.passes.framework import Pass
from pykern.passes.ir.values import is_nested_in
from pykern.passes.kernels import find, index_constant, named, replace, update_type

PRIVATE = "#gpu.address_space<private>"
QUERIES = (".extent", ".work")
REPORTS = ("kern.print", "kern.assert", "kern.report_bounds", "kern.report_nan")


@dataclass(frozen=True)
class WholeLaunch(Pass):
    """Let a kernel do all of its launch.

    In:  loops over a part of the launch, whose last arguments are the part and the report's address.
    Out: the same over all of it, without these arguments and without functions that are asked before a launch.
         Buffers are private memory in the outermost loop, so that each of its rounds has its own; that loop is marked
         `kern.concurrent`. Where it has one iteration it goes, and a kernel's own loop is the outermost.
    """

    name: ClassVar[str] = "kern-whole-launch"

    def run(self, module: ir.Module) -> None:
        for op in [each.operation for each in module.body.operations]:
            if op.name == "func.func" and ir.StringAttr(op.attributes["sym_name"]).value.endswith(QUERIES):
                op.erase()
        for kernel in kernels.kernels(module):
            for op in named(kernel, *REPORTS):
                raise TargetError(
                    "a function of C has nobody to report to",
                    span_of(op.location),
                    hint="leave the print or the check out, or export for a device",
                )
            if find(kernel, lambda op: kern.ITEMS in op.attributes) and kern.WORKGROUP in kernel.attributes:
                del kernel.attributes[kern.WORKGROUP]  # its loops are over work-items, whatever was asked for
            _own_buffers(kernel)
            _all_of_it(kernel)
            _mark_loops(kernel)


def _mark_loops(kernel: ir.Operation) -> None:
    for op in kernels.body(kernel).operations:
        if op.operation.name == "scf.for":
            op.operation.attributes[kern.CONCURRENT] = ir.UnitAttr.get(kernel.context)


def _all_of_it(kernel: ir.Operation) -> None:
    block = kernels.body(kernel)
    lo, hi, report = list(block.arguments)[-3:]
    with ir.InsertionPoint.at_block_begin(block), kernel.location:
        lo.replace_all_uses_with(index_constant(0))
        hi.replace_all_uses_with(_extent(kernel))
        report.replace_all_uses_with(index_constant(0))
    for _ in range(3):
        block.erase_argument(len(block.arguments) - 1)
    update_type(kernel)


def _extent(kernel: ir.Operation) -> ir.Value:
    """Work-items of the outermost loop's dimension, or all groups."""
    rank = kernels.rank(kernel)
    known = kernels.integers(kernel, kern.NDRANGE)
    if known is None:
        numbers = 1 if kern.PLAIN in kernel.attributes else 3
        counts = list(kernels.body(kernel).arguments)[-3 - numbers * rank : -3 : numbers]
    else:
        counts = [index_constant(n) for n in known]
    sizes = kernels.integers(kernel, kern.WORKGROUP)
    if sizes is None:
        return counts[kernels.dimension_of(kernel, 0)]
    total = index_constant(1)
    for count, size in zip(counts, sizes, strict=True):
        groups = arith.CeilDivUIOp(count, index_constant(size)).result
        total = arith.MulIOp(total, groups).result
    return total


def _own_buffers(kernel: ir.Operation) -> None:
    """Rounds of the outermost loop run in several threads: each has buffers of its own."""
    loops = [op.operation for op in kernels.body(kernel).operations if op.operation.name == "scf.for"]
    for op in named(kernel, "memref.dealloc"):
        op.erase()
    for op in find(kernel, lambda op: op.name in ("memref.alloca", "memref.alloc")):
        if op.operands:
            raise TargetError(
                "memory whose length a launch gives has no form in C",
                span_of(op.location),
                hint="give pk.shared a length that is known",
            )
        around = [
            loop
            for loop in loops
            if any(is_nested_in(use.owner.operation, loop) for use in op.results[0].uses)
        ]
        place = (
            ir.InsertionPoint.at_block_begin(around[0].regions[0].blocks[0])
            if around
            else ir.InsertionPoint(op)
        )
        kind = ir.MemRefType(op.results[0].type)
        own = ir.MemRefType.get(kind.shape, kind.element_type, memory_space=ir.Attribute.parse(PRIVATE))
        with place, op.location:
            made = ir.Operation.create("kern.private", results=[own])
        replace(op, [made.result])
