"""LLVM IR of a launch: block after block, warp after warp, a thread at a time until it waits.

Goes out: `write_scheduler`. Lanes that wait for their warp go on when every lane that has not ended stands at the same
wait. Lanes that poll, since they wait for a phase of an mbarrier, are asked again while the others of their warp
stand. Lanes that stand at different waits are a fault: on a GPU they would wait for ever, or take what was never
brought. Read next: `block_rounds`, the warps of a block.
"""

from __future__ import annotations

from pykern.runtime.emulator.block_rounds import POLLING, diverged, write_rounds
from pykern.runtime.emulator.emit import Emitter
from pykern.runtime.emulator.faults import ABSENT_LANE, TRAPPED
from pykern.runtime.emulator.tensor_cores import LANES
from pykern.runtime.emulator.wait_kinds import MOST_WORDS, OF_BLOCK, POLL


def write_scheduler() -> tuple[list[str], dict[str, str]]:
    lines: list[str] = []
    declared: dict[str, str] = {}
    for write in (
        write_grid,
        _block,
        _warp,
        _lanes,
        _trap,
        *(_shuffle(way) for way in ("up", "down", "bfly", "idx")),
    ):
        e = Emitter()
        write(e)
        e.lines.append("}")
        lines += e.lines
        declared |= e.declared
    return lines, declared


def write_grid(e: Emitter, name: str = "pk_grid", block: str = "pk_block") -> None:
    """A function that runs a block after the other."""
    e.lines.append(f"define void @{name}(ptr %launch, ptr %kernel) {{")
    counts = [e.slot(f"nctaid.{axis}") for axis in "xyz"]
    with e.loop(counts[2]) as z, e.loop(counts[1]) as y, e.loop(counts[0]) as x:
        for axis, number in (("x", x), ("y", y), ("z", z)):
            e.set_slot(f"ctaid.{axis}", number)
        row = e.value(f"add i64 {y}, {e.value(f'mul i64 {z}, {counts[1]}')}")
        e.set_slot("block", e.value(f"add i64 {x}, {e.value(f'mul i64 {row}, {counts[0]}')}"))
        with e.when(e.value(f"icmp eq i64 {e.slot('fault')}, 0")):
            e.call("void", block, ("ptr", "%launch"), ("ptr", "%kernel"))
    e.do("ret void")


def _block(e: Emitter) -> None:
    """Runs all warps from barrier to barrier, until all threads have ended or something is wrong."""
    e.lines.append("define void @pk_block(ptr %launch, ptr %kernel) {")
    with e.loop(e.slot("threads")) as thread:
        e.store("i32", "0", e.cell(e.slot("states"), thread, 4))
    write_rounds(e, "pk_warp", LANES)


def _warp(e: Emitter) -> None:
    """Runs a warp to its next wait for others, whose number it gives; 0 when all of its lanes have ended, `POLLING`
    when some lanes ask again later."""
    e.lines.append("define i64 @pk_warp(ptr %launch, ptr %kernel, i64 %warp) {")
    again, stop, exchange = e.label("again"), e.label("stop"), e.label("exchange")
    own = e.value(f"mul i64 %warp, {e.slot('given_bytes')}")
    for area in ("given", "taken"):
        e.set_slot(area, e.value(f"add i64 {e.slot(f'all_{area}')}, {own}"))
    e.jump(again)
    e.begin(again)
    at = e.call("i64", "pk_lanes", ("ptr", "%launch"), ("ptr", "%kernel"), ("i64", "%warp"))
    ended = e.value(f"icmp sle i64 {at}, 0")
    wrong = e.value(f"icmp ne i64 {e.slot('fault')}, 0")
    out = e.label("waits")
    e.branch(e.value(f"or i1 {ended}, {wrong}"), stop, out)
    e.begin(out)
    words = e.load("i8", e.cell(e.slot("kinds"), at, 1))
    alone = e.value(f"icmp ule i8 {words}, {MOST_WORDS}")
    e.branch(
        e.value(f"and i1 {alone}, {e.value(f'icmp ne i8 {words}, {OF_BLOCK}')}"),
        exchange,
        stop,
    )
    e.begin(exchange)
    with e.loop(e.value(f"mul i64 {e.resized(words, 8, 64)}, {LANES}")) as word:
        e.store("i64", e.load("i64", e.cell(e.slot("given"), word)), e.cell(e.slot("taken"), word))
    e.jump(again)
    e.begin(stop)
    e.do(f"ret i64 {at}")


def _lanes(e: Emitter) -> None:
    """Runs the lanes of a warp that may go on, each to its next wait: those that poll where some do, else all. Gives
    the number of the wait that all have come to; 0 when all have ended, `POLLING` when some poll."""
    e.lines.append("define i64 @pk_lanes(ptr %launch, ptr %kernel, i64 %warp) {")
    first, threads = e.value(f"mul i64 %warp, {LANES}"), e.slot("threads")
    common, present, polling = (e.local("i64") for _ in range(3))
    for place in (common, present, polling):
        e.store("i64", "0", place)
    left = e.value(f"sub i64 {threads}, {first}")
    full = e.value(f"icmp ugt i64 {left}, {LANES}")
    count = e.value(f"select i1 {full}, i64 {LANES}, i64 {left}")
    with e.loop(count) as lane:
        state = e.load("i32", _state_cell(e, e.value(f"add i64 {first}, {lane}")))
        bit = e.value(f"zext i1 {_polls(e, state)} to i64")
        e.store("i64", e.value(f"or i64 {e.load('i64', polling)}, {bit}"), polling)
    nobody = e.value(f"icmp eq i64 {e.load('i64', polling)}, 0")
    e.store("i64", "0", polling)
    with e.loop(count) as lane:
        thread = e.value(f"add i64 {first}, {lane}")
        state_cell = _state_cell(e, thread)
        state = e.load("i32", state_cell)
        fine = e.value(f"icmp eq i64 {e.slot('fault')}, 0")
        runs = e.value(f"and i1 {e.value(f'icmp sge i32 {state}, 0')}, {fine}")
        with e.when(e.value(f"and i1 {runs}, {e.value(f'or i1 {nobody}, {_polls(e, state)}')}")):
            _place_thread(e, thread, lane)
            frame = e.cell(e.slot("frames"), e.value(f"mul i64 {thread}, {e.slot('frame_bytes')}"), 1)
            at = e.value(f"call i32 %kernel(ptr %launch, ptr {frame}, i32 {state})")
            ended = e.value(f"icmp eq i32 {at}, 0")
            now = e.value(f"select i1 {ended}, i32 -1, i32 {at}")
            e.store("i32", now, state_cell)
            same = e.value(f"and i1 {e.value(f'icmp eq i32 {state}, {now}')}, {_polls(e, now)}")
            with e.when(e.value(f"xor i1 {same}, true")):
                e.set_slot("progress", 1)
        now = e.load("i32", state_cell)
        polls = _polls(e, now)
        e.store(
            "i64", e.value(f"or i64 {e.load('i64', polling)}, {e.value(f'zext i1 {polls} to i64')}"), polling
        )
        stands = e.value(f"and i1 {e.value(f'icmp sgt i32 {now}, 0')}, {e.value(f'xor i1 {polls}, true')}")
        with e.when(stands):
            wide, others = e.value(f"zext i32 {now} to i64"), e.load("i64", common)
            different = e.value(f"icmp ne i64 {wide}, {others}")
            known = e.value(f"icmp ne i64 {others}, 0")
            diverged(e, e.value(f"and i1 {different}, {known}"), wide)
            e.store("i64", wide, common)
            bit = e.value(f"shl i64 1, {lane}")
            e.store("i64", e.value(f"or i64 {e.load('i64', present)}, {bit}"), present)
    e.set_slot("present", e.load("i64", present))
    some = e.value(f"icmp ne i64 {e.load('i64', polling)}, 0")
    at = e.load("i64", common)
    e.do(f"ret i64 {e.value(f'select i1 {some}, i64 {POLLING}, i64 {at}')}")


def _state_cell(e: Emitter, thread: str) -> str:
    return e.cell(e.slot("states"), thread, 4)


def _polls(e: Emitter, state: str) -> str:
    """Whether a thread stands where it asks again."""
    at = e.value(f"call i32 @llvm.smax.i32(i32 {state}, i32 0)")
    e.declared["llvm.smax.i32"] = "declare i32 @llvm.smax.i32(i32, i32)"
    kind = e.load("i8", e.cell(e.slot("kinds"), e.value(f"zext i32 {at} to i64"), 1))
    return e.value(f"and i1 {e.value(f'icmp sgt i32 {state}, 0')}, {e.value(f'icmp eq i8 {kind}, {POLL}')}")


def _place_thread(e: Emitter, thread: str, lane: str) -> None:
    """Tell the kernel's code which thread it is."""
    wide, high = e.slot("ntid.x"), e.slot("ntid.y")
    row = e.value(f"udiv i64 {thread}, {wide}")
    e.set_slot("tid.x", e.value(f"urem i64 {thread}, {wide}"))
    e.set_slot("tid.y", e.value(f"urem i64 {row}, {high}"))
    e.set_slot("tid.z", e.value(f"udiv i64 {row}, {high}"))
    e.set_slot("thread", thread)
    e.set_slot("lane", lane)
    own = e.value(f"mul i64 {thread}, {e.slot('local_bytes')}")
    e.set_slot("local", e.value(f"add i64 {e.slot('locals')}, {own}"))


def _trap(e: Emitter) -> None:
    e.lines.append("define void @pk_trap(ptr %launch, i64 %site) {")
    e.fault(TRAPPED, "0", "%site")
    e.do("ret void")


def _shuffle(way: str):
    """The lane that a lane takes from; beyond 31, itself, where the source is outside of its segment.

    PTX ISA, shfl.sync: bits 8 to 12 of the last operand are the segment's mask, bits 0 to 4 its clamp.
    """

    def write(e: Emitter) -> None:
        e.lines.append(
            f"define i32 @pk_lane_{way}(ptr %launch, i32 %lane, i32 %by, i32 %clamp, i64 %site) {{"
        )
        segment = e.value(f"and i32 {e.value('lshr i32 %clamp, 8')}, 31")
        outside = e.value(f"xor i32 {segment}, 31")
        begin = e.value(f"and i32 %lane, {segment}")
        clamp = e.value("and i32 %clamp, 31")
        last = e.value(f"or i32 {begin}, {e.value(f'and i32 {clamp}, {outside}')}")
        by = e.value("and i32 %by, 31")
        source = {
            "up": lambda: e.value(f"sub i32 %lane, {by}"),
            "down": lambda: e.value(f"add i32 %lane, {by}"),
            "bfly": lambda: e.value(f"xor i32 %lane, {by}"),
            "idx": lambda: e.value(f"or i32 {begin}, {e.value(f'and i32 {by}, {outside}')}"),
        }[way]()
        inside = e.value(f"icmp {'sge' if way == 'up' else 'sle'} i32 {source}, {last}")
        wide = e.value(f"zext i32 {e.value(f'and i32 {source}, 31')} to i64")
        present = e.value(f"lshr i64 {e.slot('present')}, {wide}")
        absent = e.value(f"icmp eq i64 {e.value(f'and i64 {present}, 1')}, 0")
        with e.when(e.value(f"and i1 {inside}, {absent}")):
            e.fault(ABSENT_LANE, "0", "%site")
        itself = e.value("or i32 %lane, 32")
        e.do(f"ret i32 {e.value(f'select i1 {inside}, i32 {source}, i32 {itself}')}")

    return write
