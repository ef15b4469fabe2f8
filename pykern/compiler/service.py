"""Compiling, seen from the user's process: give a `KernelSource`, get an `Artifact`.

Comes in: kernels, from any number of threads. Goes out: artifacts, or errors at the kernel's line.
The compiler runs in a process of its own, because a wrong corner of MLIR ends the process it is in;
that becomes a `CompilerCrash` here and the next request starts a new one. Read next: `connection`
(the process and its pipes), `worker` (the other side), `crash` (what the user is told).
"""

from __future__ import annotations

import atexit
import copy
import itertools
import os
import pickle
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from dataclasses import replace
from types import TracebackType
from typing import TypeVar

from pykern.compiler import frames
from pykern.compiler.connection import WorkerProcess
from pykern.compiler.crash import (
    crash_error,
    crash_remark,
    describe_end,
    from_outside,
    kernel_span,
    not_started,
)
from pykern.compiler.progress import Progress, write_stderr
from pykern.data.artifact import Artifact
from pykern.data.lineage import Follow
from pykern.data.runtime_source import Source
from pykern.environment.bootstrap import worker_command
from pykern.environment.settings import Settings, settings
from pykern.errors import CompilerCrash, KernelError, KernelTypeError, nested_too_deeply

_Error = TypeVar("_Error", bound=KernelError)


class Service:
    """Compiles kernels in a compiler process, which it starts, watches and replaces.

    `command` starts the process and `load` gives the compile function used in place; both default to
    pykern's own. `chosen` are settings to use instead of the process's.
    """

    def __init__(
        self,
        command: Sequence[str] | None = None,
        load: Callable[[], Callable[..., Artifact]] | None = None,
        chosen: Settings | None = None,
    ) -> None:
        self._command = command
        self._load = load or _load_driver
        self._chosen = chosen
        self._crashes: dict[object, CompilerCrash] = {}
        self._numbers = itertools.count()
        self._fresh()
        _services.add(self)

    def _fresh(self) -> None:
        self._lock = threading.Lock()  # around the fields below, never held for long
        self._request_lock = threading.Lock()  # held by the thread whose request the process works on
        self._jobs: dict[object, _Job] = {}
        self._worker: WorkerProcess | None = None

    def __enter__(self) -> Service:
        return self

    def __exit__(self, kind: type | None, value: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    @property
    def settings(self) -> Settings:
        return self._chosen or settings()

    @property
    def in_place(self) -> bool:
        """True where kernels are compiled in this process."""
        return self.settings.compiler == "inprocess" or not self._worker_command()

    @property
    def worker_pid(self) -> int | None:
        """The compiler process, where one was started."""
        worker = self._worker
        return None if worker is None or worker.ended else worker.pid

    def start(self) -> None:
        """Start the compiler process, unless it runs, and return at once: it loads MLIR meanwhile."""
        if not self.in_place:
            self._ensure()

    def compile(
        self,
        source: Source,
        keep_stages: bool | Follow = False,
        passes: tuple[Callable[..., object], ...] = (),
    ) -> Artifact:
        """Compile a kernel. Threads that ask for the same one share the work.

        `passes` are live callables, which cannot leave this process: the compiler then runs in it.
        A kernel that the compiler dies of is tried once more with fewer optimisations, and a remark says so; one whose
        process somebody else ended is tried once more as it is. Raises the errors of the compiler, and `CompilerCrash`
        where it died of these too, or took too long. Such a kernel is not tried again by this process.
        """
        try:
            return self._compiled(source, keep_stages, passes)
        except KernelError as error:
            error.source, error.passes = source, passes  # `pk.explore(error)` shows how far it came
            raise

    def _compiled(
        self,
        source: Source,
        keep_stages: bool | Follow,
        passes: tuple[Callable[..., object], ...],
    ) -> Artifact:
        if passes or self.in_place:
            return self._compile_in_place(source, keep_stages, passes)
        request = _Request(source, keep_stages)
        while True:
            outcome = self._share(request)
            if isinstance(outcome, Artifact):
                return outcome
            if outcome is not None:
                raise outcome

    def close(self) -> None:
        """End the compiler process; a later request starts a new one."""
        with self._lock:
            worker, self._worker = self._worker, None
        if worker is not None:
            worker.kill()
            self._forward(worker)

    def _share(self, request: _Request) -> Artifact | KernelError | None:
        """The outcome of `request`, worked out here or by a thread that does so already.

        None: that thread gave up (Ctrl-C) before there was one.
        """
        mine = _Job()
        try:
            with self._lock:
                if request.identity in self._crashes:
                    return _copied_error(self._crashes[request.identity])
                job = self._jobs.setdefault(request.identity, mine)
            if job is not mine:
                job.done.wait()
                return _copied_error(job.outcome) if isinstance(job.outcome, KernelError) else job.outcome
            with self._request_lock:
                mine.outcome = self._compile_outside(request)
            return mine.outcome
        finally:  # whatever happened, nobody waits for ever
            with self._lock:
                if self._jobs.get(request.identity) is mine:
                    del self._jobs[request.identity]
            mine.done.set()

    def _compile_outside(self, request: _Request) -> Artifact | KernelError:
        try:
            frame = request.frame(next(self._numbers))
        except RecursionError:
            return nested_too_deeply(request.source.function.name, kernel_span(request.source))
        except (pickle.PicklingError, TypeError, AttributeError) as error:
            return KernelTypeError(
                f"a compile-time value of `{request.source.function.name}` cannot be passed to the compiler: "
                f"{error}",
                kernel_span(request.source),
                hint="use numbers, strings, None and tuples of them",
            )
        with Progress(request.source, self.settings) as progress:
            try:
                return self._converse_twice(request, frame, progress)
            except BaseException:
                # Ctrl-C, most of all: the answer would come when the next one is waited for.
                self._let_go(WorkerProcess.kill)
                raise

    def _converse_twice(self, request: _Request, frame: bytes, progress: Progress) -> Artifact | KernelError:
        """Ask; a process that ended through no fault of the request is replaced without a word, once."""
        try:
            return self._converse(request, frame, progress)
        except _Gone:
            pass
        try:
            return self._converse(request, frame, progress)
        except _Gone as gone:
            hint = (
                "another one was started for it and ended, too: is there too little memory (`dmesg` tells)?"
            )
            return self._crash(request, gone.what, gone.output, lasting=False, hint=hint)

    def _converse(self, request: _Request, frame: bytes, progress: Progress) -> Artifact | KernelError:
        """Ask the process. Raises `_Gone` where it may be another one's turn."""
        worker = self._ensure()
        if (failure := self._await_ready(worker, request, progress)) is not None:
            return failure
        try:
            worker.send(frame)
        except OSError:
            pass  # it has ended, as `receive` is going to tell
        deadline = time.monotonic() + self.settings.compile_timeout
        begun = False
        while True:
            match progress.receive(worker, deadline):
                case ("done" | "error", request.number, outcome):
                    self._forward(worker)
                    return outcome
                case ("begun", request.number):
                    begun = True
                case ("ended", status, output):
                    self._end_with_program(worker)
                    if self._is_innocent(worker, status) or not begun:
                        raise _Gone(f"{describe_end(status)} twice", output)
                    if from_outside(status):
                        return self._crash(request, describe_end(status), output, lasting=False)
                    return self._once_more(request, describe_end(status), output, progress)
                case None:
                    return self._timed_out(worker, request)

    def _once_more(
        self, request: _Request, what: str, output: Sequence[str], progress: Progress
    ) -> Artifact | KernelError:
        """What the compiler died of, with fewer optimisations: most faults of compilers are in those."""
        crash = self._crash(request, what, output, lasting=True)
        if request.careful:
            return crash
        request.careful = True
        outcome = self._converse_twice(request, request.frame(next(self._numbers)), progress)
        if not isinstance(outcome, Artifact):
            return crash
        del self._crashes[request.identity]
        return replace(outcome, remarks=(crash_remark(crash, what), *outcome.remarks))

    def _await_ready(
        self, worker: WorkerProcess, request: _Request, progress: Progress
    ) -> KernelError | None:
        """Wait until the process can compile; what stands in the way is not the kernel's fault."""
        deadline = time.monotonic() + self.settings.compile_timeout
        while not worker.ready:
            match progress.receive(worker, deadline):
                case ("ready", _):
                    worker.ready = True
                case ("unable", error):
                    self._let_go(WorkerProcess.kill)
                    return error
                case ("ended", None, output):
                    self._end_with_program(worker)
                    self._let_go()
                    return not_started(request.source, output)
                case ("ended", status, output):
                    self._end_with_program(worker)
                    what = f"{describe_end(status)}, before it could compile anything,"
                    if self._is_innocent(worker, status):
                        raise _Gone(f"twice {what}", output)
                    return self._crash(request, what, output, lasting=False)
                case None:
                    self._let_go(WorkerProcess.kill)
                    return self._crash(request, "was not ready in time", [], lasting=False)
        return None

    def _end_with_program(self, worker: WorkerProcess) -> None:
        """End this thread, a daemon of a program that is over and has ended its compiler: that is no crash."""
        if _over and self._worker is not worker:
            raise SystemExit

    def _is_innocent(self, worker: WorkerProcess, status: int | None) -> bool:
        """Forget a process that has ended; whether somebody else ended it: neither it nor this service (`close`)."""
        with self._lock:
            ours = self._worker is worker
            if ours:
                self._worker = None
        return ours and from_outside(status)

    def _timed_out(self, worker: WorkerProcess, request: _Request) -> CompilerCrash:
        self._let_go(WorkerProcess.stop)
        ended = worker.receive(0.5)
        output = ended[2] if ended is not None and ended[0] == "ended" else []
        what = f"was stopped after {self.settings.compile_timeout:g} s"
        return self._crash(request, what, output, lasting=True, hint="PYKERN_COMPILE_TIMEOUT sets the limit")

    def _crash(
        self, request: _Request, what: str, output: Sequence[str], lasting: bool, hint: str = ""
    ) -> CompilerCrash:
        error = crash_error(request.source, what, output, self.settings, hint)
        if lasting:
            self._crashes[request.identity] = _copied_error(error)
        return error

    def _compile_in_place(
        self,
        source: Source,
        keep_stages: bool | Follow,
        passes: tuple[Callable[..., object], ...],
    ) -> Artifact:
        with self._request_lock:
            compile = self._load()
            if passes:
                return compile(source, keep_stages=keep_stages, passes=passes)
            return compile(source, keep_stages=keep_stages)

    def _ensure(self) -> WorkerProcess:
        with self._lock:
            if self._worker is None or self._worker.ended:
                self._worker = worker = WorkerProcess(self._worker_command())
                try:
                    worker.begin()
                except BaseException:  # Ctrl-C: nobody is going to speak to it
                    self._worker = None
                    worker.kill()
                    raise
            return self._worker

    def _let_go(self, end: Callable[[WorkerProcess], None] | None = None) -> None:
        """Forget the process, so that the next request starts a new one, and `end` it."""
        with self._lock:
            worker, self._worker = self._worker, None
        if worker is not None and end is not None:
            end(worker)

    def _worker_command(self) -> Sequence[str]:
        if self._command is not None:
            return self._command
        return worker_command("pykern.compiler.worker", "-X", "faulthandler")

    def _forward(self, worker: WorkerProcess) -> None:
        """Show what the compiler printed: a user's own pass may be what prints."""
        if (text := worker.take_output()) and not self.settings.quiet:
            write_stderr(text)

    def _after_fork(self) -> None:
        """In the child: the process and the threads of the parent are not ours."""
        worker = self._worker
        self._fresh()
        if worker is not None:
            worker.abandon()


class _Request:
    """A kernel to compile. `identity` is by its text: as values, 1, 1.0 and True are equal."""

    def __init__(self, source: Source, keep_stages: bool | Follow) -> None:
        self.source = source
        self.keep_stages = keep_stages
        self.identity = (source.key(""), keep_stages)
        self.number = -1
        self.careful = False
        """Whether it is asked for with fewer optimisations."""

    def frame(self, number: int) -> bytes:
        """The message to send; answers carry `number`. Raises what pickle raises."""
        self.number = number
        pickled = pickle.dumps(self.source, protocol=5)
        return frames.encode(("compile", number, pickled, self.keep_stages, self.careful))


class _Gone(Exception):
    """The process has ended, and not because of what it was asked: `what` it did, and its last `output`."""

    def __init__(self, what: str, output: Sequence[str]) -> None:
        super().__init__(what)
        self.what = what
        self.output = output


class _Job:
    """A request in work; `outcome` stays None where it was given up."""

    def __init__(self) -> None:
        self.done = threading.Event()
        self.outcome: Artifact | KernelError | None = None


def _copied_error(error: _Error) -> _Error:
    """An equal error to raise anew: one object raised twice would gather both tracebacks."""
    other = copy.copy(error)
    other.__dict__.update(error.__dict__)
    return other.with_traceback(None)


def _load_driver() -> Callable[..., Artifact]:
    from pykern.compiler.driver import compile_source

    return compile_source


_services: weakref.WeakSet[Service] = weakref.WeakSet()
_over = False
"""Whether the program is ending."""
_default: Service | None = None
_default_lock = threading.Lock()


def service() -> Service:
    """The service of this process."""
    global _default
    with _default_lock:
        if _default is None:
            _default = Service()
        return _default


def prewarm() -> None:
    """Start the compiler process of this process, without waiting for it."""
    service().start()


def _close_all() -> None:
    global _over
    _over = True
    for each in list(_services):
        each.close()


def _after_fork() -> None:
    global _default_lock
    _default_lock = threading.Lock()
    for each in list(_services):
        each._after_fork()


atexit.register(_close_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
