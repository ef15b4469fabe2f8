"""The way of an array program through the compiler: `ProgramSource` in, `Artifact` out.

Runs where MLIR is; `driver` calls it. A module can be given in place of a source: tests do so.
"""

from __future__ import annotations

import importlib
import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from mlir import ir

from pykern.data.artifact import SHARDING, ArgumentUse, Artifact, ProgramLayout, ResultSpec
from pykern.data.program_source import ProgramSource
from pykern.data.source import FunctionSource, KernelOptions, Parameter
from pykern.data.source import leaves as spec_leaves
from pykern.data.target import CPU, LINALG, REFERENCE, Target
from pykern.dialect import attributes as kern
from pykern.dialect.reports import number_sites
from pykern.errors import TargetError
from pykern.lowering.gpu.program import target as device
from pykern.lowering.gpu.program.target import DeviceProgram
from pykern.lowering.llvm.program import target as cpu
from pykern.lowering.llvm.program.object_functions import ExportedProgram
from pykern.lowering.llvm.program.pipeline import launch_pipeline
from pykern.lowering.llvm.xla.handler import handler_text
from pykern.lowering.record import Recorder
from pykern.lowering.source import program as text
from pykern.lowering.targets import DEVICE_TARGETS, has_doubles, matrix_unit, warpgroup_unit
from pykern.lowering.xp import target as xp
from pykern.passes import kernels
from pykern.passes.arithmetic.round_once import RoundOnce
from pykern.passes.framework import Callback, Pipeline, run_pass, verification, verify
from pykern.passes.kernels import integers, programs
from pykern.passes.pipelines import kern_pipeline
from pykern.passes.tensor.inline_helpers import InlineHelpers
from pykern.passes.tensor.outline_launches import OutlineLaunches
from pykern.passes.tensor.raise_launches import RaiseLaunches

Passes = tuple[Callable[[ir.Module], None], ...]
_DTYPES = {"f16": "f16", "bf16": "bf16", "f32": "f32", "f64": "f64", "i1": "bool", "index": "i64"}


def compile_program(source: ProgramSource, record: Recorder, passes: Passes = ()) -> Artifact:
    """Compile a program inside the current context. Raises the errors of `pykern.errors`, located."""
    from pykern.compiler.inner_gradients import inner_gradient
    from pykern.compiler.kernel_gradients import kernel_gradient
    from pykern.compiler.kernel_launch import kernel_launch
    from pykern.compiler.program_derivatives import differentiate, undifferentiated
    from pykern.frontend.program import build_program

    asked = Request(
        source.function.name,
        source.options,
        source.target,
        source.donated,
        source.function,
        source.schedules,
        source.parameters,
        source.exported_name,
        source.handler,
    )
    if source.kernel is not None:
        launch = source.kernel
        build = kernel_gradient if launch.source.derivatives else kernel_launch
        return compile_module(lambda: build(launch), asked, record, passes)
    primal = undifferentiated(source)
    if source.target == REFERENCE:  # to be asked whether it is refused
        build_program(primal, inner_gradient)
        return Artifact("", source.function.name, str(REFERENCE), "", b"")
    return compile_module(
        lambda: build_program(primal, inner_gradient),
        asked,
        record,
        passes,
        lambda module: differentiate(module, source, record),
    )


@dataclass(frozen=True)
class Request:
    """What the compiler needs to know beside the module."""

    name: str
    options: KernelOptions = field(default_factory=KernelOptions)
    target: Target = CPU
    donated: tuple[str, ...] = ()
    function: FunctionSource | None = None
    """What the kernels of a program on a device are named after."""
    schedules: tuple[str, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    exported: str = ""
    """The program's name in C."""
    handler: str = ""
    """Who else is going to call the code; see `ProgramSource.handler`."""

    @property
    def is_printed(self) -> bool:
        """Whether the program becomes a text over whole arrays."""
        return self.target.family == "xp"


def compile_module(
    build: Callable[[], ir.Module],
    asked: Request,
    record: Recorder,
    passes: Passes = (),
    transform: Callable[[ir.Module], None] = lambda module: None,
) -> Artifact:
    """Compile what `build` makes: one `kern.program` function on tensors, and the kernels it launches.

    `transform` changes the module before everything else.
    """
    started = time.perf_counter()
    module = build()
    record.watch(module)
    record.add("program", str(module) if record.texts else "", started)
    verify(module, "the frontend made invalid IR")
    transform(module)
    run_pass(InlineHelpers(), module)
    program = programs(module)[0]
    _donate(program, asked.donated)
    users = Pipeline(tuple(Callback(function=p) for p in passes))
    first = Pipeline((RoundOnce(),) if has_doubles(asked.target) else ())
    if list(kernels.kernels(module)):
        launched = (
            Pipeline((RaiseLaunches(), OutlineLaunches()))
            if asked.is_printed
            else launch_pipeline(asked.options.debug or asked.options.nan)
        )
        first = launched + kern_pipeline(asked.options) + first
    first.run(module, record, texts=record.texts)
    with verification(each=True):
        users.run(module, record, texts=record.texts)
    sites = number_sites(module)
    program = programs(module)[0]
    uses, updated, tree = _uses(program), integers(program, kern.UPDATED) or (), _tree(program)
    dtypes = _result_dtypes(program, tree, updated, asked.parameters)
    shapes = [
        tuple(ir.ShapedType(t).shape) if isinstance(t, ir.ShapedType) else () for t in _results(program)
    ]

    def results_in(arguments: tuple[int, ...]) -> tuple[ResultSpec, ...]:
        return tuple(ResultSpec(*each) for each in zip(dtypes, shapes, arguments, strict=True))

    def handler(arguments: tuple[int, ...], scratch: int) -> str:
        return handler_text(asked.name, asked.parameters, results_in(arguments), scratch, sites)

    if asked.is_printed:
        text, rule = xp.lower(module, asked.name, asked.target, asked.parameters, dtypes, record)
        cut: dict[str, object] = {} if rule is None else {SHARDING: (rule.text, *rule.whole)}
        code = cpu.ProgramCode(text.encode(), (-1,) * len(dtypes), 0, cut)
    else:
        code = _lower(module, asked, record, handler if asked.handler == "xla" else None)
    results = results_in(code.result_arguments)
    layout = ProgramLayout(results, tree, tuple(updated))
    if isinstance(code, DeviceProgram):
        layout = replace(layout, plan=code.plan, scratch_bytes=code.scratch_bytes)
    else:
        layout = replace(layout, scratch_bytes=code.scratch_bytes, long=code.long)
    return Artifact(
        key="",
        kernel=asked.name,
        target=str(asked.target),
        entry="",
        binary=code.binary,
        uses=uses,
        sites=sites,
        resources=code.resources,
        stages=tuple(record.stages) if record.texts else (),
        times=tuple((s.name, s.ms) for s in record.stages),
        program=layout,
    )


def _lower(
    module: ir.Module, asked: Request, record: Recorder, handler: cpu.HandlerText | None
) -> cpu.ProgramCode | DeviceProgram:
    family = asked.target.family
    if family == "llvm":
        if asked.handler == "c":
            exported = ExportedProgram(asked.exported or asked.name, asked.parameters)
            return cpu.lower(module, asked.options, record, asked.target, asked.schedules, exported=exported)
        return cpu.lower(module, asked.options, record, asked.target, asked.schedules, handler)
    if asked.target == LINALG:
        raise TargetError(
            "array programs have no target `linalg`, which is a form of kernels",
            hint='their first stages are on whole arrays: f.lower(x, target="llvm").as_text("program")',
        )
    kernel = importlib.import_module(DEVICE_TARGETS[family]).lower
    function = asked.function or FunctionSource(asked.name, "", 1, "")
    if family == "source":
        return text.lower(module, function, asked.options, asked.target, asked.exported or asked.name, record)
    units = matrix_unit(asked.target), warpgroup_unit(asked.target)
    return device.lower(module, function, asked.options, asked.target, kernel, record, *units)


def _donate(program: ir.Operation, names: tuple[str, ...]) -> None:
    """Mark the arguments of the donated parameters; a parameter may hold several arrays."""
    if not names or "arg_attrs" not in program.attributes:
        return
    numbers = []
    for n, marks in enumerate(ir.ArrayAttr(program.attributes["arg_attrs"])):
        named = ir.DictAttr(marks)
        name = ir.StringAttr(named[kern.NAME]).value if kern.NAME in named else ""
        if name.split(".")[0] in names:
            numbers.append(n)
    program.attributes[kern.DONATED] = ir.DenseI64ArrayAttr.get(numbers)


def _uses(program: ir.Operation) -> tuple[ArgumentUse, ...]:
    updated = integers(program, kern.UPDATED) or ()
    arguments = kernels.body(program).arguments
    return tuple(
        ArgumentUse(True, n in updated)
        for n, argument in enumerate(arguments)
        if isinstance(argument.type, ir.RankedTensorType)
    )


def _results(program: ir.Operation) -> list[ir.Type]:
    return list(ir.FunctionType(ir.TypeAttr(program.attributes["function_type"]).value).results)


def _tree(program: ir.Operation) -> str:
    if kern.RESULT_TREE in program.attributes:
        return ir.StringAttr(program.attributes[kern.RESULT_TREE]).value
    count = len(_results(program)) - len(integers(program, kern.UPDATED) or ())
    return json.dumps({"tuple": [{"array": n} for n in range(count)]} if count != 1 else {"array": 0})


def _result_dtypes(
    program: ir.Operation, tree: str, updated: Sequence[int], parameters: Sequence[Parameter]
) -> list[str]:
    """dtypes of the results: as the tree says (MLIR has no unsigned types), else from their types. New values of
    arguments, which come last, have the dtypes of these."""
    found = []
    for kind in _results(program):
        element = ir.ShapedType(kind).element_type if isinstance(kind, ir.ShapedType) else kind
        found.append(_DTYPES.get(str(element), str(element)))
    for number, dtype in leaves(json.loads(tree)):
        found[number] = dtype or found[number]
    given = [leaf.dtype for p in parameters for leaf in spec_leaves(p.spec)]
    for place, argument in enumerate(updated, len(found) - len(updated)):
        if argument < len(given):
            found[place] = given[argument]
    return found


def leaves(tree: Any) -> Iterator[tuple[int, str]]:
    """Results by number with their dtypes, "" where the tree says none."""
    if isinstance(tree, list):
        for item in tree:
            yield from leaves(item)
    elif isinstance(tree, dict):
        for kind in ("array", "scalar"):
            if kind in tree:
                yield tree[kind], tree.get("dtype", "")
        yield from leaves(tree.get("tuple", []))
        yield from leaves(list(tree.get("dict", {}).values()))
