"""Programs of OpenCL: SPIR-V to what the device runs, by a compiler that may die, and kept on disk.

Comes in: SPIR-V or OpenCL C, options. Goes out: a built `cl.Program`. For CPUs, whose compiler is a library in this
very process, it is compiled in a process beside it (`process`, `worker`) and loaded as a binary. What that compiler
dies of it is asked for again with fewer optimisations, and at last a crash is an error with a file that shows it again.
Binaries are kept (`pykern.storage`), told apart by device, driver and attempt. GPUs compile in place.
"""

from __future__ import annotations

import hashlib
import json
import shlex
import sys
import threading
from dataclasses import dataclass, field
from typing import Any

import pyopencl as cl

from pykern.environment.bootstrap import worker_command
from pykern.environment.machine import host_cpu
from pykern.environment.settings import settings
from pykern.errors import CompilerCrash, DeviceError
from pykern.runtime.drivers.opencl.given import given
from pykern.runtime.drivers.opencl.process import WORKER, Ended, ask, end_worker
from pykern.storage.reports import write_report
from pykern.storage.store import OPENCL, shared_store

_lock = threading.Lock()
_making = threading.Lock()


@dataclass(frozen=True)
class Attempt:
    """A way to compile: what it leaves out, in words, and how its compiler is told."""

    without: str = ""
    options: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)


ATTEMPTS = (
    Attempt(),
    Attempt(
        "vectors", environment={"CL_CONFIG_CPU_VECTORIZER_MODE": "1"}
    ),  # Intel's, which dies of loops there
    Attempt("optimisations", options=("-cl-opt-disable",)),
)


class Builder:
    """Builds for one device."""

    def __init__(self, context: Any, device: Any, ordinal: int) -> None:
        self._context, self._device, self._ordinal = context, device, ordinal
        self._apart = bool(device.type & cl.device_type.CPU and worker_command(WORKER))
        platform = device.platform
        facts = platform.name, platform.version, device.name, device.driver_version, repr(host_cpu())
        self._driver = "\n".join(facts)

    def build(self, name: str, spirv: bytes, options: list[str]) -> Any:
        """The program. Raises `CompilerCrash`, `DeviceError`, and pyopencl's errors."""
        if not self._apart:
            return cl.Program(self._context, given(spirv)).build(options)
        for attempt in ATTEMPTS:
            program = self._kept(attempt, spirv, options)
            if program is not None:
                self._remark(name, attempt)
                return program
        crash: CompilerCrash | None = None
        for attempt in ATTEMPTS:
            try:
                binary = self._compiled(name, spirv, options, attempt)
            except CompilerCrash as error:
                crash = crash or error  # the first tells most
                continue
            shared_store().write(OPENCL, self._key(attempt, spirv, options), binary)
            self._remark(name, attempt)
            return self._load(binary, [*options, *attempt.options])
        assert crash is not None, "there is an attempt"
        raise crash

    def _key(self, attempt: Attempt, spirv: bytes, options: list[str]) -> str:
        told = (*options, *attempt.options, *(f"{n}={v}" for n, v in attempt.environment.items()))
        return hashlib.sha256("\n".join((self._driver, *told)).encode() + b"\0" + spirv).hexdigest()

    def _kept(self, attempt: Attempt, spirv: bytes, options: list[str]) -> Any:
        """The program that is kept, or None."""
        key = self._key(attempt, spirv, options)
        kept = shared_store().read(OPENCL, key)
        if kept is None:
            return None
        try:
            return self._load(kept, [*options, *attempt.options])
        except cl.Error as error:  # of another version of the same name
            shared_store().drop(OPENCL, key, str(error))
            return None

    def _load(self, binary: bytes, options: list[str]) -> Any:
        return cl.Program(self._context, [self._device], [binary]).build(options)

    def _remark(self, name: str, attempt: Attempt) -> None:
        """The remark on code that is slower than it could be."""
        if attempt.without and settings().logs("remarks") and sys.stderr is not None:
            sys.stderr.write(
                f"{name} for opencl:{self._ordinal}: made without {attempt.without}, and may be slower: with them the "
                f"compiler of {self._device.name.strip()} died\n"
            )

    def _compiled(self, name: str, spirv: bytes, options: list[str], attempt: Attempt) -> bytes:
        told = [*options, *attempt.options]
        asked = {
            "ordinal": self._ordinal,
            "options": told,
            "size": len(spirv),
            "environment": attempt.environment,
        }
        request = json.dumps(asked).encode() + b"\n" + spirv
        with _lock:
            if attempt.environment:
                end_worker()  # it is for a process of its own
            answer = ask(request, settings().compile_timeout)
            if attempt.environment:
                end_worker()
        if isinstance(answer, Ended):
            raise self._crash(name, spirv, attempt, told, answer)
        if "error" in answer[0]:
            raise DeviceError(f"OpenCL: load `{name}`: {answer[0]['error']}")
        return answer[1]

    def _crash(
        self, name: str, spirv: bytes, attempt: Attempt, options: list[str], end: Ended
    ) -> CompilerCrash:
        path = write_report(f"opencl-{self._key(attempt, spirv, options)[:16]}.spv", spirv)
        command = [sys.executable, "-m", WORKER, path or "", str(self._ordinal), *options]
        again = f"; to see it again:  {shlex.join(command)}" if path else ""
        said = "\n".join(f"    {word}" for word in end.words)
        error = CompilerCrash(
            f"the OpenCL compiler of {self._device.name.strip()} ({self._device.platform.name}) {end.how} "
            f"while compiling `{name}`",
            hint=f"the program goes on, the CPU and other devices too; report it to the driver's maker{again}",
            notes=((f"the last words of the compiler:\n{said}", None),) if end.words else (),
        )
        error.reproducer = path
        return error


def make_kernel(program: Any, entry: str) -> Any:
    """A kernel of a built program, without pyopencl's own file of Python made for each kernel: it cannot be written
    without a home folder, and is nothing that pykern calls."""
    with _making:
        module, kept = "pyopencl.invoker", cl._PYOPENCL_NO_CACHE
        theirs = module in sys.modules
        cl._PYOPENCL_NO_CACHE = True
        try:
            return cl.Kernel(program, entry)
        finally:
            cl._PYOPENCL_NO_CACHE = kept
            if not (theirs or kept):
                sys.modules.pop(module, None)  # made without a file: a user's own kernels shall have theirs
