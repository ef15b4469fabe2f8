"""Asserts, bounds checks and prints of device code: words in the report that the host reads afterwards.

The report is memory of i32: first the cells of `pykern.data.abi` (two words each, low word first), of which the
last cell counts failures and the one before the words that prints have taken; then the prints' room.
A print is its site's number, then two words a value.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith, memref, scf

from pykern.data.abi import PRINT_WORDS, REPORT_FAILURES, REPORT_PRINTED, REPORT_WORDS
from pykern.dialect import attributes as kern
from pykern.dialect.reports import PrintOp
from pykern.passes import kernels
from pykern.passes.framework import Pass
from pykern.passes.kernels import index_constant, named, update_type

SITES = ("kern.print", "kern.assert", "kern.report_bounds", "kern.report_nan", "kern.failures")


@dataclass(frozen=True)
class LowerDeviceReports(Pass):
    """Turn report ops into stores to the report.

    In:  kernels with numbered sites, and `kern.failures`.
    Out: none; where there were some, one more argument: the report. The first failure is kept whole.
    """

    name: ClassVar[str] = "kern-lower-device-reports"

    def run(self, module: ir.Module) -> None:
        for kernel in kernels.kernels(module):
            sites = named(kernel, *SITES)
            if not sites:
                continue
            words = REPORT_WORDS + (PRINT_WORDS if any(op.name == "kern.print" for op in sites) else 0)
            kind = ir.MemRefType.get([words], _i32())
            report = kernels.body(kernel).add_argument(kind, kernel.location)
            kernel.attributes[kern.REPORT] = ir.UnitAttr.get()
            update_type(kernel)
            for op in sites:
                with ir.InsertionPoint(op), op.location:
                    _lower(op, report)
                op.erase()


def _failures(op: ir.Operation, report: ir.Value) -> None:
    count = memref.LoadOp(report, [index_constant(REPORT_FAILURES)]).result
    op.result.replace_all_uses_with(count)


def _lower(op: ir.Operation, report: ir.Value) -> None:
    if op.name == "kern.failures":
        _failures(op, report)
        return
    site = op.opview.site
    if isinstance(op.opview, PrintOp):
        _print(report, site, list(op.operands))
    elif op.name == "kern.report_bounds":
        values = [arith.IndexCastOp(_i64(), v).result for v in op.operands]
        _fail(report, site, [_constant(_i64(), len(values) // 2), *values])
    elif op.name == "kern.report_nan":
        _fail(report, site, list(op.operands))
    else:
        failed = arith.XOrIOp(op.operands[0], _constant(op.operands[0].type, 1)).result
        branch = scf.IfOp(failed)
        with ir.InsertionPoint(branch.then_block):
            _fail(report, site, [])
            scf.YieldOp([])


def _fail(report: ir.Value, site: int, values: list[ir.Value]) -> None:
    """Cell 0 is the site's number + 1, the values follow; only the first failure writes."""
    ticket = _take(report, REPORT_FAILURES, _constant(_i32(), 1))
    first = arith.CmpIOp(arith.CmpIPredicate.eq, ticket, _constant(_i32(), 0)).result
    branch = scf.IfOp(first)
    with ir.InsertionPoint(branch.then_block):
        for cell, value in enumerate([_constant(_i64(), site + 1), *values]):
            _store(report, index_constant(2 * cell), value)
        scf.YieldOp([])


def _print(report: ir.Value, site: int, values: list[ir.Value]) -> None:
    """What does not fit is counted all the same, so that the host can say so."""
    size = 1 + 2 * len(values)
    begin = _take(report, REPORT_PRINTED, _constant(_i32(), size))
    room = _constant(_i32(), PRINT_WORDS - size)
    branch = scf.IfOp(arith.CmpIOp(arith.CmpIPredicate.ule, begin, room).result)
    with ir.InsertionPoint(branch.then_block):
        place = arith.AddIOp(
            arith.IndexCastUIOp(ir.IndexType.get(), begin).result, index_constant(REPORT_WORDS)
        ).result
        memref.StoreOp(_constant(_i32(), site), report, [place])
        for number, value in enumerate(values):
            _store(report, arith.AddIOp(place, index_constant(1 + 2 * number)).result, value)
        scf.YieldOp([])


def _take(report: ir.Value, word: int, amount: ir.Value) -> ir.Value:
    """Add to a word, atomically; gives what was there."""
    return ir.Operation.create(
        "kern.atomic_rmw",
        results=[_i32()],
        operands=[amount, report, index_constant(word)],
        attributes={"kind": ir.StringAttr.get("add")},
    ).result


def _store(report: ir.Value, place: ir.Value, value: ir.Value) -> None:
    """An i64 as two words."""
    high = arith.ShRUIOp(value, _constant(_i64(), 32)).result
    memref.StoreOp(arith.TruncIOp(_i32(), value).result, report, [place])
    following = arith.AddIOp(place, index_constant(1)).result
    memref.StoreOp(arith.TruncIOp(_i32(), high).result, report, [following])


def _i32() -> ir.Type:
    return ir.IntegerType.get_signless(32)


def _i64() -> ir.Type:
    return ir.IntegerType.get_signless(64)


def _constant(kind: ir.Type, value: int) -> ir.Value:
    return arith.ConstantOp(kind, ir.IntegerAttr.get(kind, value)).result
