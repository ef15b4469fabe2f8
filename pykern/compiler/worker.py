"""The compiler process: reads kernels from its standard input, writes artifacts to its standard output.

Comes in: messages of `frames`. Goes out: one answer each, in order. Whatever the compiler itself prints
goes to standard error. The process ends with its parent, and after a while without work.
Started by `service`; by hand, ``python -m pykern.compiler.worker`` waits for frames.
"""

from __future__ import annotations

import gc
import os
import pickle
import queue
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from typing import Any

from pykern import errors
from pykern.compiler import frames
from pykern.compiler.deep_stack import with_deep_stack
from pykern.compiler.images import Images, make_faults, make_team
from pykern.compiler.warm_up import warm_up
from pykern.data.artifact import Artifact
from pykern.data.source import KernelSource
from pykern.environment.installation import install_needed
from pykern.errors import KernelError, PassError

Compile = Callable[..., Artifact]
"""``compile(source, keep_stages=...)``, with ``careful=True`` where the compiler died of the source before."""
Prepare = Callable[[Any], None]

IDLE_SECONDS = 600.0
"""A process that has had no work for so long ends: on a node with many ranks they cost memory."""


def main() -> None:
    """Serve with pykern's own compiler."""
    serve(load_compiler, prepare=(warm_up, make_faults, make_team))


def load_compiler() -> Images:
    """Import MLIR and all of the compiler, so that the first kernel does not wait for it."""
    import mlir.ir
    import mlir.passmanager  # noqa: F401

    from pykern.compiler.driver import compile_source

    return Images(compile_source)


def serve(
    load: Callable[[], Compile], idle_seconds: float = IDLE_SECONDS, prepare: Sequence[Prepare] = ()
) -> None:
    """Answer requests with what `load` returns, until the parent closes the pipe or is gone.

    The functions in `prepare` are called with that as long as nobody waits yet.
    """
    _end_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the program, which tells us what to do
    with_deep_stack(lambda: _serve(load, idle_seconds, prepare))


def _serve(load: Callable[[], Compile], idle_seconds: float, prepare: Sequence[Prepare]) -> None:
    requests, answers = _take_pipes()
    inbox: queue.SimpleQueue[tuple[Any, ...]] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(requests, inbox), daemon=True).start()
    try:
        compile = load()
    except (ImportError, OSError) as error:  # OSError: a shared library of theirs does not load
        frames.write(answers, frames.encode(("unable", _unloadable(error))))
        return
    gc.collect()
    gc.freeze()  # what was imported stays: the collector need not look at it during every compile
    frames.write(answers, frames.encode(("ready", os.getpid())))
    for step in prepare:
        if inbox.empty():
            step(compile)
    while True:
        try:
            _, number, *asked = inbox.get(timeout=idle_seconds)
        except queue.Empty:
            return
        frames.write(answers, frames.encode(("begun", number)))
        frames.write(answers, _answer(compile, number, *asked))


def _answer(compile: Compile, number: int, pickled: bytes, keep_stages: bool, careful: bool) -> bytes:
    try:
        source: KernelSource = pickle.loads(pickled)
        options = {"careful": True} if careful else {}
        return frames.encode(("done", number, compile(source, keep_stages=keep_stages, **options)))
    except KernelError as error:
        return _encode_error(number, error)
    except Exception as error:  # noqa: BLE001 - the end of the process: the user must hear of it
        return _encode_error(number, _unexpected(error))
    finally:
        sys.stdout.flush()  # what a user's pass prints belongs before its answer
        sys.stderr.flush()


def _encode_error(number: int, error: KernelError) -> bytes:
    """The error as one of `pykern.errors`: other classes may not exist, or import MLIR, over there."""
    known = next(c for c in type(error).__mro__ if c.__module__ == errors.__name__)
    plain = known(error.reason, error.span, error.hint, error.extra_notes, error.code)
    plain.parameters = error.parameters
    return frames.encode(("error", number, plain))


def _unexpected(error: Exception) -> PassError:
    text = "".join(traceback.format_exception(error)).rstrip()
    return PassError(
        f"the compiler failed with {type(error).__name__}: {error}",
        hint="this is a fault of the compiler; please report it with the traceback below",
        notes=((text, None),),
    )


def _unloadable(error: ImportError | OSError) -> PassError:
    return PassError(
        f"the compiler cannot be loaded: {error}",
        hint=f"{sys.executable} -m {install_needed()}",
    )


def _receive(requests: int, inbox: queue.SimpleQueue[tuple[Any, ...]]) -> None:
    """Read ahead in a thread, so that the end of the parent is seen in the midst of a compile too."""
    while (message := frames.read(requests)) is not None:
        inbox.put(message)
    os._exit(0)  # the main thread may be deep inside MLIR, and nothing here needs an orderly end


def _take_pipes() -> tuple[int, int]:
    """Keep the pipes to ourselves: prints of MLIR and of user passes go to standard error."""
    requests, answers = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    if sys.platform == "win32":
        import msvcrt

        msvcrt.setmode(requests, os.O_BINARY)
        msvcrt.setmode(answers, os.O_BINARY)
    return requests, answers


def _end_with_parent() -> None:
    """Ask Linux to kill us when the thread that started us ends: `connection` keeps it for as long."""
    if sys.platform != "linux":
        return
    import ctypes

    set_parent_death_signal = 1
    ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGKILL, 0, 0, 0)


if __name__ == "__main__":
    main()
