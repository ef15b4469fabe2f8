"""A kernel for one kind of call: from `KernelSource` to loaded code, through cache and compiler.

Comes in: a source. Goes out: a `Variant` that runs. The order is: disk cache, compiler, loader.
"""

from __future__ import annotations

import os
import threading
from dataclasses import replace
from typing import Any

import numpy as np

from pykern.compiler.cache import shared_cache
from pykern.compiler.crash import kernel_span
from pykern.compiler.progress import tell
from pykern.compiler.service import service
from pykern.compiler.versions import versions
from pykern.data.abi import REPORT_CELLS, STOP_CELL
from pykern.data.artifact import SCRATCH, Artifact, Site
from pykern.data.program_source import ProgramSource
from pykern.data.provided import provided
from pykern.data.records import record
from pykern.data.source import KernelSource
from pykern.environment.installation import no_amd_backend
from pykern.environment.settings import settings
from pykern.errors import (
    CALLED_FROM,
    NAN_HINT,
    TIME_HINT,
    AssertionFailed,
    DeviceError,
    KernelError,
    NotANumber,
    OutOfBounds,
    TargetError,
    TimedOut,
)
from pykern.obtain.fault_code import fault_code
from pykern.obtain.memory_code import memory_code
from pykern.obtain.team_code import team_code
from pykern.runtime.code_memory import NoRoom
from pykern.runtime.loader import LoadedKernel, load
from pykern.runtime.text import Printer

PRINT_CELL = REPORT_CELLS - 1


@record
class Variant:
    """Loaded code and what the launch has to check for it."""

    source: KernelSource
    artifact: Artifact
    code: LoadedKernel

    @property
    def entry_address(self) -> int:
        """The compiled CPython entry, 0 where the kernel reports and so goes the long way."""
        return self.code.entry_address

    def run(self, cells: list[int], timeout: float | None = None) -> None:
        """Run one launch, for at most `timeout` seconds; raises what the kernel reports."""
        if not self.artifact.sites:
            self.code.run([*cells, 0])
            return
        report = np.zeros(REPORT_CELLS, np.int64)
        prints = Printer(self.artifact.sites)
        report[PRINT_CELL] = prints.address
        stop = threading.Timer(timeout or 0, report.__setitem__, (STOP_CELL, 1))
        if timeout is not None:
            stop.start()
        try:
            self.code.run([*cells, report.ctypes.data])
        finally:
            stop.cancel()
        prints.check()
        if report[0]:
            raise failure(self.artifact.sites[int(report[0]) - 1], report)


def failure(site: Site, report: np.ndarray) -> KernelError:
    """The error a report describes."""
    calls = tuple((f"{CALLED_FROM}`{span.function}`", span) for span in site.callers)
    if site.kind == "bounds":
        rank = int(report[1])
        index = tuple(int(n) for n in report[2 : 2 + rank])
        shape = tuple(int(n) for n in report[2 + rank : 2 + 2 * rank])
        return OutOfBounds(
            f"index {_tuple(index)} is outside of `{site.template}`, whose shape is {_tuple(shape)}",
            site.span,
            "guard the access, or launch with a smaller ndrange",
            calls,
        )
    if site.kind == "nan":
        rank = int(site.template)
        items = tuple(int(n) for n in report[1 : 1 + rank])
        numbers = report[1 + rank : 4 + rank].view(np.float64)
        given = ", ".join(f"{number:.9g}" for number in numbers[: int(site.dtypes[0])])
        reason = f"this operation makes a NaN of numbers ({given}) in work-item {_tuple(items)}"
        return NotANumber(reason, site.span, NAN_HINT, calls)
    if site.kind == "timeout":
        return TimedOut("the launch took longer than its timeout=", site.span, TIME_HINT, calls)
    if site.kind == "loop":
        return DeviceError(site.template, site.span, notes=calls)
    reason = f"assertion failed: {site.template}" if site.template else "assertion failed"
    return AssertionFailed(reason, site.span, notes=calls)


def _tuple(numbers: tuple[int, ...]) -> str:
    return str(numbers[0]) if len(numbers) == 1 else str(numbers)


def obtain(source: KernelSource) -> Variant:
    """The variant of a source. Raises what the compiler raises."""
    return Variant(source, *loaded(source))


def loaded(source: KernelSource | ProgramSource) -> tuple[Artifact, LoadedKernel]:
    """What a source compiles to, and its code in this process. Raises what the compiler raises, and `DeviceError`
    where the code does not load."""
    key = source.key(versions())
    entry = _kept(source, key)
    if entry is not None:
        try:
            return _at_hand(_with_remarks(entry.artifact), source)
        except NoRoom as error:
            raise _unloadable(source, error) from None
        except OSError:  # linked for another machine, or changed since
            shared_cache().discard(key)
    artifact = _with_remarks(_compile(source, key))
    try:
        return _at_hand(artifact, source)
    except OSError as error:
        raise _unloadable(source, error) from None


def _at_hand(artifact: Artifact, source: KernelSource | ProgramSource) -> tuple[Artifact, LoadedKernel]:
    """Code in this process, and what it is going to need there besides: the handler of faults, waited for, the team of
    threads, and kept memory for its scratch. Raises OSError."""
    code = load(artifact.binary, artifact.entry)
    fault_code.tell(code, source.function)
    team_code.expected()
    if SCRATCH in artifact.resources:
        memory_code.wanted()
    return artifact, code


def _unloadable(source: KernelSource | ProgramSource, error: OSError) -> DeviceError:
    room = isinstance(error, NoRoom)
    hint = (
        "raise the limit of its memory (`ulimit -v`) or of its maps (`sysctl vm.max_map_count`)"
        if room
        else ""
    )
    return DeviceError(
        f"the compiled code of `{source.function.name}` does not get into this process: {error.strerror or error}",
        kernel_span(source),
        hint=hint or None,
    )


def _kept(source: KernelSource | ProgramSource, key: str) -> Any:
    """What the cache has; nothing where the stages are wanted (`PYKERN_DUMP`), which it does not hold."""
    found = None if settings().dump is not None else shared_cache().get(key)
    if found is not None and settings().logs("cache"):
        tell(f"pykern: found {source.function.name} for {source.target} in the cache\n")
    return found


def compiled(source: KernelSource | ProgramSource) -> Artifact:
    """What a source compiles to, for a device whose driver loads it. Raises what the compiler raises."""
    key = source.key(versions())
    entry = _kept(source, key)
    return _with_remarks(entry.artifact if entry is not None else replace(_compile(source, key), key=key))


def _with_remarks(artifact: Artifact) -> Artifact:
    """The artifact; what passes say of it is told where the user asked for it."""
    if settings().logs("remarks"):
        for remark in artifact.remarks:
            place = f"{remark.file}:{remark.line}: " if remark.line else ""
            tell(f"{place}{artifact.kernel} for {artifact.target}: {remark.text}\n")
    return artifact


def _compile(source: KernelSource | ProgramSource, key: str) -> Artifact:
    artifact = service().compile(source, keep_stages=settings().dump is not None)
    if settings().dump is not None:
        _dump_page(source, artifact, dump(replace(artifact, key=key), settings().dump))
        if artifact.lacks_code:
            raise no_code(artifact)
    shared_cache().put(key, artifact)
    return artifact


def no_code(artifact: Artifact) -> TargetError:
    """Why the stages are all there is."""
    if artifact.target.startswith("rocdl:"):
        return no_amd_backend(artifact.target)
    return TargetError(f"`{artifact.target}` has no machine code", hint='use target="llvm"')


def dump(artifact: Artifact, directory: Any) -> str:
    """Write every stage of a kernel: ``DIR/kernel.key/NN-name.mlir``. Gives the folder."""
    folder = os.path.join(directory, f"{artifact.kernel}.{artifact.key[:12] or 'kernel'}")
    os.makedirs(folder, exist_ok=True)
    for number, stage in enumerate(artifact.stages):
        if not stage.text:  # linking leaves no text
            continue
        ending = {"mlir": "mlir", "llvm": "ll", "asm": "s", "spirv": "spvasm"}[stage.kind]
        name = "".join(c if c.isalnum() or c in "-_" else "-" for c in stage.name)[:80].strip("-")
        with open(os.path.join(folder, f"{number:02}-{name}.{ending}"), "w") as file:
            file.write(stage.text)
    return folder


def _dump_page(source: KernelSource | ProgramSource, artifact: Artifact, folder: str) -> None:
    """The explorer's page beside the stages."""
    with open(os.path.join(folder, "explorer.html"), "w", encoding="utf-8") as file:
        file.write(provided("page_of")(source, artifact))
