"""Chunks of a launch: a thread takes its own from the front, and those of others from the end.

Comes in: a slot of `state`. Goes out: `pk_take`, a chunk's number or -1; `pk_chunk`, which runs one; `pk_work`, which
runs all that there are. Thread k of t has rows `extent * k / t` up to `extent * (k + 1) / t` at home, in every launch:
what it touched first is what it works on later, unless others have to help.
"""

from __future__ import annotations

from pykern.lowering.llvm.team.memory_blocks import give_back
from pykern.lowering.llvm.team.state import FRAME, INSIDE, LINE, RANGES, SLOT, TeamBody
from pykern.lowering.llvm.team.system import WAKE, futex
from pykern.lowering.llvm.text_ir.module import Module
from pykern.lowering.llvm.text_ir.values import I1, I32, I64, NULL, PTR, VOID, Value


def write_work(module: Module) -> None:
    """The functions, in the order of their calls."""
    _take(module)
    _chunk(module)
    _work(module)


def _take(module: Module) -> None:
    """One chunk of a range."""
    f = TeamBody(module, "pk_take", I64, [PTR, I64, I1])
    ranges, generation, thief = f.arguments
    ticket = f.variable(f.read(ranges, order="acquire"))
    with f.forever():
        seen = f.load(I64, ticket)
        first, end = f.and_(f.lshr(seen, 16), 0xFFFF), f.and_(seen, 0xFFFF)
        mine = f.is_(f.lshr(seen, 32), "==", f.and_(generation, 0xFFFFFFFF))
        f.need(f.and_(mine, f.is_(first, "<", end)), -1)
        left = f.select(thief, f.sub(seen, 1), f.add(seen, 1 << 16))
        found, good = f.swap(ranges, seen, left)
        with f.if_then(good):
            f.ret(f.select(thief, f.sub(end, 1), first))
        f.store(found, ticket)


def _chunk(module: Module) -> None:
    """Run one, unless the launch is stopped; where it is stopped meanwhile, it is left."""
    f = TeamBody(module, "pk_chunk", VOID, [PTR, I64])
    slot, part = f.arguments
    outer = f.frame()
    frame = f.new_frame()
    f.store(1, frame, FRAME["inside"])
    f.store(slot, frame, FRAME["slot"])
    launching = f.is_(outer, "!=", NULL)
    with f.if_then(launching):
        for name in ("asks", "asked", "launch"):
            f.store(f.load(I64, outer, FRAME[name]), frame, FRAME[name])
    f.set_frame(frame)
    with f.if_else(f.is_(f.jump_target(frame), "==", 0), likely=True) as (first, left):
        with first, f.if_then(f.is_(f.read(slot, SLOT["stop"]), "==", 0), likely=True):
            extent, parts = f.read(slot, SLOT["extent"]), f.read(slot, SLOT["parts"])
            function, data = f.read(slot, SLOT["fn"], kind=PTR), f.read(slot, SLOT["data"], kind=PTR)
            low, high = (f.sdiv(f.mul(extent, n), parts) for n in (part, f.add(part, 1)))
            f.call_pointer(function, VOID, data, low, high)
        with left:
            give_back(f, frame)
    f.set_frame(outer)
    with f.if_then(launching):
        f.store(f.load(I64, frame, FRAME["asked"]), outer, FRAME["asked"])
        with f.if_then(f.is_(f.load(I64, frame, FRAME["stopped"]), "!=", 0), likely=False):
            f.store(f.load(I64, frame, FRAME["stopped"]), outer, FRAME["stopped"])
    f.ret()


def _work(module: Module) -> None:
    """As thread number `me`; the frame is null unless Python is to be asked for signals, `thread` what Linux calls a
    worker. Whether there was any work."""
    f = TeamBody(module, "pk_work", I1, [PTR, I64, I64, PTR, I64])
    slot, me, generation, frame, thread = f.arguments
    team = f.read(slot, SLOT["team"])
    f.need(f.is_(me, "<", team), I1(0))
    parts = f.read(slot, SLOT["parts"])
    inside = f.place(f.place(slot, RANGES + INSIDE), f.mul(me, LINE))
    did, taken = f.variable(I1(0)), f.variable(0)
    with f.loop(team) as k:
        at = f.add(me, k)
        whose = f.select(f.is_(at, "<", team), at, f.sub(at, team))
        ranges = f.place(f.place(slot, RANGES), f.mul(whose, LINE))
        thief = f.is_(k, "!=", 0)
        with f.while_(lambda ranges=ranges, thief=thief: _taken(f, taken, ranges, generation, thief)):
            f.write(thread, inside)
            f.call("pk_chunk", VOID, slot, f.load(I64, taken))
            f.write(0, inside)
            f.store(I1(1), did)
            with f.if_then(f.is_(frame, "!=", NULL)):
                f.call("pk_ask", VOID, frame, slot)
            done = f.add(f.change("add", f.place(slot, SLOT["done"]), 1, kind=I32), I32(1))
            last = f.is_(done, "==", f.cast("trunc", parts, I32))
            with f.if_then(last), f.if_then(f.is_(f.read(slot, SLOT["waiting"], "seq_cst"), "!=", 0)):
                futex(f, f.place(slot, SLOT["done"]), WAKE, 1)
    f.ret(f.load(I1, did))


def _taken(f: TeamBody, taken: Value, ranges: Value, generation: Value, thief: Value) -> Value:
    """Whether there was another chunk; which one goes into the variable."""
    f.store(f.call("pk_take", I64, ranges, generation, thief), taken)
    return f.is_(f.load(I64, taken), ">=", 0)
