"""LLVM IR that runs the warps of a block by turns, from wait to wait, until all of their threads have ended.

Goes out: `write_rounds`. A barrier lets go when as many threads as it counts stand there or have said that they come;
an operation of a warpgroup when its four warps stand at it. Warps at different barriers of the whole block are a
fault, and so are rounds in which nothing happens: on a GPU they would wait for ever.
"""

from __future__ import annotations

from pykern.runtime.emulator.emit import Emitter
from pykern.runtime.emulator.faults import DIVERGED, STUCK, UNFINISHED
from pykern.runtime.emulator.memory_checks import HELD, IN_FLIGHT, UNTOUCHED, WRITTEN
from pykern.runtime.emulator.requests import MULTIPLY, ask
from pykern.runtime.emulator.wait_kinds import OF_BLOCK, OF_WARPGROUP, WARPS

POLLING = -2
"""What a warp is told to stand at while some of its lanes ask again later."""
_ENDED = -1


def write_rounds(e: Emitter, run: str, lanes: int) -> None:
    """The rest of a function that runs a block: `run` takes a warp of so many lanes to its next wait for others."""
    _begin_block(e)
    threads = e.slot("threads")
    warps = e.value(f"udiv i64 {e.value(f'add i64 {threads}, {lanes - 1}')}, {lanes}")
    with e.loop(warps) as warp:
        e.store("i64", "0", _place(e, warp))
    with e.loop(e.slot("barriers")) as number:
        e.store("i64", "0", e.cell(e.slot("arrived"), number))
    live = e.local("i64")
    again, behind = e.label("again"), e.label("behind")
    e.set_slot("epoch", e.value(f"add i64 {e.slot('epoch')}, 1"))
    e.jump(again)
    e.begin(again)
    e.set_slot("progress", 0)
    e.store("i64", "0", live)
    with e.loop(warps) as warp:
        place = _place(e, warp)
        with e.when(e.value(f"icmp eq i64 {e.load('i64', place)}, 0")):
            at = e.call("i64", run, ("ptr", "%launch"), ("ptr", "%kernel"), ("i64", warp))
            polls = e.value(f"icmp eq i64 {at}, {POLLING}")
            ended = e.value(f"icmp eq i64 {at}, 0")
            with e.when(e.value(f"xor i1 {polls}, true")):
                e.set_slot("progress", 1)
            now = e.value(f"select i1 {ended}, i64 {_ENDED}, i64 {at}")
            e.store("i64", e.value(f"select i1 {polls}, i64 0, i64 {now}"), place)
        is_live = e.value(f"icmp ne i64 {e.load('i64', place)}, {_ENDED}")
        more = e.value(f"zext i1 {is_live} to i64")
        e.store("i64", e.value(f"add i64 {e.load('i64', live)}, {more}"), live)
    with e.loop(e.slot("barriers")) as number:
        _let_go(e, number, warps, lanes, e.load("i64", live))
    with e.loop(e.slot("warpgroups")) as group:
        _multiply(e, group)
    some = e.value(f"icmp ne i64 {e.load('i64', live)}, 0")
    stuck = e.value(f"icmp eq i64 {e.slot('progress')}, 0")
    with e.when(e.value(f"and i1 {some}, {stuck}")):
        with e.loop(warps) as warp:
            at = e.load("i64", _place(e, warp))
            with e.when(e.value(f"icmp sgt i64 {at}, 0")):
                e.fault(STUCK, "0", e.value(f"sub i64 {at}, 1"))
        e.fault(STUCK, "0", e.value(f"sub i64 {_first_state(e)}, 1"))
    fine = e.value(f"icmp eq i64 {e.slot('fault')}, 0")
    e.branch(e.value(f"and i1 {some}, {fine}"), again, behind)
    e.begin(behind)
    with e.when(e.value(f"icmp ne i64 {e.slot('pending')}, 0")):
        e.fault(UNFINISHED, "0", e.slot("last_request"))
    e.do("ret void")


def diverged(e: Emitter, condition: str, at: str) -> None:
    """Threads that stand at different waits, where the condition holds."""
    with e.when(condition):
        e.fault(DIVERGED, "0", e.value(f"sub i64 {at}, 1"))


def _begin_block(e: Emitter) -> None:
    """What is written in shared memory was another block's."""
    state = e.pointer(e.slot("shared_state"))
    with e.loop(e.slot("shared_bytes")) as byte:
        place = e.offset(state, byte)
        old = e.load("i8", place)
        plain = e.value(f"and i8 {old}, {255 ^ (IN_FLIGHT | HELD)}")
        written = e.value(f"icmp eq i8 {plain}, {WRITTEN}")
        e.store("i8", e.value(f"select i1 {written}, i8 {UNTOUCHED}, i8 {old}"), place)


def _place(e: Emitter, warp: str) -> str:
    return e.cell(e.slot("places"), warp)


def _first_state(e: Emitter) -> str:
    """A wait that some thread stands at: all poll."""
    found = e.local("i64")
    e.store("i64", "1", found)
    with e.loop(e.slot("threads")) as thread:
        state = e.load("i32", e.cell(e.slot("states"), thread, 4))
        with e.when(e.value(f"icmp sgt i32 {state}, 0")):
            e.store("i64", e.value(f"zext i32 {state} to i64"), found)
    return e.load("i64", found)


def _let_go(e: Emitter, number: str, warps: str, lanes: int, live: str) -> None:
    """A barrier, where enough have come."""
    standing, site, count = (e.local("i64") for _ in range(3))
    for place in (standing, site, count):
        e.store("i64", "0", place)
    with e.loop(warps) as warp:
        at = e.load("i64", _place(e, warp))
        with e.when(_stands_at(e, number, warp, at)):
            own = e.load("i64", e.cell(e.slot("barrier_counts"), warp))
            before = e.load("i64", site)
            other = e.value(
                f"and i1 {e.value(f'icmp ne i64 {before}, 0')}, {e.value(f'icmp ne i64 {before}, {at}')}"
            )
            diverged(e, e.value(f"and i1 {other}, {e.value(f'icmp eq i64 {own}, 0')}"), at)
            e.store("i64", at, site)
            e.store("i64", own, count)
            e.store("i64", e.value(f"add i64 {e.load('i64', standing)}, {lanes}"), standing)
    wanted = e.load("i64", count)
    everybody = e.value(f"icmp eq i64 {wanted}, 0")
    wanted = e.value(f"select i1 {everybody}, i64 {e.value(f'mul i64 {live}, {lanes}')}, i64 {wanted}")
    come = e.cell(e.slot("arrived"), number)
    here = e.value(f"add i64 {e.load('i64', standing)}, {e.load('i64', come)}")
    enough = e.value(f"icmp uge i64 {here}, {wanted}")
    some = e.value(f"icmp ne i64 {e.load('i64', standing)}, 0")
    with e.when(e.value(f"and i1 {enough}, {some}")):
        e.store("i64", "0", come)
        e.set_slot("progress", 1)
        e.set_slot("epoch", e.value(f"add i64 {e.slot('epoch')}, 1"))
        with e.loop(warps) as warp:
            place = _place(e, warp)
            with e.when(_stands_at(e, number, warp, e.load("i64", place))):
                e.store("i64", "0", place)


def _stands_at(e: Emitter, number: str, warp: str, at: str) -> str:
    waits = e.value(f"call i64 @llvm.smax.i64(i64 {at}, i64 0)")
    e.declared["llvm.smax.i64"] = "declare i64 @llvm.smax.i64(i64, i64)"
    kind = e.load("i8", e.cell(e.slot("kinds"), waits, 1))
    of_block = e.value(f"icmp eq i8 {kind}, {OF_BLOCK}")
    own = e.load("i64", e.cell(e.slot("barrier_numbers"), warp))
    here = e.value(f"and i1 {e.value(f'icmp eq i64 {own}, {number}')}, {of_block}")
    return e.value(f"and i1 {here}, {e.value(f'icmp sgt i64 {at}, 0')}")


def _multiply(e: Emitter, group: str) -> None:
    """The operation of a warpgroup, where all of its warps stand at the same one."""
    first = e.value(f"mul i64 {group}, {WARPS}")
    places = [_place(e, e.value(f"add i64 {first}, {n}")) for n in range(WARPS)]
    found = [e.load("i64", place) for place in places]
    waits = e.value(f"call i64 @llvm.smax.i64(i64 {found[0]}, i64 0)")
    kind = e.load("i8", e.cell(e.slot("kinds"), waits, 1))
    here = e.value(f"icmp eq i8 {kind}, {OF_WARPGROUP}")
    here = e.value(f"and i1 {here}, {e.value(f'icmp sgt i64 {found[0]}, 0')}")
    for other in found[1:]:
        here = e.value(f"and i1 {here}, {e.value(f'icmp eq i64 {found[0]}, {other}')}")
    with e.when(here):
        e.set_slot("thread", e.value(f"mul i64 {group}, 128"))
        ask(e, MULTIPLY, e.value(f"sub i64 {found[0]}, 1"), group)
        e.set_slot("progress", 1)
        for place in places:
            e.store("i64", "0", place)
