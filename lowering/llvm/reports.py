"""Prints, asserts and bounds reports as calls of small functions that know the report's layout."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith, llvm

from pykern.data.abi import REPORT_CELLS, STOP_CELL, TABLE_INDEX
from pykern.dialect.reports import PrintOp
from pykern.passes import kernels
from pykern.passes.framework import Pass
from pykern.passes.kernels import named

PRINT_CELL = REPORT_CELLS - 1
"""Cell of the report that holds the address of the print callback."""
SITES = ("kern.print", "kern.assert", "kern.report_bounds", "kern.report_nan", "kern.report_timeout")

_FAIL = """
llvm.func internal @kern.fail.{n}(%report: i64, %site: i64{parameters})
    attributes {{passthrough = ["noinline", "cold"]}} {{
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  %mark = llvm.add %site, %one : i64
  %p = llvm.inttoptr %report : i64 to !llvm.ptr
  %seen = llvm.cmpxchg %p, %zero, %mark acq_rel monotonic : !llvm.ptr, i64
  %first = llvm.extractvalue %seen[1] : !llvm.struct<(i64, i1)>
  llvm.cond_br %first, ^write, ^done
^write:
{stores}
  llvm.br ^done
^done:
  llvm.return
}}
"""
CALL_PYTHON = "pykern.call_python"
"""A function that calls the host's print: Python, which no launch may be left out of."""
_PRINT = """
llvm.func @{call_python}(!llvm.ptr, i64, i64, !llvm.ptr)
llvm.func internal @kern.print.{n}(%report: i64, %site: i64{parameters}) attributes {{passthrough = ["noinline"]}} {{
  %count = llvm.mlir.constant({length} : i64) : i64
  %values = llvm.alloca %count x i64 : (i64) -> !llvm.ptr
{stores}
  %p = llvm.inttoptr %report : i64 to !llvm.ptr
  %cell = llvm.getelementptr %p[{cell}] : (!llvm.ptr) -> !llvm.ptr, i64
  %callback = llvm.load %cell : !llvm.ptr -> !llvm.ptr
  llvm.call @{call_python}(%callback, %site, %report, %values) : (!llvm.ptr, i64, i64, !llvm.ptr) -> ()
  llvm.return
}}
"""
TELLING = f"""
@pk_table = external hidden global ptr

define void @"{CALL_PYTHON}"(ptr %callback, i64 %site, i64 %report, ptr %values) noinline {{
  %table = load ptr, ptr @pk_table
  %place = getelementptr ptr, ptr %table, i64 {TABLE_INDEX["pk_call_python"]}
  %tell = load ptr, ptr %place
  %there = icmp ne ptr %tell, null
  br i1 %there, label %team, label %alone
team:
  call void %tell(ptr %callback, i64 %site, i64 %report, ptr %values)
  ret void
alone:
  call void %callback(i64 %site, i64 %report, ptr %values)
  ret void
}}
"""


@dataclass(frozen=True)
class LowerReports(Pass):
    """Turn report ops into calls.

    In:  loops with numbered sites, and `kern.expired`; the report's address is the kernel's last argument.
    Out: llvm.call of `kern.fail.N` / `kern.print.N`; the first failure of a launch wins. A volatile load of the report
         tells whether the time is over.
    """

    name: ClassVar[str] = "kern-lower-reports"

    def run(self, module: ir.Module) -> bool:
        changed = False
        for kernel in kernels.kernels(module):
            found = named(kernel, *SITES, "kern.expired")
            arguments = list(kernels.body(kernel).arguments)
            if found and (not arguments or not isinstance(arguments[-1].type, ir.IndexType)):
                what = "kernels whose last argument is the address of the report"
                raise kernels.comes_after(kernel, what, "kern-expand-ndrange")
            for op in found:
                with ir.InsertionPoint(op), op.location:
                    self._lower(module, op, arguments[-1])
                op.erase()
                changed = True
        return changed

    def _lower(self, module: ir.Module, op: ir.Operation, report: ir.Value) -> None:
        if op.name == "kern.expired":
            op.result.replace_all_uses_with(_expired(report))
            return
        view = op.opview
        site = arith.ConstantOp(_i64(), ir.IntegerAttr.get(_i64(), view.site)).result
        address = arith.IndexCastOp(_i64(), report).result
        if isinstance(view, PrintOp):
            _call(module, "print", [address, site, *op.operands])
        elif op.name == "kern.report_bounds":
            values = [arith.IndexCastOp(_i64(), v).result for v in op.operands]
            rank = arith.ConstantOp(_i64(), ir.IntegerAttr.get(_i64(), len(values) // 2)).result
            _call(module, "fail", [address, site, rank, *values])
        elif op.name in ("kern.report_nan", "kern.report_timeout"):
            _call(module, "fail", [address, site, *op.operands])
        else:
            false = arith.ConstantOp(op.operands[0].type, 0).result
            failed = arith.CmpIOp(arith.CmpIPredicate.eq, op.operands[0], false).result
            branch = ir.Operation.create("scf.if", operands=[failed], regions=2)
            with ir.InsertionPoint(branch.regions[0].blocks.append()):
                _call(module, "fail", [address, site])
                ir.Operation.create("scf.yield")


def _expired(report: ir.Value) -> ir.Value:
    """The host sets the cell from another thread, so each look is a load of its own."""
    address = arith.IndexCastOp(_i64(), report).result
    offset = arith.ConstantOp(_i64(), ir.IntegerAttr.get(_i64(), 8 * STOP_CELL)).result
    cell = llvm.IntToPtrOp(ir.Type.parse("!llvm.ptr"), arith.AddIOp(address, offset).result).result
    over = llvm.LoadOp(_i64(), cell, volatile_=True).result
    zero = arith.ConstantOp(_i64(), ir.IntegerAttr.get(_i64(), 0)).result
    return arith.CmpIOp(arith.CmpIPredicate.ne, over, zero).result


def _i64() -> ir.Type:
    return ir.IntegerType.get_signless(64)


def _call(module: ir.Module, what: str, operands: list[ir.Value]) -> None:
    symbol = f"kern.{what}.{len(operands) - 2}"
    known = kernels.symbols(module)
    if symbol not in known:
        _define(module, what, len(operands) - 2)
    ir.Operation.create(
        "llvm.call",
        operands=operands,
        attributes={
            "callee": ir.FlatSymbolRefAttr.get(symbol),
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get([len(operands), 0]),
            "op_bundle_sizes": ir.DenseI32ArrayAttr.get([]),
        },
    )


def _define(module: ir.Module, what: str, n: int) -> None:
    names = [f"%v{i}" for i in range(n)]
    base, target = (1, "%p") if what == "fail" else (0, "%values")
    stores = "\n".join(
        f"  %c{i} = llvm.getelementptr {target}[{base + i}] : (!llvm.ptr) -> !llvm.ptr, i64\n"
        f"  llvm.store {name}, %c{i} : i64, !llvm.ptr"
        for i, name in enumerate(names)
    )
    text = (_FAIL if what == "fail" else _PRINT).format(
        n=n,
        parameters="".join(f", {name}: i64" for name in names),
        stores=stores,
        length=max(n, 1),
        cell=PRINT_CELL,
        call_python=CALL_PYTHON,
    )
    known = kernels.symbols(module)
    parsed = ir.Module.parse(text)
    with ir.InsertionPoint(module.body):
        for function in parsed.body.operations:
            if ir.StringAttr(function.attributes["sym_name"]).value not in known:
                function.operation.clone()
