"""A thread that looks whether the main thread is in the same launch for long, and interrupts it then.

Comes in: "launch" of `state`, which launches of the main thread write. Goes out: signals (`interrupts`) every
"period", in which Python is asked for its own. Where the main thread was just in a function of the C library it cannot
ask, and is interrupted again after `REPEATED_SIGNAL_NS`. Without a launch for a period the watcher sleeps until there
is one; so nothing is ever sent to a thread that is not in a launch, or in Python within one.
"""

from __future__ import annotations

from pykern.lowering.llvm.team.state import TeamBody
from pykern.lowering.llvm.team.system import WAIT, WAKE, futex, futex_until
from pykern.lowering.llvm.team.threads import new_thread
from pykern.lowering.llvm.text_ir.module import Module
from pykern.lowering.llvm.text_ir.values import I32, I64, NULL, PTR, VOID, Value
from pykern.passes.analysis.cost_model.threads import MOST_REPEATED_SIGNALS, REPEATED_SIGNAL_NS

NOBODY, ASLEEP, AWAKE = 0, 1, 2
"""What "watching" says."""
STACK = 1 << 20


def write_watch(module: Module) -> None:
    """The functions of this file."""
    _watcher(module)
    _watch(module)


def pause_between(f: TeamBody, times: Value, seldom: Value) -> Value:
    """How long to wait until somebody who was interrupted so many times in vain is interrupted again."""
    soon = f.and_(f.is_(times, ">", 0), f.is_(times, "<", MOST_REPEATED_SIGNALS))
    return f.select(soon, I64(REPEATED_SIGNAL_NS), seldom)


def _watcher(module: Module) -> None:
    """What the thread does all its life."""
    f = TeamBody(module, "pk_watcher", PTR, [PTR])
    launch, launches, answers, times = (f.variable(0) for _ in range(4))
    word = f.state("watching")
    with f.forever():
        futex_until(f, word, I32(AWAKE), pause_between(f, f.load(I64, times), f.read(f.state("period"))))
        now, number, answered = (f.read(f.state(name)) for name in ("launch", "launches", "answers"))
        same = f.and_(f.is_(now, "==", f.load(I64, launch)), f.is_(number, "==", f.load(I64, launches)))
        in_vain = f.is_(answered, "==", f.load(I64, answers))
        inside = f.is_(now, "!=", 0)
        f.store(now, launch)
        f.store(number, launches)
        f.store(answered, answers)
        with f.if_else(f.and_(inside, f.and_(same, in_vain))) as (stays, other):
            with stays:
                with f.if_then(f.is_(f.read(f.state("pending")), "==", 0)):
                    f.write(1, f.state("pending"))
                    f.call("pk_interrupt", VOID, f.read(f.state("thread")))
                f.increase(times, 1)
            with other:
                f.store(0, times)
        with f.if_then(f.and_(same, f.not_(inside))):
            f.change("xchg", word, ASLEEP, kind=I32)
            with f.if_then(f.is_(f.read(f.state("launch"), order="seq_cst"), "!=", 0)):
                f.change("xchg", word, AWAKE, kind=I32)
            with f.while_(lambda: f.is_(f.read(word, kind=I32), "==", ASLEEP)):
                futex(f, word, WAIT, ASLEEP)


def _watch(module: Module) -> None:
    """The main thread is in a launch that nobody watches."""
    f = TeamBody(module, "pk_watch", VOID, [])
    word = f.state("watching")
    before = f.change("xchg", word, AWAKE, kind=I32)
    with f.if_then(f.is_(before, "==", ASLEEP)):
        futex(f, word, WAKE, 1)
    with f.if_then(f.is_(before, "!=", NOBODY)):
        f.ret()
    watcher = module.function("pk_watcher", (PTR, (PTR,)))
    made = f.variable(0)
    with new_thread(f, STACK) as make:
        f.store(f.cast("zext", f.is_(make(watcher, NULL), "==", 0), I64), made)
    with f.if_then(f.is_(f.load(I64, made), "==", 0), likely=False):
        f.change("xchg", word, NOBODY, kind=I32)  # the next launch tries again
    f.ret()
