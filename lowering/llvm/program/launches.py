"""Kernels that a program launches: a function over a part of the launch, called like a nest."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import func

from pykern.dialect import attributes as kern
from pykern.lowering.llvm.arguments import SYMBOL_PREFIX
from pykern.passes.analysis.cost_model.threads import PARALLEL_WORK
from pykern.passes.codegen.cpu.loop_nest.function import TEAM
from pykern.passes.framework import Pass
from pykern.passes.kernel.expand_ndrange import ExpandNdrange
from pykern.passes.kernels import (
    body,
    dimension_of,
    find,
    index_constant,
    integers,
    kernels,
    named,
    programs,
    symbols,
    update_type,
)


@dataclass(frozen=True)
class LowerLaunches(Pass):
    """Turn `kern.launch` into calls.

    In:  kernels, one work-item each, and programs that launch them.
    Out: kernels as `kern-expand-ndrange` leaves them (at once: their signature changes). Per launch
         `func.func @<program>.launch<n>(arguments, report, lo, hi)`, which calls the kernel with its
         counts, and a call of it, of `<name>.team` where the work is worth threads. Programs have an
         argument more: the address of the report.
    """

    name: ClassVar[str] = "kern-lower-launches"

    def run(self, module: ir.Module) -> None:
        known = symbols(module)
        ExpandNdrange().run(module)
        for kernel in kernels(module):  # no library function is called so: a user's kernel may be `exp`
            kernel.attributes["sym_name"] = ir.StringAttr.get(SYMBOL_PREFIX + _symbol(kernel))
        for program in programs(module):
            report = _report_argument(program)
            for number, launch in enumerate(named(program, "kern.launch")):
                _lower(module, program, launch, known[launch.opview.kernel], report, number)


def _symbol(op: ir.Operation) -> str:
    return ir.StringAttr(op.attributes["sym_name"]).value


def _report_argument(program: ir.Operation) -> ir.Value:
    """Append the argument; programs without launches have it too, so that every program is called alike."""
    report = body(program).add_argument(ir.IndexType.get(), program.location)
    update_type(program)
    return report


def _lower(
    module: ir.Module,
    program: ir.Operation,
    launch: ir.Operation,
    kernel: ir.Operation,
    report: ir.Value,
    number: int,
) -> None:
    view = launch.opview
    extent = _extent(kernel, view)
    if not extent:
        launch.erase()
        return
    passed = list(view.call.operands)
    buffers = [v for v in passed if isinstance(v.type, ir.MemRefType)]
    if len(set(buffers)) < len(buffers):
        _allow_overlap(kernel)
    types = [*(v.type for v in passed), *[ir.IndexType.get()] * 3]
    symbol = f"{_symbol(program)}.launch{number}"
    with ir.InsertionPoint(module.body), launch.location:
        made = func.FuncOp(symbol, ir.FunctionType.get(types, []))
        made.operation.attributes["sym_visibility"] = ir.StringAttr.get("private")
        made.operation.attributes["passthrough"] = ir.ArrayAttr.get([ir.StringAttr.get("noinline")])
        with ir.InsertionPoint(made.add_entry_block()):
            *values, inner_report, lo, hi = made.arguments
            call = [*values, *_space(kernel, view), lo, hi, inner_report]
            func.CallOp([], ir.FlatSymbolRefAttr.get(_symbol(kernel)), call)
            func.ReturnOp([])
    team = extent > 1 and math.prod(view.ndrange) * len(find(kernel, lambda op: True)) > PARALLEL_WORK
    if team:
        with ir.InsertionPoint(module.body), launch.location:
            shared = func.FuncOp(symbol + TEAM, ir.FunctionType.get(types, []), visibility="private")
        if named(kernel, "kern.atomic_rmw", "kern.push"):
            shared.operation.attributes[kern.REPEATS] = ir.UnitAttr.get()
    with ir.InsertionPoint(launch), launch.location:
        bounds = [index_constant(0), index_constant(extent)]
        func.CallOp([], ir.FlatSymbolRefAttr.get(symbol + TEAM * team), [*passed, report, *bounds])
    launch.erase()


def _allow_overlap(kernel: ir.Operation) -> None:
    """A buffer passed twice: the kernel may no longer be compiled as if it were two."""
    if kern.NOALIAS in kernel.attributes:
        del kernel.attributes[kern.NOALIAS]


def _space(kernel: ir.Operation, view) -> list[ir.Value]:
    """The counts, and starts and steps where the kernel takes them."""
    values = []
    for count, start, step in zip(view.ndrange, view.starts, view.steps, strict=True):
        values.append(index_constant(count))
        if kern.PLAIN not in kernel.attributes:
            values += [index_constant(start), index_constant(step)]
    return values


def _extent(kernel: ir.Operation, view) -> int:
    """Length of what `lo..hi` counts: the dimension of the outermost loop, or groups."""
    if not math.prod(view.ndrange):
        return 0
    size = integers(kernel, kern.WORKGROUP)
    if size is None:
        return view.ndrange[dimension_of(kernel, 0)]
    return math.prod(-(-n // s) for n, s in zip(view.ndrange, size, strict=True))
