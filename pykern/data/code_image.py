"""Machine code for the CPU as it is kept and loaded: a shared object in one plain form, and what a loader reads of it.

Comes in: what `pykern.lowering.elf.shared_object` wrote. Goes out: `CodeImage`. The file has two segments. The first
is its beginning, mapped as it stands there: code, and data that is only read. The second is written: a byte at `n` in
the file is at ``distance + n`` in memory, and zeros follow. Nothing in the code depends on where it is.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

DISTANCE = 64 << 20
"""From code to data: a multiple of this, one of it where the code is smaller."""
SEGMENTS = ((1, 5), (1, 6), (2, 6), (0x6474E551, 6))
"""Kind and rights of what the file has: code, data, the table for the system's loader, a stack that is not executed."""
_SEGMENT, _SYMBOL = struct.Struct("<IIQQQQQQ"), struct.Struct("<IBBHQQ")
_ENTRY, _RELOCATION = struct.Struct("<QQ"), struct.Struct("<QIIq")
_SYMBOLS, _STRINGS, _HASH, _RELOCATIONS, _RELOCATIONS_SIZE = 6, 5, 4, 7, 8


class CodeImage(NamedTuple):
    """Places are bytes from the beginning of the code in memory."""

    machine: int
    code_size: int
    distance: int
    data: int
    """Where data begins in the file."""
    stored: int
    """Bytes of it that the file has."""
    size: int
    """Bytes of the file's part up to the end of data, zeros too: code and data of an image fit into so many each."""
    exports: dict[str, int]
    imports: list[tuple[int, str]]
    """Cells, and the names whose addresses they hold."""
    relative: list[tuple[int, int]]
    """Cells, and the places whose addresses they hold."""


def read(binary: bytes) -> CodeImage:
    """Look at a file. Raises OSError where it is of another form."""
    try:
        return _read(binary)
    except (struct.error, ValueError, KeyError, IndexError) as error:
        raise OSError(f"this is no shared object of pykern's: {error}") from None


def _read(binary: bytes) -> CodeImage:
    machine, count = struct.unpack_from("<18xH36xH", binary)
    if binary[:4] != b"\x7fELF" or count != len(SEGMENTS):
        raise ValueError("other segments")
    segments = [_SEGMENT.unpack_from(binary, 64 + 56 * n) for n in range(count)]
    if tuple(segment[:2] for segment in segments) != SEGMENTS:
        raise ValueError("other segments")
    (_, _, _, _, _, code_size, _, _), (_, _, data, address, _, stored, size, _), table, _ = segments
    if data + stored > len(binary):
        raise ValueError("it is cut off")
    found = dict(_ENTRY.iter_unpack(binary[table[2] : table[2] + table[5]]))
    symbols, strings = found[_SYMBOLS], found[_STRINGS]
    (entries,) = struct.unpack_from("<4xI", binary, found[_HASH])
    names: list[str] = []
    exports: dict[str, int] = {}
    for name, _, _, section, value, _ in _SYMBOL.iter_unpack(binary[symbols : symbols + 24 * entries]):
        at = strings + name
        names.append(binary[at : binary.index(0, at)].decode())
        if section:
            exports[names[-1]] = value
    imports: list[tuple[int, str]] = []
    relative: list[tuple[int, int]] = []
    at = found[_RELOCATIONS]
    for place, _, symbol, addend in _RELOCATION.iter_unpack(binary[at : at + found[_RELOCATIONS_SIZE]]):
        if symbol:
            imports.append((place, names[symbol]))
        else:
            relative.append((place, addend))
    return CodeImage(
        machine, code_size, address - data, data, stored, data + size, exports, imports, relative
    )
