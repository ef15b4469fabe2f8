"""Chunks of a launch: a thread takes its own from the front, and those of others from the end.

Comes in: a slot of `state`. Goes out: `pk_take`, the number of a chunk or -1; `pk_chunk`, which runs one; `pk_work`,
which runs all that there are. Thread k of t has rows `extent * k / t` up to `extent * (k + 1) / t` at home, in every
launch: what it touched first is what it works on later, unless others have to help.
"""

from __future__ import annotations

from llvmlite import ir

from pykern.lowering.llvm.program.builder import I1, I32, I64, NULL, PTR
from pykern.lowering.llvm.team.state import (
    FRAME,
    FRAME_BYTES,
    LINE,
    RANGES,
    SLOT,
    VOID,
    TeamBody,
)
from pykern.lowering.llvm.team.system import WAKE, futex


def write_work(module: ir.Module) -> None:
    """The functions, in the order of their calls."""
    _take(module)
    _chunk(module)
    _work(module)


def _take(module: ir.Module) -> None:
    f = TeamBody(module, "pk_take", I64, [PTR, I64, I1])
    ranges, generation, thief = f.arguments
    ticket = f.variable(f.read(ranges, order="acquire"))
    with f.forever():
        seen = f.load(I64, ticket)
        first, end = f.at.and_(f.at.lshr(seen, I64(16)), I64(0xFFFF)), f.at.and_(seen, I64(0xFFFF))
        mine = f.is_(f.at.lshr(seen, I64(32)), "==", f.at.and_(generation, I64(0xFFFFFFFF)))
        f.need(f.at.and_(mine, f.is_(first, "<", end)), I64(-1))
        left = f.at.select(thief, f.at.sub(seen, I64(1)), f.at.add(seen, I64(1 << 16)))
        found, good = f.swap(ranges, seen, left)
        with f.at.if_then(good):
            f.at.ret(f.at.select(thief, f.at.sub(end, I64(1)), first))
        f.store(found, ticket)


def _chunk(module: ir.Module) -> None:
    """Run a chunk, unless the launch is stopped. Where code asks whether it is (`pk_poll`), it may come back early."""
    f = TeamBody(module, "pk_chunk", VOID, [PTR, I64])
    slot, part = f.arguments
    with f.at.if_then(f.is_(f.read(slot, SLOT["stop"]), "!=", 0), likely=False):
        f.at.ret_void()
    outer = f.frame()
    frame = f.memory(FRAME_BYTES)
    f.store(1, frame, FRAME["inside"])
    f.store(slot, frame, FRAME["slot"])
    f.store(0, frame, FRAME["stopped"])
    launching = f.is_(outer, "!=", NULL)
    f.store(0, frame, FRAME["asks"])
    with f.at.if_then(launching):
        for name in ("asks", "asked"):
            f.store(f.load(I64, outer, FRAME[name]), frame, FRAME[name])
    f.set_frame(frame)
    with f.at.if_then(f.at.icmp_signed("==", f.jump_target(frame), I32(0)), likely=True):
        extent, parts = f.read(slot, SLOT["extent"]), f.read(slot, SLOT["parts"])
        function, data = f.read_pointer(slot, SLOT["fn"]), f.read_pointer(slot, SLOT["data"])
        after = f.at.add(part, I64(1))
        low, high = (f.at.sdiv(f.at.mul(extent, n), parts) for n in (part, after))
        f.call_pointer(function, VOID, data, low, high)
    f.set_frame(outer)
    with f.at.if_then(launching):
        f.store(f.load(I64, frame, FRAME["asked"]), outer, FRAME["asked"])
        with f.at.if_then(f.is_(f.load(I64, frame, FRAME["stopped"]), "!=", 0), likely=False):
            f.store(1, outer, FRAME["stopped"])
    f.at.ret_void()


def _work(module: ir.Module) -> None:
    """As thread number `me`; the frame is null unless Python is to be asked for signals. Whether there was any."""
    f = TeamBody(module, "pk_work", I1, [PTR, I64, I64, PTR])
    slot, me, generation, frame = f.arguments
    team = f.read(slot, SLOT["team"])
    f.need(f.is_(me, "<", team), I1(0))
    parts = f.at.trunc(f.read(slot, SLOT["parts"]), I32)
    did = f.variable(I1(0), I1)
    part = f.variable(0)
    with f.loop(team) as k:
        at = f.at.add(me, k)
        whose = f.at.select(f.is_(at, "<", team), at, f.at.sub(at, team))
        ranges = f.place(f.place(slot, RANGES), f.at.mul(whose, I64(LINE)))
        with f.while_(lambda ranges=ranges, k=k: _taken(f, part, ranges, generation, f.is_(k, "!=", 0))):
            f.call("pk_chunk", VOID, slot, f.load(I64, part))
            f.store(I1(1), did)
            done = f.at.add(f.change("add", f.place(slot, SLOT["done"]), 1, kind=I32), I32(1))
            last = f.at.icmp_unsigned("==", done, parts)
            with f.at.if_then(last), f.at.if_then(f.is_(f.read(slot, SLOT["waiting"], "seq_cst"), "!=", 0)):
                futex(f, f.place(slot, SLOT["done"]), WAKE, 1)
            with f.at.if_then(f.is_(frame, "!=", NULL)):
                f.call("pk_ask", VOID, frame, slot)
    f.at.ret(f.load(I1, did))


def _taken(f: TeamBody, part: ir.Value, *arguments: ir.Value) -> ir.Value:
    """Whether there was another chunk, whose number goes into the variable."""
    f.store(f.call("pk_take", I64, *arguments), part)
    return f.is_(f.load(I64, part), ">=", 0)
