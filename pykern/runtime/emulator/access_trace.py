"""LLVM IR of checks that write down each access before they make it, for launches whose accesses are counted.

Goes out: `write_traced_checks`, functions like those of `memory_checks`, and `traced`, which makes the text of a kernel
call them. A record is four words: the instruction, what the access is (`WHAT`), its group or request, its address.
What is in the buffer is taken by a function of Python when it is full. Read next: `access_counts`.
"""

from __future__ import annotations

import re

from pykern.runtime.emulator.emit import Emitter
from pykern.runtime.emulator.memory_checks import ACCESSES, SIZES, UNALIGNED, write_generic

RECORD_WORDS = 4
GLOBAL, SHARED = range(2)
READ, WRITE, UPDATE = range(3)
SPACE_AT, KIND_AT, BYTES_AT, THREAD_AT = 0, 4, 8, 16
"""Bits of the word that says what an access is."""
_CALLS = re.compile(r"@pk_(global|shared|generic)_(\w+?_\d+)\(")
_KINDS = {"write": WRITE, "update": UPDATE}


def traced(text: str) -> str:
    """The same LLVM IR, whose accesses are written down."""
    return _CALLS.sub(r"@pk_traced_\1_\2(", text)


def write_traced_checks() -> str:
    """The text of a module: it calls `memory_checks`, which is another one."""
    lines, declared = _record(), {}
    for nbytes in SIZES:
        for access in (*ACCESSES, *UNALIGNED):
            for space in ("global", "shared", "generic"):
                e = Emitter()
                name = f"pk_traced_{space}_{access}_{nbytes}"
                e.lines.append(f"define ptr @{name}(ptr %launch, i64 %address, i64 %site) {{")
                if space == "generic":
                    write_generic(e, access, nbytes, traced)
                else:
                    _check(e, space, access, nbytes)
                e.lines.append("}")
                lines += e.lines
                declared |= e.declared
    return "\n".join((*(d for name, d in declared.items() if "traced" not in name), *lines))


def _check(e: Emitter, space: str, access: str, nbytes: int) -> None:
    kind = _KINDS.get(access.removeprefix("unaligned_"), READ)
    what = {"global": GLOBAL, "shared": SHARED}[space] << SPACE_AT | kind << KIND_AT | nbytes << BYTES_AT
    given = ("ptr", "%launch"), ("i64", "%address"), ("i64", "%site")
    e.do(f"call void @pk_record(ptr %launch, i64 {what}, i64 %address, i64 %site)")
    e.do(f"ret ptr {e.call('ptr', f'pk_{space}_{access}_{nbytes}', *given)}")


def _record() -> list[str]:
    e = Emitter()
    e.lines.append("define void @pk_record(ptr %launch, i64 %what, i64 %address, i64 %site) {")
    used = e.slot("trace_used")
    place = e.cell(e.slot("trace"), used, 8 * RECORD_WORDS)
    thread, request = e.slot("thread"), e.slot("request_number")
    what = e.value(f"or i64 %what, {e.value(f'shl i64 {thread}, {THREAD_AT}')}")
    alone = e.value(f"icmp eq i64 {request}, 0")
    group = e.value(f"select i1 {alone}, i64 {e.slot('block')}, i64 {request}")
    for number, word in enumerate(("%site", what, group, "%address")):
        e.store("i64", word, e.offset(place, 8 * number))
    more = e.value(f"add i64 {used}, 1")
    e.set_slot("trace_used", more)
    with e.when(e.value(f"icmp eq i64 {more}, {e.slot('trace_room')}")):
        e.do(f"call void {e.pointer(e.slot('trace_full'))}()")
    e.do("ret void")
    e.lines.append("}")
    return e.lines
