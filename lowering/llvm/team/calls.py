"""A launch without Python's lock, that Ctrl-C ends.

Comes in: `pk_run` of a kernel or a program, and its cells. Goes out: `pk_call`, which an entry calls and Python does;
1: a signal handler has raised, and the exception is set. Python runs handlers in its main thread only, and only when it
is asked (`PyErr_CheckSignals`): so a launch of that thread asks every `ASK_MS`, between chunks and where code that may
take long calls `pk_poll`. What raised stops the chunks that did not begin, and the launch goes on behind its `setjmp`.
Nothing but memory may be lost on that way: code that is compiled has nothing else.
"""

from __future__ import annotations

from llvmlite import ir

from pykern.lowering.llvm.program.builder import I32, I64, NULL, PTR, Value
from pykern.lowering.llvm.team.state import FRAME, FRAME_BYTES, SLOT, VOID, TeamBody

ASK_MS = 100


def write_calls(module: ir.Module) -> None:
    """The functions of this file."""
    _ask(module)
    _leave(module)
    _poll(module)
    _call(module)


def _ask(module: ir.Module) -> None:
    """Let Python run signal handlers, if it did not for a while; stop the slot's chunks if one raises."""
    f = TeamBody(module, "pk_ask", VOID, [PTR, PTR])
    frame, slot = f.arguments
    with f.at.if_then(f.is_(f.load(I64, frame, FRAME["stopped"]), "!=", 0), likely=False):
        _stop(f, slot)
        f.at.ret_void()
    now = f.now()
    waited = f.at.sub(now, f.load(I64, frame, FRAME["asked"]))
    with f.at.if_then(f.is_(waited, "<", ASK_MS * 1_000_000), likely=True):
        f.at.ret_void()
    f.store(now, frame, FRAME["asked"])
    held = f.call("PyGILState_Ensure", I32)
    raised = f.call("PyErr_CheckSignals", I32)
    f.call("PyGILState_Release", VOID, held)
    with f.at.if_then(f.at.icmp_signed("!=", raised, I32(0)), likely=False):
        f.store(1, frame, FRAME["stopped"])
        _stop(f, slot)
    f.at.ret_void()


def _stop(f: TeamBody, slot: Value) -> None:
    with f.at.if_then(f.is_(slot, "!=", NULL)):
        f.write(1, slot, SLOT["stop"])


def _leave(module: ir.Module) -> None:
    """Out of the launch, or of the chunk, if it is stopped."""
    f = TeamBody(module, "pk_leave", VOID, [PTR])
    (frame,) = f.arguments
    with f.at.if_then(f.is_(f.load(I64, frame, FRAME["stopped"]), "!=", 0), likely=False):
        f.call("longjmp", VOID, frame, I32(1))
    f.at.ret_void()


def _poll(module: ir.Module) -> None:
    """Called now and then by code that takes long."""
    f = TeamBody(module, "pk_poll", VOID, [])
    frame = f.frame()
    with f.at.if_then(f.is_(frame, "==", NULL)):
        f.at.ret_void()
    slot = f.load(PTR, frame, FRAME["slot"])
    with f.at.if_then(f.is_(f.load(I64, frame, FRAME["asks"]), "!=", 0)):
        f.call("pk_ask", VOID, frame, slot)
        f.call("pk_leave", VOID, frame)
    with f.at.if_then(f.is_(slot, "!=", NULL)), f.at.if_then(f.is_(f.read(slot, SLOT["stop"]), "!=", 0)):
        f.call("longjmp", VOID, frame, I32(1))
    f.at.ret_void()


def _call(module: ir.Module) -> None:
    f = TeamBody(module, "pk_call", I32, [PTR, PTR])
    run, cells = f.arguments
    thread = f.call("PyEval_SaveThread", PTR)
    outer = f.frame()
    frame = f.memory(FRAME_BYTES)
    for name in ("inside", "slot", "stopped"):
        f.store(0, frame, FRAME[name])
    with f.at.if_then(
        f.is_(outer, "!=", NULL)
    ):  # a callback launches: the other threads are busy with its launch
        f.store(f.load(I64, outer, FRAME["inside"]), frame, FRAME["inside"])
    asks = f.is_(f.call("pthread_self", I64), "==", f.read(f.state("main")))
    f.store(f.at.zext(asks, I64), frame, FRAME["asks"])
    f.store(f.now(), frame, FRAME["asked"])
    f.set_frame(frame)
    with f.at.if_then(f.at.icmp_signed("==", f.jump_target(frame), I32(0)), likely=True):
        f.call_pointer(run, VOID, cells)
    f.set_frame(outer)
    f.call("PyEval_RestoreThread", VOID, thread)
    f.at.ret(f.at.trunc(f.load(I64, frame, FRAME["stopped"]), I32))
