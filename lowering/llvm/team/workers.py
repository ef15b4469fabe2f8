"""The threads of the team: they wait for launches, awake for a moment and then asleep, and work on all there are.

Comes in: launches, by `epoch` and `running` of `state`. Goes out: chunks that are done. Workers are made when a launch
wants them, and are never ended: they are detached, take no signal but ours, and know nothing of Python, so that a
process may end around them. A child of a fork has none, and makes its own.
"""

from __future__ import annotations

from pykern.lowering.llvm.team.state import SLOT, SLOTS, TeamBody
from pykern.lowering.llvm.team.system import MASK_BYTES, WAIT_SOME, futex, here, pause, this_thread
from pykern.lowering.llvm.team.threads import new_thread
from pykern.lowering.llvm.team.watch import NOBODY
from pykern.lowering.llvm.text_ir.module import Module
from pykern.lowering.llvm.text_ir.values import I1, I32, I64, NULL, PTR, VOID, Value
from pykern.passes.analysis.cost_model.threads import LOST_NS, PAUSES_PER_LOOK

STACK = 16 << 20
"""Bytes at least, of which only what is touched is taken: kernels keep private arrays there."""


def write_workers(module: Module) -> None:
    """The functions of this file."""
    _search(module)
    _apart(module)
    _sleep(module)
    _worker(module)
    _hire(module)
    _forked(module)


def bit_of(f: TeamBody, number: Value) -> Value:
    """The bit that worker `number` waits with: the last one is for all further ones."""
    return f.shl(1, f.select(f.is_(number, "<", 32), f.sub(number, 1), 31))


def _search(module: Module) -> None:
    """Work on every launch that there is; whether there was any."""
    f = TeamBody(module, "pk_search", I1, [I64, I64])
    me, thread = f.arguments
    bits = f.variable(f.read(f.state("running"), order="acquire"))
    did = f.variable(I1(0))
    with f.while_(lambda: f.is_(f.load(I64, bits), "!=", 0)):
        left = f.load(I64, bits)
        f.store(f.and_(left, f.sub(left, 1)), bits)
        slot = f.slot(f.call("llvm.cttz.i64", I64, left, I1(1)))
        generation = f.read(slot, SLOT["generation"], "acquire")
        worked = f.call("pk_work", I1, slot, me, generation, NULL, thread)
        f.store(f.or_(f.load(I1, did), worked), did)
    f.ret(f.load(I1, did))


def _sleep(module: Module) -> None:
    """Wait until the epoch is another than the one `seen`, away from the processor of the last launch."""
    f = TeamBody(module, "pk_sleep", VOID, [I64, I32, PTR, PTR])
    me, seen, allowed, avoided = f.arguments
    f.call("pk_apart", VOID, allowed, avoided)
    f.change("add", f.state("sleepers"), 1)
    epoch = f.read(f.state("epoch"), order="seq_cst", kind=I32)
    with f.if_then(f.is_(epoch, "==", seen)):
        futex(f, f.state("epoch"), WAIT_SOME, seen, bit_of(f, me))
    f.change("sub", f.state("sleepers"), 1)
    with f.if_then(f.is_(here(f), "==", f.read(f.state("home")))):
        f.call("pk_apart", VOID, allowed, avoided)
    f.ret()


def _apart(module: Module) -> None:
    """Leave the processor that launches came from last, where there are enough others."""
    f = TeamBody(module, "pk_apart", VOID, [PTR, PTR])
    allowed, avoided = f.arguments
    home = f.read(f.state("home"))
    same = f.is_(home, "==", f.load(I64, avoided))
    known = f.and_(f.is_(home, ">", 0), f.is_(home, "<=", 8 * MASK_BYTES))
    with f.if_then(f.and_(known, f.not_(same))):
        f.store(home, avoided)
        f.call("pk_forbid", VOID, allowed, f.sub(home, 1), f.read(f.state("workers")))
    f.ret()


def _worker(module: Module) -> None:
    """What a thread of the team does all its life."""
    f = TeamBody(module, "pk_worker", PTR, [PTR])
    me = f.cast("ptrtoint", f.arguments[0], I64)
    allowed, avoided = f.memory(MASK_BYTES), f.variable(0)
    f.call("sched_getaffinity", I32, I32(0), MASK_BYTES, allowed)
    f.call("pk_short_slice", VOID)
    thread = this_thread(f)
    turns, until, last = f.variable(0), f.variable(0), f.variable(0)
    repeat = f.variable(I1(1))
    with f.forever():
        seen = f.read(f.state("epoch"), order="acquire", kind=I32)
        with f.if_then(f.not_(f.call("pk_search", I1, me, thread))):
            f.store(0, turns)
            f.store(0, until)
            f.store(I1(1), repeat)
            with f.while_(lambda: _same_epoch(f, seen, repeat)):
                pause(f)
                f.increase(turns, 1)
                with f.if_then(f.is_(f.and_(f.load(I64, turns), PAUSES_PER_LOOK - 1), "==", 0), likely=False):
                    now = f.now()
                    with f.if_then(f.is_(f.load(I64, until), "==", 0)):
                        f.store(f.add(now, f.load(I64, f.state("spin"))), until)
                        f.store(now, last)
                    lost = f.is_(f.sub(now, f.load(I64, last)), ">", LOST_NS)
                    f.store(now, last)
                    with f.if_then(f.or_(lost, f.is_(now, ">=", f.load(I64, until)))):
                        f.call("pk_sleep", VOID, me, seen, allowed, avoided)
                        f.store(I1(0), repeat)


def _same_epoch(f: TeamBody, seen: Value, repeat: Value) -> Value:
    epoch = f.read(f.state("epoch"), order="acquire", kind=I32)
    return f.and_(f.is_(epoch, "==", seen), f.load(I1, repeat))


def _hire(module: Module) -> None:
    """See that there are so many workers, if the system gives them, and nobody else is just making some."""
    f = TeamBody(module, "pk_hire", VOID, [I64])
    (wanted,) = f.arguments
    _, free = f.swap(f.state("hiring"), 0, 1)
    with f.if_then(f.not_(free)):
        f.ret()
    good = f.variable(I1(1))

    def fewer() -> Value:
        return f.and_(f.load(I1, good), f.is_(f.read(f.state("workers")), "<", wanted))

    with new_thread(f, STACK, taken=f.call("pk_signal", I64)) as make, f.while_(fewer):
        number = f.add(f.read(f.state("workers")), 1)
        worker = f.module.function("pk_worker", (PTR, (PTR,)))
        made = make(worker, f.cast("inttoptr", number, PTR))
        f.store(f.is_(made, "==", 0), good)
        with f.if_then(f.load(I1, good)):
            f.write(number, f.state("workers"))
    f.write(0, f.state("hiring"), order="release")
    f.ret()


def _forked(module: Module) -> None:
    """In a child of a fork: there are no workers, nor the threads whose launches were under way."""
    f = TeamBody(module, "pk_forked", VOID, [])
    for name in ("workers", "sleepers", "running", "hiring", "launch", "pending"):
        f.write(0, f.state(name))
    f.write(I32(NOBODY), f.state("watching"))
    f.write(f.call("pthread_self", I64), f.state("main"))
    f.write(this_thread(f), f.state("thread"))
    with f.loop(SLOTS) as n:
        for name in ("busy", "waiting"):
            f.write(0, f.slot(n), SLOT[name])
    f.ret()
