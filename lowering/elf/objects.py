"""Relocatable ELF objects, read into tuples.

Comes in: the bytes of an object. Goes out: `Object`: its sections, symbols and relocations. The format is that of the
System V ABI, "Object Files", for 64 bits and little-endian.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

from pykern.errors import TargetError

NOBITS, NOTE = 8, 7
WRITE, ALLOC, EXECUTE, TLS = 1, 2, 4, 0x400
LOCAL, GLOBAL, WEAK = 0, 1, 2
NO_TYPE, DATA, FUNCTION = 0, 1, 2
DEFAULT, PROTECTED = 0, 3
UNDEFINED, FIRST_RESERVED, ABSOLUTE = 0, 0xFF00, 0xFFF1

_PAGE = 4096
"""What is placed in memory may want to begin at a multiple of this at most."""
_PROGBITS, _SYMTAB, _RELA = 1, 2, 4
_RUN_BY_LOADER, _RUN_BY_NAME = (14, 15, 16), (".ctors", ".dtors")
_SECTION, _SYMBOL, _RELOCATION = struct.Struct("<IIQQQQIIQQ"), struct.Struct("<IBBHQQ"), struct.Struct("<QQq")


class Section(NamedTuple):
    """A part of an object. `content` is empty where it begins as zeros."""

    name: str
    kind: int
    flags: int
    content: bytes
    size: int
    alignment: int


class Symbol(NamedTuple):
    """A name: a place in a section, or, where `section` is `UNDEFINED`, somewhere else."""

    name: str
    binding: int
    kind: int
    visibility: int
    section: int
    value: int
    size: int


class Relocation(NamedTuple):
    """A place in a section that depends on where a symbol is."""

    section: int
    offset: int
    kind: int
    symbol: int
    addend: int


class Object(NamedTuple):
    """An object; `abi` is what its header says of the operating system, `flags` of the processor."""

    machine: int
    abi: bytes
    flags: int
    sections: list[Section]
    symbols: list[Symbol]
    relocations: list[Relocation]


def parse(data: bytes) -> Object:
    """Read an object. Raises `TargetError` for what is none, or wants more than a place in memory."""
    if data[:6] != b"\x7fELF\x02\x01" or len(data) < 64:
        raise TargetError("linking failed: LLVM gave no ELF object of 64 bits")
    machine, start, flags, count, names = struct.unpack_from("<18xH20xQI8xHH", data)
    headers = list(_SECTION.iter_unpack(data[start : start + count * _SECTION.size]))
    sections, symbols, relocations = [], [], []
    for name, kind, attributes, _, offset, size, link, info, alignment, _ in headers:
        content = b"" if kind == NOBITS else data[offset : offset + size]
        called = _text(data, headers[names][4] + name)
        sections.append(Section(called, kind, attributes, content, size, max(alignment, 1)))
        if kind == _SYMTAB:
            symbols = [_symbol(data, headers[link][4], entry) for entry in _SYMBOL.iter_unpack(content)]
        elif kind == _RELA and headers[info][2] & ALLOC:
            relocations += [
                Relocation(info, at, word & 0xFFFFFFFF, word >> 32, addend)
                for at, word, addend in _RELOCATION.iter_unpack(content)
            ]
    _check(sections)
    return Object(machine, data[7:9], flags, sections, symbols, relocations)


def _symbol(data: bytes, names: int, entry: tuple[int, ...]) -> Symbol:
    name, info, other, section, value, size = entry
    return Symbol(_text(data, names + name), info >> 4, info & 15, other & 3, section, value, size)


def _text(data: bytes, at: int) -> str:
    return data[at : data.index(b"\0", at)].decode()


def _check(sections: list[Section]) -> None:
    for section in sections:
        if section.flags & ALLOC and section.flags & TLS:
            raise TargetError(
                f"linking failed: `{section.name}` is memory of each thread, which is not there"
            )
        if section.flags & ALLOC and section.alignment > _PAGE:
            raise TargetError(f"linking failed: `{section.name}` begins at multiples of {section.alignment}")
        if section.kind in _RUN_BY_LOADER or section.name.startswith(_RUN_BY_NAME):
            raise TargetError(f"linking failed: `{section.name}` holds what is to run when code is loaded")
