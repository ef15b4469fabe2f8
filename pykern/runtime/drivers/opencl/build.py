"""Programs of OpenCL: SPIR-V to what the device runs, by a compiler that may die, and kept on disk.

Comes in: SPIR-V and options. Goes out: a built `cl.Program`. For CPUs, whose compiler is a library in this very
process, it is compiled in a process beside it (`worker`) and loaded as a binary: a crash is an error with a file that
shows it again. Binaries are kept (`pykern.storage`), told apart by device and driver. GPUs compile in place.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import json
import os
import shlex
import signal
import sys
import tempfile
import threading
from typing import IO, Any

import pyopencl as cl

from pykern.bootstrap import start, worker_command
from pykern.errors import CompilerCrash, DeviceError
from pykern.machine import host_cpu
from pykern.storage.reports import write_report
from pykern.storage.store import OPENCL, shared_store

_LINES = 6
_WORKER = "pykern.runtime.drivers.opencl.worker"


class Builder:
    """Builds for one device."""

    def __init__(self, context: Any, device: Any, ordinal: int) -> None:
        self._context, self._device, self._ordinal = context, device, ordinal
        self._apart = bool(device.type & cl.device_type.CPU and worker_command(_WORKER))
        platform = device.platform
        facts = platform.name, platform.version, device.name, device.driver_version, repr(host_cpu())
        self._driver = "\n".join(facts)

    def build(self, name: str, spirv: bytes, options: list[str]) -> Any:
        """The program. Raises `CompilerCrash`, `DeviceError`, and pyopencl's errors."""
        if not self._apart:
            return cl.Program(self._context, spirv).build(options)
        key = hashlib.sha256("\n".join((self._driver, *options)).encode() + b"\0" + spirv).hexdigest()
        kept = shared_store().read(OPENCL, key)
        if kept is not None:
            try:
                return self._load(kept, options)
            except cl.Error as error:  # of another version of the same name
                shared_store().drop(OPENCL, key, str(error))
        binary = self._compiled(name, key, spirv, options)
        shared_store().write(OPENCL, key, binary)
        return self._load(binary, options)

    def _load(self, binary: bytes, options: list[str]) -> Any:
        return cl.Program(self._context, [self._device], [binary]).build(options)

    def _compiled(self, name: str, key: str, spirv: bytes, options: list[str]) -> bytes:
        asked = {"ordinal": self._ordinal, "options": options, "size": len(spirv)}
        with _lock:
            worker = _worker()
            answer = worker.ask(json.dumps(asked).encode() + b"\n" + spirv)
            if answer is None:
                raise self._crash(name, key, spirv, options, *worker.end())
        if "error" in answer[0]:
            raise DeviceError(f"OpenCL: load `{name}`: {answer[0]['error']}")
        return answer[1]

    def _crash(
        self, name: str, key: str, spirv: bytes, options: list[str], status: int, words: list[str]
    ) -> CompilerCrash:
        path = write_report(f"opencl-{key[:16]}.spv", spirv)
        known = [s for s in signal.Signals if s == -status]
        how = f"died of {known[0].name}" if known else f"ended with status {status}"
        command = [
            sys.executable,
            "-m",
            _WORKER,
            path or "",
            str(self._ordinal),
        ]
        again = f"; to see it again:  {shlex.join([*command, *options])}" if path else ""
        said = "\n".join(f"    {word}" for word in words)
        error = CompilerCrash(
            f"the OpenCL compiler of {self._device.name.strip()} ({self._device.platform.name}) {how} "
            f"while compiling `{name}`",
            hint=f"the program goes on, the CPU and other devices too; report it to the driver's maker{again}",
            notes=((f"the last words of the compiler:\n{said}", None),) if words else (),
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


class _Worker:
    """The process, and its pipes."""

    def __init__(self) -> None:
        self._said: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - as long as the process
        self._process = start(worker_command(_WORKER), self._said)
        self.owner = os.getpid()
        self._killed = False

    @property
    def alive(self) -> bool:
        return not self._killed and self.owner == os.getpid() and self._process.poll() is None

    def ask(self, request: bytes) -> tuple[dict[str, Any], bytes] | None:
        """The answer; None where the process has ended."""
        assert self._process.stdin is not None and self._process.stdout is not None
        try:
            self._process.stdin.write(request)
            self._process.stdin.flush()
            line = self._process.stdout.readline()
            if not line.endswith(b"\n"):
                return None
            answer = json.loads(line)
            binary = self._process.stdout.read(answer["size"])
            return (answer, binary) if len(binary) == answer["size"] else None
        except BrokenPipeError:
            return None
        except BaseException:
            # Ctrl-C, most of all: the answer would be taken for that of the next request, or the end for a crash.
            self.kill()
            raise

    def kill(self) -> None:
        """End it now: nobody asks it anything again, also not while the system still ends it."""
        self._killed = True
        self._process.kill()

    def end(self) -> tuple[int, list[str]]:
        """How it ended, and its last words."""
        status = self._process.wait()
        self._said.seek(0)
        lines = self._said.read().decode("utf-8", "replace").splitlines()
        self.close()
        return status, [line.strip() for line in lines if line.strip() and not line.startswith(" #")][
            -_LINES:
        ]

    def close(self, wait: bool = True) -> None:
        """Let it end, with its input. After a fork it is the other process's: then only the pipes go."""
        for pipe in (self._process.stdin, self._process.stdout, self._said):
            if pipe is not None and not pipe.closed:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()
        if wait and self.owner == os.getpid():
            self._process.wait()
        else:
            self._process.returncode = 0


_making = threading.Lock()
_lock = threading.Lock()
_current: list[_Worker] = []


def _worker() -> _Worker:
    """The process that runs, or a new one."""
    if _current and not _current[0].alive:
        end_worker()
    if not _current:
        _current.append(_Worker())
    return _current[0]


def end_worker() -> None:
    """Let the process end, where there is one."""
    while _current:
        _current.pop().close()


@atexit.register
def _leave() -> None:
    while _current:
        _current.pop().close(wait=False)  # it goes once it notices, and holds nobody up
