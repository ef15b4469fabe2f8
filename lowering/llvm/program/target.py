"""An array program to a shared object for the CPU, or to an object file for programs in C.

Comes in: a module with one `kern.program` function on tensors, and the kernels it launches. Goes out:
`ProgramCode`. Read next: `pipeline`, then `launcher`; `object_functions` for programs in C.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace

from mlir import ir

from pykern.data.artifact import SCRATCH, Stage
from pykern.data.locations import SourceSpan
from pykern.data.schedule import SCHEDULES
from pykern.data.source import KernelOptions
from pykern.data.target import CPU, Target
from pykern.dialect import attributes as kern
from pykern.dialect.diagnostics import span_of
from pykern.errors import TargetError
from pykern.lowering.llvm.codegen import assemble, assembly_of, generate, translate
from pykern.lowering.llvm.linked_texts import needed_by
from pykern.lowering.llvm.linker import link_shared
from pykern.lowering.llvm.machines import Host, host_of
from pykern.lowering.llvm.optimisation import CAREFUL, passes_for
from pykern.lowering.llvm.program.launcher import kinds_of, nest_of, run_text, teams_of, teams_text
from pykern.lowering.llvm.program.launches import LowerLaunches
from pykern.lowering.llvm.program.object_functions import ExportedProgram
from pykern.lowering.llvm.program.pipeline import (
    buffer_pipeline,
    function_pipeline,
    llvm_pipeline,
    tensor_pipeline,
)
from pykern.lowering.llvm.program.work import work_of
from pykern.lowering.llvm.resources import resources
from pykern.lowering.llvm.runtime_functions import RUNTIME
from pykern.lowering.llvm.scratch import ALLOCATE
from pykern.lowering.llvm.short_floats import has_short_floats
from pykern.lowering.llvm.xla.handler import SYMBOL as HANDLER
from pykern.lowering.record import Record
from pykern.passes.analysis.cost_model.threads import GIL_WORK
from pykern.passes.buffer.destination_passing import DestinationPassing
from pykern.passes.buffer.forward_copies import ForwardCopies
from pykern.passes.buffer.multi_buffer import MultiBuffer
from pykern.passes.buffer.plan_memory import PlanMemory
from pykern.passes.buffer.states_in_place import StatesInPlace
from pykern.passes.buffer.swap_buffers import SwapBuffers
from pykern.passes.codegen.cpu.contraction.apply_schedules import ApplySchedules
from pykern.passes.codegen.cpu.contraction.emit_register_tiles import EmitRegisterTiles
from pykern.passes.codegen.cpu.contraction.schedule import schedules_of
from pykern.passes.codegen.cpu.make_nests import MakeNests
from pykern.passes.codegen.cpu.size_nests import SizeNests
from pykern.passes.framework import Pass, is_careful
from pykern.passes.fusion.add_fusion_barriers import AddFusionBarriers
from pykern.passes.fusion.attention.fold_first_tile import FoldFirstTile
from pykern.passes.fusion.attention.outline_attention import OutlineAttention
from pykern.passes.fusion.fuse_boxes import FuseBoxes
from pykern.passes.fusion.fuse_long_chains import FuseLongChains
from pykern.passes.fusion.fuse_siblings import FuseSiblings
from pykern.passes.fusion.fuse_windows import FuseWindows
from pykern.passes.fusion.remove_fusion_barriers import RemoveFusionBarriers
from pykern.passes.fusion.repeat_cheap import RepeatCheap
from pykern.passes.kernels import body, integers, programs
from pykern.passes.registry import register
from pykern.passes.tensor.compute_diagonals import ComputeDiagonals
from pykern.passes.tensor.fresh_inserts import FreshInserts
from pykern.passes.tensor.outline_scans import OutlineScans
from pykern.passes.tensor.prepare_signature import PrepareSignature
from pykern.passes.tensor.raise_launches import RaiseLaunches
from pykern.passes.tensor.read_arguments import ReadArguments
from pykern.passes.tensor.read_transposed import ReadTransposed
from pykern.passes.tensor.read_widened import ReadWidened
from pykern.passes.tensor.read_windows import ReadWindows
from pykern.passes.tensor.scalarise_elements import ScalariseElements
from pykern.passes.tensor.separate_empties import SeparateEmpties
from pykern.passes.tensor.separate_yields import SeparateYields
from pykern.passes.tensor.slice_first import SliceFirst
from pykern.passes.tensor.split_short_axes import SplitShortAxes

register(
    ApplySchedules, ComputeDiagonals, EmitRegisterTiles, ForwardCopies, FreshInserts, FuseBoxes, FuseLongChains,
    FuseSiblings, FuseWindows, AddFusionBarriers,
    FoldFirstTile, LowerLaunches, MakeNests, OutlineAttention, PrepareSignature,
    RaiseLaunches, ReadArguments, ReadTransposed, ReadWidened, ReadWindows, RemoveFusionBarriers, DestinationPassing,
    MultiBuffer, PlanMemory, SeparateEmpties, SeparateYields, ScalariseElements, SizeNests, SliceFirst,
    OutlineScans, SplitShortAxes, StatesInPlace, SwapBuffers, RepeatCheap,
)  # fmt: skip

EXPORTS = ("pk_run",)
HandlerText = Callable[[tuple[int, ...], int], str]
"""Makes the text of `pk_xla`, of the argument whose memory each result is, and the bytes of scratch memory."""


@dataclass(frozen=True)
class _Launcher:
    """What calls a program and its nests: texts, and the nests that are called from another object than their own."""

    run: str
    teams: str
    nests: tuple[str, ...]
    code: tuple[Future[bytes], ...]
    """Of `teams`, made by another thread while this one goes on with MLIR; none where there are none."""
    exports: tuple[str, ...] = EXPORTS


@dataclass(frozen=True)
class ProgramCode:
    """A shared object; per result the argument whose memory it is, or -1; bytes of scratch memory; whether it is
    `ProgramLayout.long`."""

    binary: bytes
    result_arguments: tuple[int, ...]
    scratch_bytes: int
    resources: dict[str, object]
    long: bool = True


def lower(
    module: ir.Module,
    options: KernelOptions,
    record: Record,
    target: Target = CPU,
    schedules: tuple[str, ...] = (),
    handler: HandlerText | None = None,
    exported: ExportedProgram | None = None,
) -> ProgramCode:
    """Lower, generate, link. `schedules` are those of contractions that are not to be the cost model's; `handler` adds
    the function by which XLA calls the program. A program that is `exported` is not linked: its binary is one object
    file."""
    with ThreadPoolExecutor(1, "pykern-teams") as elsewhere:
        return _lowered(module, options, record, target, schedules, elsewhere, handler, exported)


def _lowered(
    module: ir.Module,
    options: KernelOptions,
    record: Record,
    target: Target,
    schedules: tuple[str, ...],
    elsewhere: ThreadPoolExecutor,
    handler: HandlerText | None,
    exported: ExportedProgram | None,
) -> ProgramCode:
    host, machine = host_of(target)
    short_floats = has_short_floats(module)
    for pipeline in (function_pipeline(), tensor_pipeline(), buffer_pipeline()):
        pipeline.run(module, record, texts=record.texts)
    found = programs(module)
    if len(found) != 1:
        raise TargetError(f"{len(found)} functions are marked kern.program, and one is expected")
    result_arguments = integers(found[0], kern.RESULT_ARGUMENTS) or ()
    long = work_of(module) > GIL_WORK
    llvm = llvm_pipeline(schedules, machine, options.ordered, short_floats)
    launcher: _Launcher | None = None
    scratch = 0
    used: list[str] = []

    def after(step: Pass) -> None:
        nonlocal launcher, scratch, used
        if isinstance(step, MakeNests):
            used = schedules_of(module)
        if isinstance(step, PlanMemory):  # arguments are still buffers, and all functions are there
            launcher, scratch = _launcher(module, host, elsewhere, exported)

    known = llvm.run(module, record, texts=record.texts, after=after)
    assert launcher is not None
    if exported is not None:
        place = span_of(programs(module)[0].location) if programs(module) else None
        binary = _object(translate(module, known.names), launcher, host, bool(used), exported.name, place)
        return ProgramCode(binary, result_arguments, scratch, {}, long)
    handled = () if handler is None else (handler(result_arguments, scratch),)
    made = _generate(module, known.names, launcher, host, record, product=bool(used), handled=handled)
    if used:
        made.resources[SCHEDULES] = used
    long = long or SCRATCH in made.resources  # it may run out of memory, and leave the call
    return replace(made, result_arguments=result_arguments, scratch_bytes=scratch, long=long)


def _object(
    text: str, launcher: _Launcher, host: Host, product: bool, name: str, place: SourceSpan | None
) -> bytes:
    """The object file. Raises `TargetError` for a program that needs pykern where it runs."""
    if needed_by(text):
        raise TargetError(
            f"`{name}` needs pykern where it runs: it reports, or takes memory as it goes",
            place,
            hint="leave prints, asserts and debug= out",
        )
    passes = CAREFUL if is_careful() else passes_for(text, product)
    extra = (launcher.run, *([launcher.teams] if launcher.nests else []))
    return generate(text, extra, launcher.exports, host, texts=True, passes=passes).objects[0]


def _launcher(
    module: ir.Module, host: Host, elsewhere: ThreadPoolExecutor, exported: ExportedProgram | None
) -> tuple[_Launcher, int]:
    program = programs(module)[0]
    symbol = ir.StringAttr(program.attributes["sym_name"]).value
    arena = ir.MemRefType(list(body(program).arguments)[-1].type)
    teams = teams_of(module)
    nests = tuple(nest_of(team.symbol) for team in teams)
    shared = teams_text(teams)
    scratch = arena.shape[0]
    if exported is not None:
        run = exported.text(symbol, kinds_of(program), scratch)
        return _Launcher(run, shared, nests, (), exported.symbols), scratch
    code = (elsewhere.submit(assemble, shared, host, quickly=True),) if teams else ()
    return _Launcher(run_text(symbol, kinds_of(program)), shared, nests, code), scratch


def _generate(
    module: ir.Module,
    names: frozenset[str],
    launcher: _Launcher,
    host: Host,
    record: Record,
    product: bool,
    handled: tuple[str, ...],
) -> ProgramCode:
    started = time.perf_counter()
    record.before_code(module.operation)
    text = translate(module, names)
    record.add("llvm-translate", text, started, "llvm")
    passes = CAREFUL if is_careful() else passes_for(text, product)
    extra = (launcher.run, *needed_by(text), *handled)
    exports = (*EXPORTS, HANDLER) if handled else EXPORTS
    code = generate(text, extra, exports, host, texts=record.texts, passes=passes, shared=launcher.nests)
    if launcher.nests and record.texts:
        code.assembly += assembly_of(launcher.teams, host)
    for name, elapsed in code.times.items():
        texts = {"llvm-optimise": (code.optimised_ir, "llvm"), "llvm-emit": (code.assembly, "asm")}
        shown, kind = texts.get(name, (code.llvm_ir, "llvm"))
        record(Stage(name, shown, elapsed, kind))
    started = time.perf_counter()
    teams = (each.result() for each in launcher.code)
    binary = link_shared(*code.objects, *teams, assemble(RUNTIME, host), host=host)
    record.add("link", "", started, "none")
    found = resources(code)
    if ALLOCATE in text:
        found[SCRATCH] = True
    return ProgramCode(binary, (), 0, found)
