"""Operations that make a NaN of numbers are reported: what ``debug="nan"`` adds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith, scf

from pykern.dialect.index_space import GlobalIdOp
from pykern.dialect.reports import ReportNanOp
from pykern.passes import kernels
from pykern.passes.framework import Pass
from pykern.passes.ir.constants import true
from pykern.passes.kernels import find

DIALECTS = ("arith.", "math.", "func.call", "kern.")
PASSED_ON = frozenset(
    {
        "arith.constant",
        "arith.select",
        "arith.bitcast",
        "arith.extf",
        "arith.truncf",
        "arith.negf",
        "math.absf",
    }
)
"""Operations whose NaN is one of their operands', or was written as one."""
MOST_VALUES = 3


@dataclass(frozen=True)
class CheckNans(Pass):
    """Report an operation that gives NaN although none of its operands is one.

    In:  a kernel at the work-item level.
    Out: the same, a `kern.report_nan` of the work-item and the operands behind each such operation.
    """

    name: ClassVar[str] = "kern-check-nans"

    def run(self, module: ir.Module) -> None:
        for kernel in kernels.kernels(module):
            for op in find(kernel, _may_make_nan):
                _check(op, kernels.rank(kernel))


def _may_make_nan(op: ir.Operation) -> bool:
    results = list(op.results)
    if len(results) != 1 or not isinstance(results[0].type, ir.FloatType) or op.name in PASSED_ON:
        return False
    return op.name.startswith(DIALECTS) and bool(_floats(op)) and not list(op.regions)


def _floats(op: ir.Operation) -> list[ir.Value]:
    return [value for value in op.operands if isinstance(value.type, ir.FloatType)]


def _check(op: ir.Operation, rank: int) -> None:
    following = [o.operation for o in op.block.operations]
    with ir.InsertionPoint(following[following.index(op) + 1]), op.location:
        made = _is_nan(op.results[0])
        for value in _floats(op):
            made = arith.AndIOp(made, arith.XOrIOp(_is_nan(value), true()).result).result
        branch = scf.IfOp(made)
        with ir.InsertionPoint(branch.then_block):
            items = [GlobalIdOp.create(d) for d in range(rank)]
            ReportNanOp.create(items, [_bits(value) for value in _floats(op)[:MOST_VALUES]])
            scf.YieldOp([])


def _is_nan(value: ir.Value) -> ir.Value:
    return arith.CmpFOp(arith.CmpFPredicate.UNO, value, value).result


def _bits(value: ir.Value) -> ir.Value:
    """A number as the bits of an f64."""
    wide = ir.F64Type.get()
    if value.type.width < wide.width:
        value = arith.ExtFOp(wide, value).result
    return arith.BitcastOp(ir.IntegerType.get_signless(64), value).result
