"""An object of AMD's devices becomes a code object, which ROCm loads.

Comes in: what LLVM's AMDGPU backend emits, complete in itself. Goes out: a shared object laid out as lld lays them
out: notes, symbols and read-only data (the kernels' descriptors among it), then code, then the dynamic table, each in
a segment and on pages of its own. Format: LLVM, "User Guide for AMDGPU Backend", section "Code Object".
"""

from __future__ import annotations

import struct

from pykern.errors import TargetError
from pykern.lowering.elf import amdgpu
from pykern.lowering.elf.objects import (
    ALLOC,
    EXECUTE,
    FIRST_RESERVED,
    LOCAL,
    NOTE,
    UNDEFINED,
    WRITE,
    Object,
    Symbol,
    parse,
)
from pykern.lowering.elf.objects import Section as Input
from pykern.lowering.elf.writer import (
    DYNAMIC,
    EXECUTABLE,
    HEADER_SIZE,
    LOAD,
    PROGRAM_HEADERS,
    READ_ONLY_LATER,
    READABLE,
    SEGMENT_SIZE,
    STACK,
    SYMBOL_SIZE,
    WRITABLE,
    Section,
    Segment,
    Strings,
    aligned,
    hash_table,
    symbol,
    write,
)
from pykern.lowering.elf.writer import NOTE as NOTES

PAGE = 4096
_HEADERS = 8 * SEGMENT_SIZE
_DYNAMIC_SYMBOL = "_DYNAMIC"


def link(file: bytes) -> bytes:
    """Raises `TargetError` for what is not complete in itself."""
    read = parse(file)
    if read.machine != amdgpu.NUMBER:
        raise TargetError("linking failed: this is no code of an AMD device")
    missing = [s.name for s in read.symbols if s.section == UNDEFINED and s.binding != LOCAL]
    if missing:
        raise TargetError(f"linking failed: `{missing[0]}` is nowhere defined")
    return _CodeObject(read).file()


class _CodeObject:
    def __init__(self, read: Object) -> None:
        self.read = read
        self.sections: list[Section] = []
        self.placed: dict[int, Section] = {}  # by the number of the section of the object

    def file(self) -> bytes:
        self._check()
        at = HEADER_SIZE + _HEADERS
        notes, constant, text = (self._of(kind) for kind in ("notes", "constant", "text"))
        exported = [s for s in self.read.symbols if s.binding != LOCAL]
        for number, section in notes:
            at = self._place(number, section, at, 0)
        notes_end = at
        strings, tables = Strings(), hash_table(s.name for s in exported)
        starts = [strings.add(s.name) for s in exported]
        dynsym = self._table(
            ".dynsym", 11, bytes(SYMBOL_SIZE * (len(exported) + 1)), 8, at, ".dynstr", SYMBOL_SIZE
        )
        hashes = self._table(".hash", 5, tables, 8, dynsym.offset + len(dynsym.content), ".dynsym", 4)
        dynstr = self._table(".dynstr", 3, strings.content, 1, hashes.offset + len(tables), "", 0)
        at = dynstr.offset + len(strings.content)
        for number, section in constant:
            at = self._place(number, section, at, 0)
        constant_end = at
        at = text_begin = aligned(at, max([64, *(s.alignment for _, s in text)]))
        for number, section in text:
            at = self._place(number, section, at, PAGE)
        text_end = at
        dynamic = self._dynamic(dynsym, dynstr, hashes, aligned(at, 64))
        self._relocate()
        dynsym.content = bytes(SYMBOL_SIZE) + b"".join(map(self._entry, starts, exported))
        dynsym.info = 1
        self.sections += self._names(dynamic)
        size = len(dynamic.content)
        room = aligned(dynamic.address + size, PAGE) - dynamic.address
        segments = [
            Segment(PROGRAM_HEADERS, READABLE, HEADER_SIZE, HEADER_SIZE, _HEADERS, _HEADERS, 8),
            Segment(LOAD, READABLE, 0, 0, constant_end, constant_end, PAGE),
            Segment(
                LOAD, READABLE | EXECUTABLE, text_begin, text_begin + PAGE, text_end - text_begin,
                text_end - text_begin, PAGE,
            ),
            Segment(LOAD, READABLE | WRITABLE, dynamic.offset, dynamic.address, size, room, PAGE),
            Segment(DYNAMIC, READABLE | WRITABLE, dynamic.offset, dynamic.address, size, size, 8),
            Segment(READ_ONLY_LATER, READABLE, dynamic.offset, dynamic.address, size, room, 1),
            Segment(STACK, READABLE | WRITABLE, 0, 0, 0, 0, 0),
            Segment(
                NOTES, READABLE, HEADER_SIZE + _HEADERS, HEADER_SIZE + _HEADERS,
                notes_end - HEADER_SIZE - _HEADERS, notes_end - HEADER_SIZE - _HEADERS, 4,
            ),
        ]  # fmt: skip
        return write(self.read.machine, self.read.abi, self.read.flags, segments, self.sections)

    def _check(self) -> None:
        for section in self.read.sections:
            if section.flags & ALLOC and section.flags & WRITE and section.size:
                raise TargetError(
                    f"linking failed: `{section.name}` is memory that a code object does not have"
                )

    def _of(self, kind: str) -> list[tuple[int, Input]]:
        return [
            (number, section)
            for number, section in enumerate(self.read.sections)
            if section.flags & ALLOC and not section.flags & WRITE and _kind(section) == kind
        ]

    def _place(self, number: int, section: Input, at: int, further: int) -> int:
        """Put a section at the next place that fits it; where it ends. Its address is so much further on."""
        at = aligned(at, section.alignment)
        made = Section(
            section.name, section.kind, section.flags & (ALLOC | EXECUTE), section.content, section.alignment, at,
            at + further,
        )  # fmt: skip
        self.sections.append(made)
        self.placed[number] = made
        return at + section.size

    def _table(
        self, name: str, kind: int, content: bytes, alignment: int, at: int, link: str, entry: int
    ) -> Section:
        at = aligned(at, alignment)
        made = Section(name, kind, ALLOC, content, alignment, at, at, link, 0, entry)
        self.sections.append(made)
        return made

    def _dynamic(self, dynsym: Section, dynstr: Section, hashes: Section, at: int) -> Section:
        entries = (
            (6, dynsym.address), (11, SYMBOL_SIZE), (5, dynstr.address), (10, len(dynstr.content)),
            (4, hashes.address), (0, 0),
        )  # fmt: skip
        content = b"".join(struct.pack("<QQ", *entry) for entry in entries)
        made = Section(".dynamic", 6, ALLOC | WRITE, content, 8, at, at + 2 * PAGE, ".dynstr", 0, 16)
        self.sections.append(made)
        return made

    def _relocate(self) -> None:
        contents = {number: bytearray(section.content) for number, section in self.placed.items()}
        for number, offset, kind, target, addend in self.read.relocations:
            at = self.placed[number].address + offset
            amdgpu.apply(contents[number], offset, at, kind, self._address(target), addend)
        for number, content in contents.items():
            self.placed[number].content = bytes(content)

    def _address(self, number: int) -> int:
        found = self.read.symbols[number]
        if found.section not in self.placed:
            raise TargetError(f"linking failed: `{found.name}` has no place in a code object")
        return self.placed[found.section].address + found.value

    def _entry(self, name: int, found: Symbol) -> bytes:
        section, value = found.section, found.value
        if UNDEFINED < section < FIRST_RESERVED:
            if section not in self.placed:
                return b""
            value += self.placed[section].address
            section = self.sections.index(self.placed[section]) + 1
        return symbol(name, found.binding, found.kind, found.visibility, section, value, found.size)

    def _names(self, dynamic: Section) -> list[Section]:
        """The table of all symbols: those that have no other use say what registers and memory the kernels take."""
        strings, entries = Strings(), bytes(SYMBOL_SIZE)
        local = [s for s in self.read.symbols[1:] if s.binding == LOCAL and s.name]
        entries += b"".join(self._entry(strings.add(s.name), s) for s in local)
        at = self.sections.index(dynamic) + 1
        entries += symbol(strings.add(_DYNAMIC_SYMBOL), 0, 0, 2, at, dynamic.address, 0)
        count = len(entries) // SYMBOL_SIZE
        entries += b"".join(
            self._entry(strings.add(s.name), s) for s in self.read.symbols if s.binding != LOCAL
        )
        return [
            Section(".symtab", 2, 0, entries, 8, link=".strtab", info=count, entry_size=SYMBOL_SIZE),
            Section(".strtab", 3, 0, strings.content),
        ]


def _kind(section: Input) -> str:
    if section.kind == NOTE:
        return "notes"
    return "text" if section.flags & EXECUTE else "constant"
