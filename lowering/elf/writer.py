"""ELF files: sections that have their places already, the segments over them, symbols and strings.

Comes in: `Section`s, `Segment`s. Goes out: the bytes of a shared object. Used for the CPU (`shared_object`) and for
AMD's devices (`code_object`), which lay their sections out each in its own way.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

HEADER_SIZE, SEGMENT_SIZE, SECTION_SIZE, SYMBOL_SIZE, RELOCATION_SIZE = 64, 56, 64, 24, 24
SHARED_OBJECT = 3
LOAD, DYNAMIC, NOTE, PROGRAM_HEADERS = 1, 2, 4, 6
STACK, READ_ONLY_LATER = 0x6474E551, 0x6474E552
"""Kinds of segments; `STACK` says that no stack is to be executable."""
EXECUTABLE, WRITABLE, READABLE = 1, 2, 4

_HEADER, _SEGMENT = struct.Struct("<4sBBB2s7xHHIQQQIHHHHHH"), struct.Struct("<IIQQQQQQ")
_SECTION, _SYMBOL = struct.Struct("<IIQQQQIIQQ"), struct.Struct("<IBBHQQ")


class Segment(NamedTuple):
    """What the system's loader maps, or looks at."""

    kind: int
    flags: int
    offset: int
    address: int
    file_size: int
    size: int
    alignment: int


@dataclass
class Section:
    """A section of the file, at its place. `link` names another one; `size` differs for zeros that are not stored."""

    name: str
    kind: int
    flags: int
    content: bytes
    alignment: int = 1
    offset: int = 0
    address: int = 0
    link: str = ""
    info: int = 0
    entry_size: int = 0
    size: int = -1


@dataclass
class Strings:
    """A string table in the making."""

    content: bytes = b"\0"

    def add(self, text: str) -> int:
        """Where the text is."""
        at = len(self.content)
        self.content += text.encode() + b"\0"
        return at


def symbol(name: int, binding: int, kind: int, visibility: int, section: int, value: int, size: int) -> bytes:
    """An entry of a symbol table."""
    return _SYMBOL.pack(name, binding << 4 | kind, visibility, section, value, size)


def hash_table(names: Iterable[str]) -> bytes:
    """The table by which dlsym finds the symbols of these names, which are those from number 1 on."""
    listed = list(names)
    count = max(len(listed) // 4, 1)
    buckets, chains = [0] * count, [0] * (len(listed) + 1)
    for number, name in enumerate(listed, 1):
        place = hashed(name) % count
        chains[number], buckets[place] = buckets[place], number
    return struct.pack(f"<{2 + count + len(chains)}I", count, len(chains), *buckets, *chains)


def hashed(name: str) -> int:
    """The hash of the System V ABI."""
    value = 0
    for byte in name.encode():
        value = (value << 4) + byte
        high = value & 0xF0000000
        value = (value ^ high >> 24) & ~high
    return value


def aligned(value: int, alignment: int) -> int:
    """The next multiple."""
    return -(-value // alignment) * alignment


def write(machine: int, abi: bytes, flags: int, segments: list[Segment], sections: list[Section]) -> bytes:
    """The file. Sections without a place in memory come last, and get their place in the file here."""
    names = Strings()
    sections = [*sections, Section(".shstrtab", 3, 0, b"")]
    numbers = {section.name: number for number, section in enumerate(sections, 1)}
    starts = [names.add(section.name) for section in sections]
    sections[-1].content = names.content
    made = bytearray(HEADER_SIZE)
    for segment in segments:
        made += _SEGMENT.pack(
            segment.kind, segment.flags, segment.offset, segment.address, segment.address,
            segment.file_size, segment.size, segment.alignment,
        )  # fmt: skip
    table = bytearray(SECTION_SIZE)
    for start, section in zip(starts, sections, strict=True):
        if not section.address:
            section.offset = aligned(len(made), section.alignment)
        made += bytes(section.offset - len(made)) + section.content
        table += _SECTION.pack(
            start, section.kind, section.flags, section.address, section.offset,
            len(section.content) if section.size < 0 else section.size,
            numbers.get(section.link, 0), section.info, section.alignment, section.entry_size,
        )  # fmt: skip
    made += bytes(-len(made) % 8)
    _HEADER.pack_into(
        made, 0, b"\x7fELF", 2, 1, 1, abi, SHARED_OBJECT, machine, 1, 0, HEADER_SIZE, len(made), flags,
        HEADER_SIZE, SEGMENT_SIZE, len(segments), SECTION_SIZE, len(sections) + 1, len(sections),
    )  # fmt: skip
    return bytes(made + table)
