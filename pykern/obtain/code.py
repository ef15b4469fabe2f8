"""From a source to code: the disk cache, else the compiler; then the loader.

Comes in: the source of a kernel or a program. Goes out: its artifact, and for the CPU its code in this process. Read
next: `variant` (a kernel's code and how it runs); the other modules here are code of the run time itself.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pykern.compiler.cache import shared_cache
from pykern.compiler.crash import kernel_span
from pykern.compiler.progress import with_remarks, write_stderr
from pykern.compiler.service import service
from pykern.compiler.versions import versions
from pykern.data.artifact import SCRATCH, Artifact
from pykern.data.program_source import ProgramSource
from pykern.data.runtime_source import Source
from pykern.data.source import KernelSource
from pykern.data.target import parse
from pykern.environment.installation import no_amd_backend
from pykern.environment.settings import settings
from pykern.errors import DeviceError, KernelError, TargetError
from pykern.obtain.dump import dump, dump_failed
from pykern.obtain.fault_code import fault_code
from pykern.obtain.memory_code import memory_code
from pykern.obtain.team_code import team_code
from pykern.runtime.code_memory import NoRoom
from pykern.runtime.loader import LoadedKernel, load


def loaded(source: Source) -> tuple[Artifact, LoadedKernel]:
    """What a source compiles to, and its code in this process. Raises what the compiler raises, and `DeviceError`
    where the code does not load."""
    key = source.key(versions())
    entry = _kept(source, key)
    if entry is not None:
        try:
            return _at_hand(with_remarks(entry.artifact), source)
        except NoRoom as error:
            raise _unloadable(source, error) from None
        except OSError:  # linked for another machine, or changed since
            shared_cache().discard(key)
    artifact = with_remarks(_compile(source, key))
    try:
        return _at_hand(artifact, source)
    except OSError as error:
        raise _unloadable(source, error) from None


def _at_hand(artifact: Artifact, source: Source) -> tuple[Artifact, LoadedKernel]:
    """Code in this process, and what it is going to need there besides: the handler of faults, waited for, the team of
    threads, and kept memory for its scratch. Raises OSError."""
    code = load(artifact.binary, artifact.entry)
    fault_code.record(code, source.function)
    team_code.expected()
    if SCRATCH in artifact.resources:
        memory_code.wanted()
    return artifact, code


def _unloadable(source: Source, error: OSError) -> DeviceError:
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


def _kept(source: Source, key: str) -> Any:
    """What the cache has; nothing where the stages are wanted (`PYKERN_DUMP`), which it does not hold."""
    found = None if settings().dump is not None else shared_cache().get(key)
    if found is not None and settings().logs("cache"):
        write_stderr(f"pykern: found {source.function.name} for {source.target} in the cache\n")
    return found


def compiled(source: Source) -> Artifact:
    """What a source compiles to, for a device whose driver loads it. Raises what the compiler raises."""
    key = source.key(versions())
    entry = _kept(source, key)
    return with_remarks(entry.artifact if entry is not None else replace(_compile(source, key), key=key))


def _compile(source: Source, key: str) -> Artifact:
    folder = settings().dump
    if folder is None or not isinstance(source, KernelSource | ProgramSource):
        artifact = service().compile(source)
    else:
        try:
            artifact = service().compile(source, keep_stages=True)
        except KernelError as error:
            dump_failed(source, error, key, folder)
            raise
        dump(source, replace(artifact, key=key), folder)
        if artifact.lacks_code:
            raise no_code(artifact)
    shared_cache().put(key, artifact)
    return artifact


def no_code(artifact: Artifact) -> TargetError:
    """Why the stages are all there is."""
    if parse(artifact.target).family == "rocdl":
        return no_amd_backend(artifact.target)
    return TargetError(f"`{artifact.target}` has no machine code", hint='use target="llvm"')
