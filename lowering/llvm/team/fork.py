"""A launch gives its chunks out, works on them, and waits until they are done: not for threads, but for work.

Comes in: what kernels and nests call. Goes out: `pk_fork(fn, data, extent, team, parts)`, which calls `fn(data, low,
high)` for all of `0..extent` in so many parts, and `pk_share(fn, data, extent, seen)`, which chooses the number of
parts by how long the nest took last. A launch from within a chunk, and one for which all slots are taken, runs alone.
Neither comes back where a signal handler raised: it goes on in `pk_call` (see `calls`). Threads that are in the midst
of a chunk then are interrupted until all have left theirs.
"""

from __future__ import annotations

from pykern.data.abi import TABLE_INDEX
from pykern.lowering.llvm.team.calls import OUT_OF_MEMORY
from pykern.lowering.llvm.team.state import CHUNKS, FRAME, INSIDE, LINE, MOST, RANGES, SLOT, SLOTS, TeamBody
from pykern.lowering.llvm.team.system import ALL, WAKE_SOME, futex, futex_until, here, pause
from pykern.lowering.llvm.team.watch import pause_between
from pykern.lowering.llvm.team.workers import bit_of
from pykern.lowering.llvm.text_ir.module import Module
from pykern.lowering.llvm.text_ir.values import I1, I32, I64, NULL, PTR, VOID, Operand, Value
from pykern.passes.analysis.cost_model.threads import (
    AWAKE_NS,
    CHUNK_NS,
    CHUNKS_EACH,
    INTERRUPT_CHECK_MS,
    UNKNOWN_CHUNKS_EACH,
)


def write_fork(module: Module) -> None:
    """The functions of this file."""
    _alone(module)
    _interrupt_all(module)
    _join(module)
    _free_slot(module)
    _fork(module)
    _share(module)


def _least(f: TeamBody, a: Value, b: Operand) -> Value:
    return f.select(f.is_(a, "<", b), a, b)


def _most(f: TeamBody, a: Value, b: Operand) -> Value:
    return f.select(f.is_(a, ">", b), a, b)


def _alone(module: Module) -> None:
    """All chunks, one after the other, in this thread."""
    f = TeamBody(module, "pk_alone", VOID, [PTR, PTR, I64, I64])
    function, data, extent, parts = f.arguments
    frame = f.frame()
    asks = f.variable(I1(0))
    with f.if_then(f.is_(frame, "!=", NULL)):
        f.store(f.is_(f.load(I64, frame, FRAME["asks"]), "!=", 0), asks)
    low = f.variable(0)
    with f.loop(parts) as n:
        high = f.sdiv(f.mul(extent, f.add(n, 1)), parts)
        f.call_pointer(function, VOID, data, f.load(I64, low), high)
        f.store(high, low)
        with f.if_then(f.load(I1, asks)):
            f.call("pk_ask", VOID, frame, f.load(PTR, frame, FRAME["slot"]))
            f.call("pk_leave", VOID, frame)
    f.ret()


def _interrupt_all(module: Module) -> None:
    """The workers that are inside of a chunk of this slot."""
    f = TeamBody(module, "pk_interrupt_all", VOID, [PTR])
    (slot,) = f.arguments
    with f.loop(f.read(slot, SLOT["team"])) as k:
        thread = f.read(f.place(f.place(slot, RANGES + INSIDE), f.mul(k, LINE)))
        with f.if_then(f.is_(thread, "!=", 0)):
            f.call("pk_interrupt", VOID, thread)
    f.ret()


def _free_slot(module: Module) -> None:
    """The number of a slot that is ours now; -1 where all are taken."""
    f = TeamBody(module, "pk_free_slot", I64, [])
    with f.loop(SLOTS) as n:
        place = f.place(f.slot(n), SLOT["busy"])
        with f.if_then(f.is_(f.read(place), "==", 0)):
            _, mine = f.swap(place, 0, 1)
            with f.if_then(mine):
                f.ret(n)
    f.ret(-1)


def _join(module: Module) -> None:
    """Wait until all chunks are done; the frame is null unless Python is to be asked for signals."""
    f = TeamBody(module, "pk_join", VOID, [PTR, I32, PTR])
    slot, parts, frame = f.arguments
    turns, until, times = f.variable(0), f.variable(0), f.variable(0)
    done = f.place(slot, SLOT["done"])

    def left() -> Value:
        return f.is_(f.read(done, order="acquire", kind=I32), "!=", parts)

    with f.while_(left):
        pause(f)
        f.increase(turns, 1)
        with f.if_then(f.is_(f.and_(f.load(I64, turns), 63), "==", 0), likely=False):
            now = f.now()
            with f.if_then(f.is_(f.load(I64, until), "==", 0)):
                f.store(f.add(now, AWAKE_NS), until)
            with f.if_then(f.is_(now, ">", f.load(I64, until))):
                f.change("xchg", f.place(slot, SLOT["waiting"]), 1)
                seen = f.read(done, order="seq_cst", kind=I32)
                asks = f.is_(frame, "!=", NULL)
                with f.if_then(f.is_(f.read(slot, SLOT["stop"]), "!=", 0), likely=False):
                    f.call("pk_interrupt_all", VOID, slot)
                    f.increase(times, 1)
                with f.if_then(f.is_(seen, "!=", parts)):
                    wait = pause_between(f, f.load(I64, times), I64(INTERRUPT_CHECK_MS * 1_000_000))
                    futex_until(f, done, seen, wait)
                with f.if_then(asks):
                    f.call("pk_ask", VOID, frame, slot)
    f.ret()


def _fork(module: Module) -> None:
    f = TeamBody(module, "pk_fork", VOID, [PTR, PTR, I64, I64, I64])
    function, data, extent, wanted, chunks = f.arguments
    with f.if_then(f.is_(extent, "<=", 0)):
        f.ret()
    parts = _most(f, _least(f, _least(f, chunks, extent), CHUNKS), 1)
    team = _least(f, _least(f, wanted, MOST), parts)
    frame = f.frame()
    inside, asking = f.variable(0), f.variable(NULL)
    with f.if_then(f.is_(frame, "!=", NULL)):
        f.store(f.load(I64, frame, FRAME["inside"]), inside)
        with f.if_then(f.is_(f.load(I64, frame, FRAME["asks"]), "!=", 0)):
            f.store(frame, asking)
    number = f.variable(-1)
    with f.if_then(f.and_(f.is_(team, ">", 1), f.is_(f.load(I64, inside), "==", 0))):
        f.store(f.call("pk_free_slot", I64), number)
    with f.if_then(f.is_(f.load(I64, number), "<", 0)):
        f.call("pk_alone", VOID, function, data, extent, parts)
        f.ret()
    with f.if_then(f.is_(f.read(f.state("workers")), "<", f.sub(team, 1)), likely=False):
        f.call("pk_hire", VOID, f.sub(team, 1))
    which = f.load(I64, number)
    slot = f.slot(which)
    for name, value in (
        ("fn", function),
        ("data", data),
        ("extent", extent),
        ("parts", parts),
        ("team", team),
    ):
        f.write(value, slot, SLOT[name])
    for name in ("stop", "waiting"):
        f.write(0, slot, SLOT[name])
    f.write(I32(0), slot, SLOT["done"])
    generation = f.add(f.read(slot, SLOT["generation"]), 1)
    with f.loop(team) as k:
        first, last = (f.sdiv(f.mul(parts, n), team) for n in (k, f.add(k, 1)))
        ticket = f.or_(f.shl(generation, 32), f.or_(f.shl(first, 16), last))
        f.write(ticket, f.place(f.place(slot, RANGES), f.mul(k, LINE)))
        f.write(0, f.place(f.place(slot, RANGES + INSIDE), f.mul(k, LINE)))
    f.write(generation, slot, SLOT["generation"], "release")
    home = here(f)
    with f.if_then(f.is_(f.read(f.state("home")), "!=", home)):
        f.write(home, f.state("home"))
    bit = f.shl(1, which)
    f.change("or", f.state("running"), bit)
    f.change("add", f.state("epoch"), 1, kind=I32)
    with f.if_then(f.is_(f.read(f.state("sleepers"), order="seq_cst"), "!=", 0)):
        all_bits = f.sub(f.shl(bit_of(f, f.sub(team, 1)), 1), 1)
        futex(f, f.state("epoch"), WAKE_SOME, ALL, all_bits)
    f.change("add", f.state("forks"), 1, "monotonic")
    f.call("pk_work", I1, slot, 0, generation, f.load(PTR, asking), 0)
    f.change("and", f.state("running"), f.xor(bit, -1))
    f.call("pk_join", VOID, slot, f.cast("trunc", parts, I32), f.load(PTR, asking))
    ended = f.is_(f.read(slot, SLOT["stop"]), "==", OUT_OF_MEMORY)
    f.write(0, slot, SLOT["busy"], "release")
    with f.if_then(f.is_(frame, "!=", NULL)):
        with f.if_then(ended, likely=False):
            f.store(OUT_OF_MEMORY, frame, FRAME["stopped"])
        f.call("pk_leave", VOID, frame)
    f.ret()


def _share(module: Module) -> None:
    """`seen` points to the nanoseconds that the nest took last, 0 before; a null pointer: a chunk a thread."""
    f = TeamBody(module, "pk_share", VOID, [PTR, PTR, I64, PTR])
    function, data, extent, seen = f.arguments
    table = f.load(PTR, module.globals["pk_table"])
    team = _least(f, _most(f, f.load(I64, table, 8 * TABLE_INDEX["threads"]), 1), MOST)
    with f.if_then(f.is_(seen, "==", NULL)):
        f.call("pk_fork", VOID, function, data, extent, team, team)
        f.ret()
    before = f.read(seen)
    several = f.is_(team, ">", 1)
    work = f.mul(before, team)
    short = f.select(several, _least(f, f.sdiv(work, CHUNK_NS), f.mul(team, CHUNKS_EACH)), 1)
    parts = _most(f, short, team)
    first = f.select(f.is_(before, "==", 0), f.mul(team, UNKNOWN_CHUNKS_EACH), parts)
    started = f.now()
    f.call("pk_fork", VOID, function, data, extent, team, first)
    f.write(_most(f, f.sub(f.now(), started), 1), seen)
    f.ret()
