"""An array program to a device's kernels and the host's plan.

Comes in: a module with one `kern.program` function on tensors, and the kernels it launches. Goes out:
`DeviceProgram`. Each kernel goes the way of any other kernel of its target; equal ones are compiled once.
Read next: `pipeline`, then `plan`.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from mlir import ir

from pykern.data.artifact import PlanKernel, ProgramPlan
from pykern.data.source import FunctionSource, KernelOptions, KernelSource, LaunchSpec
from pykern.data.target import Target
from pykern.dialect import attributes as kern
from pykern.dialect.reports import SiteOp
from pykern.errors import TargetError
from pykern.lowering.gpu.program.facts import targets
from pykern.lowering.gpu.program.pipeline import device_pipeline
from pykern.lowering.gpu.program.plan import plan_of
from pykern.lowering.gpu.target import KernelBinary
from pykern.lowering.record import Record
from pykern.passes.codegen.device.make_kernels import MakeKernels
from pykern.passes.codegen.device.outline_sequential import OutlineSequential
from pykern.passes.ir.argument_uses import written_arguments
from pykern.passes.kernels import body, find, integers, kernels, named, programs
from pykern.passes.registry import register

register(MakeKernels, OutlineSequential)

Lower = Callable[[ir.Module, KernelSource, Record], KernelBinary]
"""How a target lowers one kernel: `lower` of its module."""


@dataclass(frozen=True)
class DeviceProgram:
    """The kernels' binaries one behind the other, and the plan; per result the argument whose memory it is, or -1."""

    binary: bytes
    plan: ProgramPlan
    result_arguments: tuple[int, ...]
    resources: dict[str, object]
    numbers: dict[str, int]
    """Of the kernels in the plan, by their symbols in the module."""
    scratch_bytes: int = 0
    """Memory that the caller of a text in C brings."""


def lower(
    module: ir.Module,
    function: FunctionSource,
    options: KernelOptions,
    target: Target,
    kernel: Lower,
    record: Record,
    matrix_unit: str = "",
    warpgroup_unit: str = "",
    doubles: bool = True,
) -> DeviceProgram:
    """Lower the program, and each of its kernels with `kernel`. `matrix_unit`, `warpgroup_unit`, `doubles`: as of
    `device_pipeline`."""
    device_pipeline(matrix_unit, target.aligned, warpgroup_unit, doubles).run(
        module, record, texts=record.texts
    )
    found = programs(module)
    if len(found) != 1:
        raise TargetError(f"{len(found)} functions are marked kern.program, and one is expected")
    maker = _Kernels(function, options, targets(found[0], target), kernel, record)
    for each in kernels(module):
        maker.add(each)
    started = time.perf_counter()
    steps, registers = plan_of(found[0], maker.numbers)
    record.add("plan", "", started, "none")
    plan = ProgramPlan(tuple(maker.made), registers, steps)
    placed = integers(found[0], kern.RESULT_ARGUMENTS) or ()
    resources: dict[str, object] = {"kernels": len(maker.made), "binary_bytes": len(maker.binary)}
    return DeviceProgram(maker.binary, plan, placed, resources, maker.numbers)


@dataclass
class _Kernels:
    """The kernels compiled so far; `targets` and `numbers` are those of symbols."""

    function: FunctionSource
    options: KernelOptions
    targets: dict[str, Target]
    lower: Lower
    record: Record
    numbers: dict[str, int] = field(default_factory=dict)
    made: list[PlanKernel] = field(default_factory=list)
    binary: bytes = b""
    _known: dict[str, int] = field(default_factory=dict)

    def add(self, kernel: ir.Operation) -> None:
        symbol = ir.StringAttr(kernel.attributes["sym_name"]).value
        if symbol not in self.targets:  # a launch of nothing is none
            return
        target = self.targets[symbol]
        text = str(target) + re.sub(rf"@{re.escape(symbol)}\b", "@kernel", str(kernel))
        if text not in self._known:
            self._known[text] = len(self.made)
            self.made.append(self._compile(kernel, target))
        self.numbers[symbol] = self._known[text]

    def _compile(self, kernel: ir.Operation, target: Target) -> PlanKernel:
        alone = ir.Module.create(kernel.location)
        for op in (kernel, *_called(kernel)):
            op.clone(ip=ir.InsertionPoint(alone.body))
        copy = next(kernels(alone))
        written = written_arguments(copy)
        writes = tuple(n for n, a in enumerate(body(copy).arguments) if a in written)
        reports = bool(find(copy, lambda op: isinstance(op.opview, SiteOp)))
        launch = LaunchSpec(ir.IntegerAttr(copy.attributes[kern.RANK]).value)
        source = KernelSource(self.function, (), launch, self.options, target)
        code = self.lower(alone, source, self.record)
        begin = len(self.binary)
        self.binary += code.binary
        reports = reports or bool(code.device.sites)
        return PlanKernel(code.symbol, begin, len(self.binary), code.workgroup, code.device, writes, reports)


def _called(kernel: ir.Operation) -> list[ir.Operation]:
    """The functions a kernel calls."""
    assert kernel.parent is not None
    wanted = {ir.FlatSymbolRefAttr(op.attributes["callee"]).value for op in named(kernel, "func.call")}
    siblings = [o.operation for o in kernel.parent.operation.regions[0].blocks[0].operations]
    return [
        o
        for o in siblings
        if o.name == "func.func" and ir.StringAttr(o.attributes["sym_name"]).value in wanted
    ]
