"""A launch without Python's lock, that Ctrl-C ends.

Comes in: `pk_run` of a kernel or a program, and its cells. Goes out: `pk_call`, which an entry calls and Python does;
1: a signal handler has raised, and the exception is set. Python runs handlers in its main thread only, and only when it
is asked (`PyErr_CheckSignals`): so a launch of that thread asks every `ASK_MS`, between chunks and where code that may
take long calls `pk_poll`. What raised stops the chunks that did not begin, and the launch goes on behind its `setjmp`.
Nothing but memory may be lost on that way: code that is compiled has nothing else.

Code that gets no memory for what it keeps while it runs leaves the launch in the same way (`pk_no_memory`), from
whatever chunk it is in; the exception is then a MemoryError.
"""

from __future__ import annotations

from pykern.lowering.llvm.team.state import FRAME, FRAME_BYTES, SLOT, TeamBody
from pykern.lowering.llvm.text_ir.module import Module
from pykern.lowering.llvm.text_ir.values import I32, I64, NULL, PTR, VOID, Value

ASK_MS = 100
RAISED, OUT_OF_MEMORY = 1, 2
"""Why a launch is stopped."""
NO_MEMORY = "no memory for what a kernel or program keeps while it runs"


def write_calls(module: Module) -> None:
    """The functions of this file."""
    _ask(module)
    _leave(module)
    _poll(module)
    _stop_here(module, "pk_no_memory", OUT_OF_MEMORY, leave=True)
    _stop_here(module, "pk_stop", RAISED, leave=False)
    _call(module)


def _ask(module: Module) -> None:
    """Let Python run signal handlers, if it did not for a while; stop the slot's chunks if one raises."""
    f = TeamBody(module, "pk_ask", VOID, [PTR, PTR])
    frame, slot = f.arguments
    with f.if_then(f.is_(f.load(I64, frame, FRAME["stopped"]), "!=", 0), likely=False):
        _stop(f, slot)
        f.ret()
    now = f.now()
    waited = f.sub(now, f.load(I64, frame, FRAME["asked"]))
    with f.if_then(f.is_(waited, "<", ASK_MS * 1_000_000), likely=True):
        f.ret()
    f.store(now, frame, FRAME["asked"])
    held = f.call("PyGILState_Ensure", I32)
    raised = f.call("PyErr_CheckSignals", I32)
    f.call("PyGILState_Release", VOID, held)
    with f.if_then(f.is_(raised, "!=", 0), likely=False):
        f.store(RAISED, frame, FRAME["stopped"])
        _stop(f, slot)
    f.ret()


def _stop(f: TeamBody, slot: Value) -> None:
    with f.if_then(f.is_(slot, "!=", NULL)):
        f.write(RAISED, slot, SLOT["stop"])


def _leave(module: Module) -> None:
    """Out of the launch, or of the chunk, if it is stopped."""
    f = TeamBody(module, "pk_leave", VOID, [PTR])
    (frame,) = f.arguments
    with f.if_then(f.is_(f.load(I64, frame, FRAME["stopped"]), "!=", 0), likely=False):
        f.call("longjmp", VOID, frame, I32(1))
    f.ret()


def _poll(module: Module) -> None:
    """Called now and then by code that takes long."""
    f = TeamBody(module, "pk_poll", VOID, [])
    frame = f.frame()
    with f.if_then(f.is_(frame, "==", NULL)):
        f.ret()
    slot = f.load(PTR, frame, FRAME["slot"])
    with f.if_then(f.is_(f.load(I64, frame, FRAME["asks"]), "!=", 0)):
        f.call("pk_ask", VOID, frame, slot)
        f.call("pk_leave", VOID, frame)
    with f.if_then(f.is_(slot, "!=", NULL)), f.if_then(f.is_(f.read(slot, SLOT["stop"]), "!=", 0)):
        f.call("longjmp", VOID, frame, I32(1))
    f.ret()


def _stop_here(module: Module, name: str, why: int, leave: bool) -> None:
    """Stop the launch of this thread; nothing where it is in none of `pk_call`. `leave`: it does not come back."""
    f = TeamBody(module, name, VOID, [])
    frame = f.frame()
    with f.if_then(f.is_(frame, "==", NULL)):
        f.ret()
    f.store(why, frame, FRAME["stopped"])
    slot = f.load(PTR, frame, FRAME["slot"])
    with f.if_then(f.is_(slot, "!=", NULL)):
        f.write(why, slot, SLOT["stop"])
    if leave:
        f.call("longjmp", VOID, frame, I32(1))
    f.ret()


def _call(module: Module) -> None:
    f = TeamBody(module, "pk_call", I32, [PTR, PTR])
    run, cells = f.arguments
    thread = f.call("PyEval_SaveThread", PTR)
    outer = f.frame()
    frame = f.memory(FRAME_BYTES)
    for name in ("inside", "slot", "stopped"):
        f.store(0, frame, FRAME[name])
    with f.if_then(
        f.is_(outer, "!=", NULL)
    ):  # a callback launches: the other threads are busy with its launch
        f.store(f.load(I64, outer, FRAME["inside"]), frame, FRAME["inside"])
    asks = f.is_(f.call("pthread_self", I64), "==", f.read(f.state("main")))
    f.store(f.cast("zext", asks, I64), frame, FRAME["asks"])
    f.store(f.now(), frame, FRAME["asked"])
    f.set_frame(frame)
    with f.if_then(f.is_(f.jump_target(frame), "==", 0), likely=True):
        f.call_pointer(run, VOID, cells)
    f.set_frame(outer)
    f.call("PyEval_RestoreThread", VOID, thread)
    stopped = f.load(I64, frame, FRAME["stopped"])
    with f.if_then(f.is_(stopped, "==", OUT_OF_MEMORY), likely=False):
        text = module.define("no_memory", f'private constant [{len(NO_MEMORY) + 1} x i8] c"{NO_MEMORY}\\00"')
        f.call("PyErr_SetString", VOID, f.load(PTR, module.outside("PyExc_MemoryError")), text)
    f.ret(f.cast("zext", f.is_(stopped, "!=", 0), I32))
