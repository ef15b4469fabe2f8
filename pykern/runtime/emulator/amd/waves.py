"""LLVM IR of a launch of AMD's code: block after block, wave after wave, an instruction at a time.

Goes out: `write_waves`. A kernel is a row of records (`body`); a wave runs one after the other until it ends or stands
at a barrier, and goes on when all waves of its group stand there.
"""

from __future__ import annotations

from pykern.runtime.emulator.amd.state import BASE_ITEM, EXISTING, PC, SCALARS, STOPPED, WAVE, WORD
from pykern.runtime.emulator.emit import Emitter
from pykern.runtime.emulator.scheduler import write_grid, write_rounds

LANES = (32, 64)
"""Of a wave."""
_GROUP_BITS = 16


def write_waves() -> tuple[list[str], dict[str, str]]:
    lines: list[str] = []
    declared: dict[str, str] = {}
    for number in LANES:
        for write in (_begin, _run, _block, _grid):
            e = Emitter()
            write(e, number)
            e.lines.append("}")
            lines += e.lines
            declared |= e.declared
    return lines, declared


def _grid(e: Emitter, lanes: int) -> None:
    write_grid(e, f"pk_grid_of_waves_{lanes}", f"pk_block_of_waves_{lanes}")


def _block(e: Emitter, lanes: int) -> None:
    e.lines.append(f"define void @pk_block_of_waves_{lanes}(ptr %launch, ptr %kernel) {{")
    threads = e.slot("threads")
    waves = e.value(f"udiv i64 {e.value(f'add i64 {threads}, {lanes - 1}')}, {lanes}")
    with e.loop(waves) as wave:
        e.call("void", f"pk_begin_wave_{lanes}", ("ptr", "%launch"), ("ptr", "%kernel"), ("i64", wave))
    write_rounds(e, f"pk_wave_{lanes}", lanes)


def _memory(e: Emitter, wave: str) -> str:
    return e.cell(e.slot("frames"), e.value(f"mul i64 {wave}, {e.slot('frame_bytes')}"), 1)


def _word(e: Emitter, memory: str, number: int) -> str:
    return e.offset(memory, WORD * number)


def _begin(e: Emitter, lanes: int) -> None:
    """Registers as a wave finds them: the kernel's, its group's number, those of its work-items in a vector register.

    AMD, "User Guide for AMDGPU Backend", initial kernel execution state. `kernel` is the first record.
    """
    e.lines.append(f"define void @pk_begin_wave_{lanes}(ptr %launch, ptr %kernel, i64 %wave) {{")
    memory = _memory(e, "%wave")
    with e.loop(e.value(f"udiv i64 {e.slot('template_bytes')}, 8")) as number:
        e.store(
            "i64",
            e.load("i64", e.cell(e.slot("template"), number)),
            e.offset(memory, e.value(f"mul i64 {number}, 8")),
        )
    e.store("i64", e.value("ptrtoint ptr %kernel to i64"), _word(e, memory, PC))
    e.store("i32", "0", _word(e, memory, STOPPED))
    e.store("i32", e.resized("%wave", 64, 32), _word(e, memory, WAVE))
    first = e.value(f"mul i64 %wave, {lanes}")
    e.store("i32", e.resized(first, 64, 32), _word(e, memory, BASE_ITEM))
    groups = [e.resized(e.slot(f"ctaid.{axis}"), 64, 32) for axis in "xyz"]
    for axis, group in zip("xyz", groups, strict=True):
        e.store("i32", group, e.offset(memory, e.slot(f"group_at.{axis}")))
    e.store("i32", groups[0], _word(e, memory, SCALARS["ttmp9"]))
    both = e.value(f"or i32 {groups[1]}, {e.value(f'shl i32 {groups[2]}, {_GROUP_BITS}')}")
    e.store("i32", both, _word(e, memory, SCALARS["ttmp7"]))
    _existing(e, memory, first, lanes)
    registers = e.offset(memory, e.slot("template_bytes"))
    wide, high = e.slot("ntid.x"), e.slot("ntid.y")
    items = e.slot("items")
    with e.loop(str(lanes)) as lane:
        item = e.value(f"add i64 {first}, {lane}")
        row = e.value(f"udiv i64 {item}, {wide}")
        found = e.value(f"urem i64 {item}, {wide}")
        for dimension, number in (
            (1, e.value(f"urem i64 {row}, {high}")),
            (2, e.value(f"udiv i64 {row}, {high}")),
        ):
            asked = e.value(f"icmp uge i64 {items}, {dimension}")
            shifted = e.value(f"shl i64 {number}, {10 * dimension}")
            found = e.value(f"or i64 {found}, {e.value(f'select i1 {asked}, i64 {shifted}, i64 0')}")
        e.store("i32", e.resized(found, 64, 32), e.offset(registers, e.value(f"mul i64 {lane}, {WORD}")))
    e.do("ret void")


def _existing(e: Emitter, memory: str, first: str, lanes: int) -> None:
    """EXEC begins with the lanes that have work-items."""
    kind = f"i{lanes}"
    left = e.value(f"sub i64 {e.slot('threads')}, {first}")
    missing = e.value(f"sub i64 {lanes}, {left}")
    full = e.value(f"icmp uge i64 {left}, {lanes}")
    by = e.resized(e.value(f"select i1 {full}, i64 0, i64 {missing}"), 64, lanes)
    mask = e.value(f"lshr {kind} -1, {by}")
    e.store("i64", e.resized(mask, lanes, 64), _word(e, memory, SCALARS["exec"]))
    e.store("i64", e.resized(mask, lanes, 64), _word(e, memory, EXISTING))


def _run(e: Emitter, lanes: int) -> None:
    """Runs a wave to its next barrier, whose number it gives; 0 when it has ended."""
    e.lines.append(f"define i64 @pk_wave_{lanes}(ptr %launch, ptr %kernel, i64 %wave) {{")
    memory = _memory(e, "%wave")
    at = e.load("i64", _word(e, memory, PC))
    begun, again, ended = e.label("begun"), e.label("again"), e.label("ended")
    held = e.local("ptr")
    e.store("ptr", e.pointer(at), held)
    e.branch(e.value(f"icmp eq i64 {at}, 0"), ended, begun)
    e.begin(begun)
    e.jump(again)
    e.begin(again)
    record = e.load("ptr", held)
    code = e.load("ptr", record)
    following = e.value(f"call ptr {code}(ptr %launch, ptr {memory}, ptr {record})")
    e.store("ptr", following, held)
    stop = e.label("stop")
    e.branch(e.value(f"icmp eq ptr {following}, null"), stop, again)
    e.begin(stop)
    e.do(f"ret i64 {e.resized(e.load('i32', _word(e, memory, STOPPED)), 32, 64)}")
    e.begin(ended)
    e.do("ret i64 0")
