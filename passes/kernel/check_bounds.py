"""Bounds checks on every access: what ``debug=True`` adds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith, memref, scf

from pykern.dialect import attributes as kern
from pykern.dialect.reports import ReportBoundsOp
from pykern.passes import kernels
from pykern.passes.framework import Pass
from pykern.passes.ir.constants import constant
from pykern.passes.kernels import index_constant, named

# operand that is the memory, and the first index
ACCESSES = {
    "memref.load": (0, 1), "memref.store": (1, 2), "kern.atomic_rmw": (1, 2), "kern.atomic_cas": (2, 3),
}  # fmt: skip


@dataclass(frozen=True)
class CheckBounds(Pass):
    """Guard loads, stores and atomics; an access outside is reported and left out, a load gives 0.

    In:  a kernel at the work-item level.
    Out: the same, every access under an scf.if whose else reports indices and lengths.
    """

    name: ClassVar[str] = "kern-check-bounds"

    def run(self, module: ir.Module) -> None:
        for kernel in kernels.kernels(module):
            names = array_names(kernel)
            for op in named(kernel, *ACCESSES):
                _guard(op, names)


def array_names(kernel: ir.Operation) -> dict[ir.Value, str]:
    """The names of arrays in messages: arguments by their names, others by their kind."""
    attributes = ir.ArrayAttr(kernel.attributes["arg_attrs"]) if "arg_attrs" in kernel.attributes else []
    names = {}
    for argument, attribute in zip(kernels.body(kernel).arguments, attributes, strict=False):
        given = ir.DictAttr(attribute)
        if kern.NAME in given:
            names[argument] = ir.StringAttr(given[kern.NAME]).value
    for op in named(kernel, "kern.shared", "kern.dynamic_shared", "kern.private"):
        names[op.result] = f"pk.{op.name.removeprefix('kern.').removeprefix('dynamic_')} memory"
    return names


def _guard(op: ir.Operation, names: dict[ir.Value, str]) -> None:
    at, first = ACCESSES[op.name]
    array, indices = op.operands[at], list(op.operands)[first:]
    if not indices:
        return
    with ir.InsertionPoint(op), op.location:
        lengths = [memref.DimOp(array, index_constant(d)).result for d in range(len(indices))]
        inside: ir.Value | None = None
        for index, length in zip(indices, lengths, strict=True):
            # unsigned: a negative index is a very large one
            fits = arith.CmpIOp(arith.CmpIPredicate.ult, index, length).result
            inside = fits if inside is None else arith.AndIOp(inside, fits).result
        types = [r.type for r in op.results]
        branch = scf.IfOp(inside, types, has_else=True)
    for result, new in zip(op.results, branch.results, strict=True):
        result.replace_all_uses_with(new)
    with ir.InsertionPoint(branch.then_block), op.location:
        end = scf.YieldOp(list(op.results))
    op.move_before(end.operation)
    with ir.InsertionPoint(branch.else_block), op.location:
        ReportBoundsOp.create(names.get(array, "an array"), indices, lengths)
        scf.YieldOp([constant(kind, 0) for kind in types])
