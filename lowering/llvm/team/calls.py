"""A launch without Python's lock, that Ctrl-C ends.

Comes in: `pk_run` of a kernel or a program, and its cells. Goes out: `pk_call`, which an entry calls and Python does;
1: a signal handler has raised, and the exception is set. Python runs handlers in its main thread only, and only when it
is asked (`PyErr_CheckSignals`): so a launch of that thread asks every `INTERRUPT_CHECK_MS`, between chunks,
while it waits for others, and within them (`interrupts`). What raised stops the chunks that did not begin, and the
launch goes on behind its `setjmp`. Nothing but memory may be lost on that way, and what was taken in the launch is
given back (`memory_blocks`).

Code that gets no memory for what it keeps while it runs leaves the launch in the same way (`pk_no_memory`), from
whatever chunk it is in; the exception is then a MemoryError. Where code calls Python, it does so by
`pk_call_python`: nothing may be left by `longjmp` meanwhile.
"""

from __future__ import annotations

from pykern.lowering.llvm.team.memory_blocks import give_back
from pykern.lowering.llvm.team.state import FRAME, SLOT, TeamBody
from pykern.lowering.llvm.team.watch import AWAKE
from pykern.lowering.llvm.text_ir.module import Module
from pykern.lowering.llvm.text_ir.values import I32, I64, NULL, PTR, VOID, Operand, Value
from pykern.passes.analysis.cost_model.threads import INTERRUPT_CHECK_MS

RAISED, OUT_OF_MEMORY = 1, 2
"""Why a launch is stopped."""
NO_MEMORY = "no memory for what a kernel or program keeps while it runs"


def write_calls(module: Module) -> None:
    """The functions of this file."""
    _hide(module)
    _show(module)
    _check(module)
    _ask(module)
    _leave(module)
    _call_python(module)
    _stop_here(module, "pk_no_memory", OUT_OF_MEMORY, leave=True)
    _stop_here(module, "pk_stop", RAISED, leave=False)
    _call(module)


def _enter(f: TeamBody, launch: Operand) -> None:
    """The main thread is in this launch from now on, which somebody has to watch."""
    f.change("xchg", f.state("launch"), launch)
    awake = f.is_(f.read(f.state("watching"), order="seq_cst", kind=I32), "==", AWAKE)
    with f.if_then(f.not_(awake), likely=False):
        f.call("pk_watch", VOID)


def _hide(module: Module) -> None:
    """Python runs now: this launch is not interrupted."""
    f = TeamBody(module, "pk_hide", VOID, [PTR])
    (frame,) = f.arguments
    f.store(1, frame, FRAME["python"])
    with f.if_then(f.is_(f.load(I64, frame, FRAME["asks"]), "!=", 0)):
        f.write(0, f.state("launch"))
    f.ret()


def _show(module: Module) -> None:
    """Python is done."""
    f = TeamBody(module, "pk_show", VOID, [PTR])
    (frame,) = f.arguments
    with f.if_then(f.is_(f.load(I64, frame, FRAME["asks"]), "!=", 0)):
        _enter(f, f.load(I64, frame, FRAME["launch"]))
    f.store(0, frame, FRAME["python"])
    f.ret()


def _check(module: Module) -> None:
    """Let Python run signal handlers; stop the slot's chunks if one raises."""
    f = TeamBody(module, "pk_check", VOID, [PTR, PTR])
    frame, slot = f.arguments
    f.store(f.now(), frame, FRAME["asked"])
    f.write(f.add(f.read(f.state("answers")), 1), f.state("answers"))
    f.call("pk_hide", VOID, frame)
    held = f.call("PyGILState_Ensure", I32)
    raised = f.call("PyErr_CheckSignals", I32)
    f.call("PyGILState_Release", VOID, held)
    f.call("pk_show", VOID, frame)
    with f.if_then(f.is_(raised, "!=", 0), likely=False):
        f.store(RAISED, frame, FRAME["stopped"])
        _stop(f, slot)
    f.ret()


def _ask(module: Module) -> None:
    """The same, if that was not done for a while."""
    f = TeamBody(module, "pk_ask", VOID, [PTR, PTR])
    frame, slot = f.arguments
    with f.if_then(f.is_(f.load(I64, frame, FRAME["stopped"]), "!=", 0), likely=False):
        _stop(f, slot)
        f.ret()
    waited = f.sub(f.now(), f.load(I64, frame, FRAME["asked"]))
    with f.if_then(f.is_(waited, ">=", INTERRUPT_CHECK_MS * 1_000_000), likely=False):
        f.call("pk_check", VOID, frame, slot)
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


def _call_python(module: Module) -> None:
    """Call a function of Python's for code that prints. If it stops the launch, nothing more of the chunk runs."""
    f = TeamBody(module, "pk_call_python", VOID, [PTR, I64, I64, PTR])
    callback, *arguments = f.arguments
    frame = f.frame()
    with f.if_then(f.is_(frame, "==", NULL)):
        f.call_pointer(callback, VOID, *arguments)
        f.ret()
    f.call("pk_hide", VOID, frame)
    f.call_pointer(callback, VOID, *arguments)
    f.call("pk_show", VOID, frame)
    f.call("pk_leave", VOID, frame)
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
    frame = f.new_frame()
    with f.if_then(
        f.is_(outer, "!=", NULL)
    ):  # a callback launches: the other threads are busy with its launch
        f.store(f.load(I64, outer, FRAME["inside"]), frame, FRAME["inside"])
    asks = f.is_(f.call("pthread_self", I64), "==", f.read(f.state("main")))
    before = f.read(f.state("launch"))
    with f.if_then(asks):
        f.store(1, frame, FRAME["asks"])
        f.store(f.now(), frame, FRAME["asked"])
        number = f.add(f.read(f.state("launches")), 1)
        f.write(number, f.state("launches"))
        f.store(number, frame, FRAME["launch"])
        _enter(f, number)
    f.set_frame(frame)
    with f.if_else(f.is_(f.jump_target(frame), "==", 0), likely=True) as (first, left):
        with first:
            f.call_pointer(run, VOID, cells)
        with left:
            give_back(f, frame)
    f.set_frame(outer)
    with f.if_then(asks):
        f.write(before, f.state("launch"), order="release")
    f.call("PyEval_RestoreThread", VOID, thread)
    stopped = f.load(I64, frame, FRAME["stopped"])
    with f.if_then(f.is_(stopped, "==", OUT_OF_MEMORY), likely=False):
        text = module.define("no_memory", f'private constant [{len(NO_MEMORY) + 1} x i8] c"{NO_MEMORY}\\00"')
        f.call("PyErr_SetString", VOID, f.load(PTR, module.outside("PyExc_MemoryError")), text)
    f.ret(f.cast("zext", f.is_(stopped, "!=", 0), I32))
