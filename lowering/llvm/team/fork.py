"""A launch gives its chunks out, works on them, and waits until they are done: not for threads, but for work.

Comes in: what kernels and nests call. Goes out: `pk_fork(fn, data, extent, team, parts)`, which calls `fn(data, low,
high)` for all of `0..extent` in so many parts, and `pk_share(fn, data, extent, seen)`, which chooses the number of
parts by how long the nest took last. A launch from within a chunk, and one for which all slots are taken, runs alone.
Neither comes back where a signal handler raised: it goes on in `pk_call` (see `calls`).
"""

from __future__ import annotations

from llvmlite import ir

from pykern.abi import TABLE_INDEX
from pykern.lowering.llvm.program.builder import I1, I32, I64, NULL, PTR, Value
from pykern.lowering.llvm.team.calls import ASK_MS
from pykern.lowering.llvm.team.state import CHUNKS, FRAME, LINE, MOST, RANGES, SLOT, SLOTS, VOID, TeamBody
from pykern.lowering.llvm.team.system import ALL, WAIT, WAKE_SOME, futex, futex_until, here, pause
from pykern.lowering.llvm.team.workers import bit_of

AWAKE = 20_000
"""Nanoseconds that a launch waits awake for the chunks of others."""
CHUNKS_EACH = 4
"""Chunks of a thread, so that others may help it: every one repeats what is the same for all."""
FIRST_EACH = 16
"""Chunks of a thread where nobody knows how long they take."""
SHORTEST, LONGEST = 50_000, 20_000_000
"""Nanoseconds of a chunk: shorter ones would repeat too much, longer ones keep Ctrl-C waiting."""


def write_fork(module: ir.Module) -> None:
    """The functions of this file."""
    _alone(module)
    _join(module)
    _free_slot(module)
    _fork(module)
    _share(module)


def _least(f: TeamBody, a: Value, b: Value) -> Value:
    b = I64(b) if isinstance(b, int) else b
    return f.at.select(f.is_(a, "<", b), a, b)


def _most(f: TeamBody, a: Value, b: Value) -> Value:
    b = I64(b) if isinstance(b, int) else b
    return f.at.select(f.is_(a, ">", b), a, b)


def _alone(module: ir.Module) -> None:
    """All chunks, one after the other, in this thread."""
    f = TeamBody(module, "pk_alone", VOID, [PTR, PTR, I64, I64])
    function, data, extent, parts = f.arguments
    frame = f.frame()
    asks = f.variable(I1(0), I1)
    with f.at.if_then(f.is_(frame, "!=", NULL)):
        f.store(f.is_(f.load(I64, frame, FRAME["asks"]), "!=", 0), asks)
    with f.loop(parts) as part:
        low, high = (f.at.sdiv(f.at.mul(extent, n), parts) for n in (part, f.at.add(part, I64(1))))
        f.call_pointer(function, VOID, data, low, high)
        with f.at.if_then(f.load(I1, asks)):
            f.call("pk_poll", VOID)
    f.at.ret_void()


def _free_slot(module: ir.Module) -> None:
    """The number of a slot that is ours now; -1 where all are taken."""
    f = TeamBody(module, "pk_free_slot", I64, [])
    with f.loop(I64(SLOTS)) as n:
        place = f.place(f.slot(n), SLOT["busy"])
        with f.at.if_then(f.is_(f.read(place), "==", 0)):
            _, mine = f.swap(place, 0, 1)
            with f.at.if_then(mine):
                f.at.ret(n)
    f.at.ret(I64(-1))


def _join(module: ir.Module) -> None:
    """Wait until all chunks are done; the frame is null unless Python is to be asked for signals."""
    f = TeamBody(module, "pk_join", VOID, [PTR, I32, PTR])
    slot, parts, frame = f.arguments
    turns, until = f.variable(0), f.variable(0)
    done = f.place(slot, SLOT["done"])

    def left() -> Value:
        return f.at.icmp_unsigned("!=", f.read(done, order="acquire", kind=I32), parts)

    with f.while_(left):
        pause(f)
        f.add(turns, 1)
        with f.at.if_then(f.is_(f.at.and_(f.load(I64, turns), I64(63)), "==", 0), likely=False):
            now = f.now()
            with f.at.if_then(f.is_(f.load(I64, until), "==", 0)):
                f.store(f.at.add(now, I64(AWAKE)), until)
            with f.at.if_then(f.is_(now, ">", f.load(I64, until))):
                f.change("xchg", f.place(slot, SLOT["waiting"]), 1)
                seen = f.read(done, order="seq_cst", kind=I32)
                asks = f.is_(frame, "!=", NULL)
                more = f.at.icmp_unsigned("!=", seen, parts)
                with f.at.if_then(more), f.at.if_else(asks) as (main, other):
                    with main:
                        futex_until(f, done, seen, ASK_MS)
                    with other:
                        futex(f, done, WAIT, seen)
                with f.at.if_then(asks):
                    f.call("pk_ask", VOID, frame, slot)
    f.at.ret_void()


def _fork(module: ir.Module) -> None:
    f = TeamBody(module, "pk_fork", VOID, [PTR, PTR, I64, I64, I64])
    function, data, extent, wanted, chunks = f.arguments
    with f.at.if_then(f.is_(extent, "<=", 0)):
        f.at.ret_void()
    parts = _most(f, _least(f, _least(f, chunks, extent), CHUNKS), 1)
    team = _least(f, _least(f, wanted, MOST), parts)
    frame = f.frame()
    inside, asking = f.variable(0), f.variable(NULL, PTR)
    with f.at.if_then(f.is_(frame, "!=", NULL)):
        f.store(f.load(I64, frame, FRAME["inside"]), inside)
        with f.at.if_then(f.is_(f.load(I64, frame, FRAME["asks"]), "!=", 0)):
            f.store(frame, asking)
    number = f.variable(-1)
    with f.at.if_then(f.at.and_(f.is_(team, ">", 1), f.is_(f.load(I64, inside), "==", 0))):
        f.store(f.call("pk_free_slot", I64), number)
    with f.at.if_then(f.is_(f.load(I64, number), "<", 0)):
        f.call("pk_alone", VOID, function, data, extent, parts)
        f.at.ret_void()
    with f.at.if_then(f.is_(f.read(f.state("workers")), "<", f.at.sub(team, I64(1))), likely=False):
        f.call("pk_hire", VOID, f.at.sub(team, I64(1)))
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
    generation = f.at.add(f.read(slot, SLOT["generation"]), I64(1))
    with f.loop(team) as k:
        first, last = (f.at.sdiv(f.at.mul(parts, n), team) for n in (k, f.at.add(k, I64(1))))
        ticket = f.at.or_(f.at.shl(generation, I64(32)), f.at.or_(f.at.shl(first, I64(16)), last))
        f.write(ticket, f.place(f.place(slot, RANGES), f.at.mul(k, I64(LINE))))
    f.write(generation, slot, SLOT["generation"], "release")
    home = here(f)
    with f.at.if_then(f.is_(f.read(f.state("home")), "!=", home)):
        f.write(home, f.state("home"))
    bit = f.at.shl(I64(1), which)
    f.change("or", f.state("running"), bit)
    f.change("add", f.state("epoch"), 1, kind=I32)
    with f.at.if_then(f.is_(f.read(f.state("sleepers"), order="seq_cst"), "!=", 0)):
        all_bits = f.at.sub(f.at.shl(bit_of(f, f.at.sub(team, I64(1))), I64(1)), I64(1))
        futex(f, f.state("epoch"), WAKE_SOME, ALL, all_bits)
    f.change("add", f.state("forks"), 1, "monotonic")
    f.call("pk_work", I1, slot, I64(0), generation, f.load(PTR, asking))
    f.change("and", f.state("running"), f.at.xor(bit, I64(-1)))
    f.call("pk_join", VOID, slot, f.at.trunc(parts, I32), f.load(PTR, asking))
    f.write(0, slot, SLOT["busy"], "release")
    with f.at.if_then(f.is_(frame, "!=", NULL)):
        f.call("pk_leave", VOID, frame)
    f.at.ret_void()


def _share(module: ir.Module) -> None:
    """`seen` points to the nanoseconds that the nest took last, 0 before; a null pointer: a chunk a thread."""
    f = TeamBody(module, "pk_share", VOID, [PTR, PTR, I64, PTR])
    function, data, extent, seen = f.arguments
    table = f.load(PTR, module.globals["pk_table"])
    team = _least(f, _most(f, f.load(I64, table, 8 * TABLE_INDEX["threads"]), 1), MOST)
    with f.at.if_then(f.is_(seen, "==", NULL)):
        f.call("pk_fork", VOID, function, data, extent, team, team)
        f.at.ret_void()
    before = f.read(seen)
    several = f.is_(team, ">", 1)
    work = f.at.mul(before, team)
    short = f.at.select(
        several, _least(f, f.at.sdiv(work, I64(SHORTEST)), _times(f, team, CHUNKS_EACH)), I64(1)
    )
    parts = _most(f, _most(f, short, team), f.at.sdiv(work, I64(LONGEST)))
    first = f.at.select(f.is_(before, "==", 0), _times(f, team, FIRST_EACH), parts)
    started = f.now()
    f.call("pk_fork", VOID, function, data, extent, team, first)
    f.write(_most(f, f.at.sub(f.now(), started), 1), seen)
    f.at.ret_void()


def _times(f: TeamBody, value: Value, by: int) -> Value:
    return f.at.mul(value, I64(by))
