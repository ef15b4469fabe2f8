"""Relocations of aarch64 ("ELF for the Arm 64-bit Architecture", section "Relocation")."""

from __future__ import annotations

import struct

from pykern.errors import TargetError

NUMBER = 183
PAGE = 65536
"""The largest page that Linux has there."""
WORD = 257
CELLS = frozenset({311, 312})
CALLS = frozenset({282, 283})
IMPORTED, RELATIVE = 1025, 1027
STUB_SIZE = 16
NAMES = {
    258: "R_AARCH64_ABS32", 549: "R_AARCH64_TLSLE_ADD_TPREL_HI12", 560: "R_AARCH64_TLSDESC_LD_PREL19",
    562: "R_AARCH64_TLSDESC_ADR_PAGE21", 541: "R_AARCH64_TLSIE_ADR_GOTTPREL_PAGE21",
    513: "R_AARCH64_TLSGD_ADR_PAGE21",
}  # fmt: skip

_SHIFTS = {277: 0, 278: 0, 284: 1, 285: 2, 286: 3, 299: 4, 312: 3}
"""Kinds that take the low 12 bits of an address, in units of so many bytes (as a shift)."""
_PAGES = frozenset({275, 276, 311})
_BRANCHES = {282: (0, 26), 283: (0, 26), 280: (5, 19), 279: (5, 14), 273: (5, 19)}
"""Kinds that hold a distance in words: the lowest bit, and how many bits."""


def needs_cell(kind: int, content: bytes, offset: int) -> bool:
    """Whether a symbol that is here needs a cell."""
    return kind in CELLS


def stub(at: int, cell: int) -> bytes:
    """Code at `at` that goes where a cell says: ``adrp x16; ldr x16, [x16, low]; br x16``."""
    made = bytearray(struct.pack("<IIII", 0x90000010, 0xF9400210, 0xD61F0200, 0xD503201F))
    apply(made, 0, at, 311, cell, 0, direct=False)
    apply(made, 4, at + 4, 312, cell, 0, direct=False)
    return bytes(made)


def apply(code: bytearray, offset: int, at: int, kind: int, target: int, addend: int, direct: bool) -> None:
    """Write the relocation at `offset`, which is the address `at`."""
    place = target + addend
    if kind in (260, 261):
        bits = 64 if kind == 260 else 32
        _in_range(place - at, bits)
        struct.pack_into("<q" if bits == 64 else "<i", code, offset, place - at)
        return
    (word,) = struct.unpack_from("<I", code, offset)
    if kind in _PAGES:
        word = _pages(word, (place >> 12) - (at >> 12))
    elif kind == 274:
        word = _pages(word, place - at)
    elif kind in _SHIFTS:
        shift = _SHIFTS[kind]
        if place & ((1 << shift) - 1):
            raise TargetError("linking failed: an address is not aligned as its load is")
        word = word & ~(0xFFF << 10) | (place & 0xFFF) >> shift << 10
    elif kind in _BRANCHES:
        low, bits = _BRANCHES[kind]
        _in_range(place - at, bits + 2)
        mask = (1 << bits) - 1
        word = word & ~(mask << low) | ((place - at) >> 2 & mask) << low
    else:
        raise TargetError(f"linking failed: relocation {NAMES.get(kind, kind)} has no form here")
    struct.pack_into("<I", code, offset, word)


def _pages(word: int, value: int) -> int:
    """`adr` and `adrp` hold their 21 bits in two places."""
    _in_range(value, 21)
    return word & ~(3 << 29 | 0x7FFFF << 5) | (value & 3) << 29 | (value >> 2 & 0x7FFFF) << 5


def _in_range(value: int, bits: int) -> None:
    if not -(1 << bits - 1) <= value < 1 << bits - 1:
        raise TargetError("linking failed: the code is too large for its branches")
