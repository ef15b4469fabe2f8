"""The whole way through the compiler: `KernelSource` in, `Artifact` out.

Runs where MLIR is: in the worker, or in place with ``PYKERN_COMPILER=inprocess``. Each step is one
line here; `pykern.frontend`, `pykern.passes` and `pykern.lowering` hold the detail.
"""

from __future__ import annotations

import functools
import importlib
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from mlir import ir

from pykern.compiler.crash import kernel_span
from pykern.compiler.derivatives import derivative_passes, undifferentiated
from pykern.data.artifact import ACCESS_OFFSETS, FROM_END, ArgumentUse, Artifact, Site
from pykern.data.launch_bounds import NO_BOUNDS, LaunchBounds, joined
from pykern.data.lineage import Follow
from pykern.data.program_source import ProgramSource
from pykern.data.runtime_source import DeviceEntrySource, RuntimeSource, Source
from pykern.data.source import KernelSource
from pykern.data.target import ACCESSES, LINALG, REFERENCE
from pykern.dialect.context import new_context
from pykern.dialect.reports import number_sites
from pykern.errors import PassError, VerifyError, nested_too_deeply
from pykern.frontend import from_end
from pykern.frontend.kernel import build_module
from pykern.frontend.lost_values import lost_values
from pykern.lowering.llvm import target as cpu
from pykern.lowering.record import Recorder
from pykern.lowering.targets import DEVICE_TARGETS, checked, has_doubles
from pykern.passes import kernels, remarks
from pykern.passes.arithmetic.round_once import RoundOnce
from pykern.passes.framework import Callback, Pipeline, Upstream, carefully, verification, verify
from pykern.passes.ir.argument_uses import argument_uses
from pykern.passes.kernel import work_item_warnings
from pykern.passes.kernel.access_offsets import access_offsets
from pykern.passes.kernel.expand_ndrange import default_group
from pykern.passes.kernel.launch_bounds.find import launch_bounds, length_checks
from pykern.passes.pipelines import kern_pipeline
from pykern.passes.raise_to_linalg.raise_to_linalg import RaiseToLinalg
from pykern.passes.registry import pass_by_name

RUNTIME = {
    "program": "pykern.lowering.llvm.program.entry",
    "memory": "pykern.lowering.llvm.caching_allocator",
    "faults": "pykern.lowering.llvm.fault_handler",
    "team": "pykern.lowering.llvm.team.code",
    "adapt": "pykern.lowering.llvm.adapt.code",
}
"""Parts of the run time and the modules that write them, imported when first asked for: an installation compiles each
once."""

Passes = tuple[Callable[[ir.Module], None], ...]


def compile_source(
    source: Source,
    *,
    keep_stages: bool | Follow = False,
    passes: Passes = (),
    careful: bool = False,
) -> Artifact:
    """Compile for `source.target`. `passes` run on the kern stage. `careful` leaves out optimisations: the compiler
    died of this source before.

    The stages are kept where that is asked for, and with `Follow` where each of their lines comes from. Then each
    is verified; otherwise the ends of pipelines are, and what fails is compiled once more to tell which pass it was.
    Raises the errors of `pykern.errors`, located in the user's source.
    """
    if isinstance(source, RuntimeSource | DeviceEntrySource):
        with _context(), ir.Location.unknown():
            return _runtime(source, Recorder(bool(keep_stages)))
    if source.target not in (ACCESSES, REFERENCE):
        source = replace(source, target=checked(source.target))
    try:
        with carefully(careful):
            return _verified(source, keep_stages, passes)
    except RecursionError:
        raise nested_too_deeply(source.function.name, kernel_span(source)) from None


def _runtime(source: RuntimeSource | DeviceEntrySource, record: Recorder) -> Artifact:
    """Code that no kernel or program is."""
    if isinstance(source, RuntimeSource):
        return importlib.import_module(RUNTIME[source.part]).lower(record)
    from pykern.lowering.gpu import host_entry  # here: it is for launches that are repeated

    return host_entry.lower(source, record)


def _verified(source: KernelSource | ProgramSource, keep_stages: bool | Follow, passes: Passes) -> Artifact:
    if not keep_stages:
        try:
            with verification(each=False):
                return _recorded(source, keep_stages, passes)
        except (PassError, VerifyError):
            pass
    return _recorded(source, keep_stages, passes)


def _recorded(source: KernelSource | ProgramSource, keep_stages: bool | Follow, passes: Passes) -> Artifact:
    with (
        _recorder(keep_stages) as record,
        _context(),
        ir.Location.unknown(),
        remarks.collected() as said,
        work_item_warnings.collected() as warned,
    ):
        made = _compiled(source, record, passes)
        if isinstance(source, KernelSource):
            warned |= dict.fromkeys(lost_values(source))
        warnings = () if source.derivatives else tuple(warned)  # derivatives do what their kernel says
        return replace(made, remarks=tuple(said), warnings=warnings, costs=record.costs)


def _compiled(source: KernelSource | ProgramSource, record: Recorder, passes: Passes) -> Artifact:
    if isinstance(source, ProgramSource):
        from pykern.compiler.programs import compile_program  # here: most processes compile kernels

        return compile_program(source, record, passes)
    if source.target == REFERENCE:
        with from_end.collected() as places:
            built(source, record)
        known: dict[str, object] = {FROM_END: tuple(sorted(places))}
        return Artifact("", source.function.name, str(REFERENCE), "", b"", resources=known)
    module, lengths = kern_module(source, record, passes)
    uses = argument_uses(next(kernels.kernels(module)))
    if source.target == ACCESSES:
        found: dict[str, object] = {ACCESS_OFFSETS: access_offsets(next(kernels.kernels(module)))}
        return Artifact("", source.function.name, str(ACCESSES), "", b"", uses, resources=found)
    sites = number_sites(module)
    if source.target == LINALG:
        return _raised(source, module, uses, record)
    family = source.target.family
    bounds = joined(lengths, _bounds(source, module, family))
    if family in DEVICE_TARGETS:
        return replace(_device(source, module, uses, sites, record), bounds=bounds)
    code = cpu.lower(module, source, uses, bool(sites), record, bounds)
    return Artifact(
        key="",
        kernel=source.function.name,
        target=str(source.target),
        entry="pk_entry" if code.entry else "",
        binary=code.binary,
        uses=uses,
        workgroup=code.workgroup,
        sites=sites,
        bounds=bounds,
        resources=code.resources,
        stages=tuple(record.stages) if record.texts else (),
        times=tuple((s.name, s.ms) for s in record.stages),
    )


def _bounds(source: KernelSource, module: ir.Module, family: str) -> LaunchBounds:
    """What launches are checked for; nothing where each access is."""
    if source.options.debug:
        return NO_BOUNDS
    kernel = next(kernels.kernels(module))
    return launch_bounds(kernel, default_group(source.launch.rank) if family == "llvm" else None)


def _device(
    source: KernelSource,
    module: ir.Module,
    uses: tuple[ArgumentUse, ...],
    sites: tuple[Site, ...],
    record: Recorder,
) -> Artifact:
    """A kernel for a GPU-like device."""
    lower = importlib.import_module(DEVICE_TARGETS[source.target.family]).lower
    code = lower(module, source, record)
    return Artifact(
        key="",
        kernel=source.function.name,
        target=str(source.target),
        entry=code.symbol,
        binary=code.binary,
        uses=uses,
        workgroup=code.workgroup,
        shared_bytes=code.device.shared_bytes,
        sites=sites,
        resources=code.resources,
        stages=tuple(record.stages) if record.texts else (),
        times=tuple((s.name, s.ms) for s in record.stages),
        device=code.device,
    )


def _raised(
    source: KernelSource, module: ir.Module, uses: tuple[ArgumentUse, ...], record: Recorder
) -> Artifact:
    """The raised form, to look at: stages and no code. Raises `NotRaisable` at the line that prevents it."""
    Pipeline((RaiseToLinalg(), Upstream("canonicalize,cse"))).run(module, record, texts=record.texts)
    times = tuple((s.name, s.ms) for s in record.stages)
    return Artifact(
        "", source.function.name, str(source.target), "", b"", uses, stages=tuple(record.stages), times=times
    )


def built(source: KernelSource, record: Recorder) -> tuple[ir.Module, LaunchBounds]:
    """The kernel as the frontend makes it, and what its rows are checked for. Raises what every device refuses."""
    started = time.perf_counter()
    module = build_module(undifferentiated(source), checks_lengths=not source.derivatives)
    lengths = length_checks(next(kernels.kernels(module)))
    record.watch(module)
    record.add("kern", str(module) if record.texts else "", started)
    verify(module, "the frontend made invalid IR")
    work_item_warnings.look_at(next(kernels.kernels(module)), source.options.debug)
    return module, lengths


def kern_module(
    source: KernelSource, record: Recorder, passes: Passes = ()
) -> tuple[ir.Module, LaunchBounds]:
    """The kernel on the kern stage, simplified, and after the user's own passes; what its rows are checked for."""
    module, lengths = built(source, record)
    named = tuple(pass_by_name(name) for name in source.passes)
    users = Pipeline((*named, *(Callback(function=p) for p in passes)))
    # without f64 that is done with its bits, by kern-narrow-words
    last = (RoundOnce(),) if has_doubles(source.target) else ()
    first = kern_pipeline(source.options, derivative_passes(source)) + Pipeline(last)
    first.run(module, record, texts=record.texts)
    with verification(each=True):
        users.run(module, record, texts=record.texts)
    return module, lengths


@contextmanager
def _recorder(keep_stages: bool | Follow) -> Iterator[Recorder]:
    if isinstance(keep_stages, Follow):
        from pykern.compiler.lineage import Tracer  # here: it is for those who look

        with Tracer(keep_stages.partial) as tracer:
            yield tracer
    else:
        yield Recorder(keep_stages)


@functools.cache
def _context() -> ir.Context:
    """One context a process: loading the dialects costs more than a small kernel."""
    return new_context()
