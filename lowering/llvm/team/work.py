"""Chunks of a launch: a thread takes its own from the front, and those of others from the end.

Comes in: a slot of `state`. Goes out: `pk_take`, some consecutive chunks or -1; `pk_chunks`, which runs a few of them;
`pk_work`, which runs all that there are. A thread takes one chunk first, and more at once where they turn out to be
short (`pace`), but never more than half of what is left. Thread k of t has rows `extent * k / t` up to
`extent * (k + 1) / t` at home, in every launch: what it touched first is what it works on later, unless others have to
help.
"""

from __future__ import annotations

from pykern.lowering.llvm.team.pace import Pace, in_groups
from pykern.lowering.llvm.team.state import (
    FRAME,
    FRAME_BYTES,
    LINE,
    RANGES,
    SLOT,
    TeamBody,
)
from pykern.lowering.llvm.team.system import WAKE, futex
from pykern.lowering.llvm.text_ir.module import Module
from pykern.lowering.llvm.text_ir.values import I1, I32, I64, NULL, PTR, VOID, Value

COUNT = 16
"""The bit of what `pk_take` gives from which on it is how many chunks there are; below it is the first one."""


def write_work(module: Module) -> None:
    """The functions, in the order of their calls."""
    _take(module)
    _chunks(module)
    _work(module)


def _take(module: Module) -> None:
    """Of a range of chunks, as many as are wanted, or half of those that are left."""
    f = TeamBody(module, "pk_take", I64, [PTR, I64, I1, I64])
    ranges, generation, thief, wanted = f.arguments
    ticket = f.variable(f.read(ranges, order="acquire"))
    with f.forever():
        seen = f.load(I64, ticket)
        first, end = f.and_(f.lshr(seen, 16), 0xFFFF), f.and_(seen, 0xFFFF)
        mine = f.is_(f.lshr(seen, 32), "==", f.and_(generation, 0xFFFFFFFF))
        f.need(f.and_(mine, f.is_(first, "<", end)), -1)
        half = f.lshr(f.add(f.sub(end, first), 1), 1)
        count = f.select(f.is_(wanted, "<", half), wanted, half)
        left = f.select(thief, f.sub(seen, count), f.add(seen, f.shl(count, 16)))
        found, good = f.swap(ranges, seen, left)
        with f.if_then(good):
            start = f.select(thief, f.sub(end, count), first)
            f.ret(f.or_(start, f.shl(count, COUNT)))
        f.store(found, ticket)


def _chunks(module: Module) -> None:
    """Run consecutive chunks, each by itself, unless the launch is stopped.

    Where code asks whether it is (`pk_poll`), it may come back early.
    """
    f = TeamBody(module, "pk_chunks", VOID, [PTR, I64, I64])
    slot, part, count = f.arguments
    with f.if_then(f.is_(f.read(slot, SLOT["stop"]), "!=", 0), likely=False):
        f.ret()
    outer = f.frame()
    frame = f.memory(FRAME_BYTES)
    f.store(1, frame, FRAME["inside"])
    f.store(slot, frame, FRAME["slot"])
    f.store(0, frame, FRAME["stopped"])
    launching = f.is_(outer, "!=", NULL)
    f.store(0, frame, FRAME["asks"])
    with f.if_then(launching):
        for name in ("asks", "asked"):
            f.store(f.load(I64, outer, FRAME[name]), frame, FRAME[name])
    f.set_frame(frame)
    with f.if_then(f.is_(f.jump_target(frame), "==", 0), likely=True):
        extent, parts = f.read(slot, SLOT["extent"]), f.read(slot, SLOT["parts"])
        function, data = f.read(slot, SLOT["fn"], kind=PTR), f.read(slot, SLOT["data"], kind=PTR)
        low = f.variable(f.sdiv(f.mul(extent, part), parts))
        with f.loop(count) as n, f.if_then(f.is_(f.read(slot, SLOT["stop"]), "==", 0), likely=True):
            high = f.sdiv(f.mul(extent, f.add(f.add(part, n), 1)), parts)
            f.call_pointer(function, VOID, data, f.load(I64, low), high)
            f.store(high, low)
    f.set_frame(outer)
    with f.if_then(launching):
        f.store(f.load(I64, frame, FRAME["asked"]), outer, FRAME["asked"])
        with f.if_then(f.is_(f.load(I64, frame, FRAME["stopped"]), "!=", 0), likely=False):
            f.store(f.load(I64, frame, FRAME["stopped"]), outer, FRAME["stopped"])
    f.ret()


def _work(module: Module) -> None:
    """As thread number `me`; the frame is null unless Python is to be asked for signals. Whether there was any."""
    f = TeamBody(module, "pk_work", I1, [PTR, I64, I64, PTR])
    slot, me, generation, frame = f.arguments
    team = f.read(slot, SLOT["team"])
    f.need(f.is_(me, "<", team), I1(0))
    parts = f.read(slot, SLOT["parts"])
    did = f.variable(I1(0))
    taken, pace = f.variable(0), Pace(f, parts, team)
    with f.loop(team) as k:
        at = f.add(me, k)
        whose = f.select(f.is_(at, "<", team), at, f.sub(at, team))
        ranges = f.place(f.place(slot, RANGES), f.mul(whose, LINE))
        thief = f.is_(k, "!=", 0)
        with f.while_(lambda ranges=ranges, thief=thief: _taken(f, taken, ranges, generation, thief, pace)):
            part = f.and_(f.load(I64, taken), (1 << COUNT) - 1)
            count = f.lshr(f.load(I64, taken), COUNT)
            with in_groups(f, count) as (first, some):
                f.call("pk_chunks", VOID, slot, f.add(part, first), some)
                with f.if_then(f.is_(frame, "!=", NULL)):
                    f.call("pk_ask", VOID, frame, slot)
            f.store(I1(1), did)
            count = f.cast("trunc", count, I32)
            done = f.add(f.change("add", f.place(slot, SLOT["done"]), count, kind=I32), count)
            last = f.is_(done, "==", f.cast("trunc", parts, I32))
            with f.if_then(last), f.if_then(f.is_(f.read(slot, SLOT["waiting"], "seq_cst"), "!=", 0)):
                futex(f, f.place(slot, SLOT["done"]), WAKE, 1)
            pace.measure()
    f.ret(f.load(I1, did))


def _taken(f: TeamBody, taken: Value, ranges: Value, generation: Value, thief: Value, pace: Pace) -> Value:
    """Whether there were more chunks; which ones goes into the variable."""
    f.store(f.call("pk_take", I64, ranges, generation, thief, pace.wanted()), taken)
    return f.is_(f.load(I64, taken), ">=", 0)
