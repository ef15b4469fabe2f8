"""Relocations of x86-64 (System V ABI, AMD64 supplement, "Relocation Types")."""

from __future__ import annotations

import struct

from pykern.errors import TargetError

NUMBER = 62
PAGE = 4096
"""The largest page that Linux has there for code."""
WORD = 1
"""An address of 8 bytes, which is only known in the process."""
CELLS = frozenset({9, 41, 42})
"""Kinds that read the address of a symbol from a cell of 8 bytes."""
CALLS = frozenset({4})
"""Kinds that may go to a stub."""
IMPORTED, RELATIVE = 6, 8
"""How a cell is described to the loader: the address of a symbol, and the place of the code and a number."""
STUB_SIZE = 16
NAMES = {
    10: "R_X86_64_32", 11: "R_X86_64_32S", 19: "R_X86_64_TLSGD", 20: "R_X86_64_TLSLD", 22: "R_X86_64_GOTTPOFF",
    23: "R_X86_64_TPOFF32", 25: "R_X86_64_GOTOFF64", 26: "R_X86_64_GOTPC32", 38: "R_X86_64_RELATIVE64",
}  # fmt: skip
"""What LLVM does not emit for position-independent code of the small model without threads' memory."""

_MOV, _LEA = 0x8B, 0x8D
_TO_CELL = 42


def needs_cell(kind: int, content: bytes, offset: int) -> bool:
    """Whether a symbol that is here needs a cell: loads of its address are better written as `lea`."""
    return kind in CELLS and not (kind == _TO_CELL and content[offset - 2] == _MOV)


def stub(at: int, cell: int) -> bytes:
    """Code at `at` that goes where a cell says: ``jmp *cell(%rip)``."""
    return b"\xff\x25" + struct.pack("<i", cell - (at + 6)) + b"\xcc" * 10


def apply(code: bytearray, offset: int, at: int, kind: int, target: int, addend: int, direct: bool) -> None:
    """Write the relocation at `offset`, which is the address `at`. `direct`: `target` is the symbol, not its cell."""
    if kind in CELLS and direct:
        code[offset - 2] = _LEA
    if kind in CELLS or kind in (2, 4):
        code[offset : offset + 4] = _distance(target + addend - at)
    elif kind == 24:
        struct.pack_into("<q", code, offset, target + addend - at)
    else:
        raise TargetError(f"linking failed: relocation {NAMES.get(kind, kind)} has no form here")


def _distance(value: int) -> bytes:
    if not -(1 << 31) <= value < 1 << 31:
        raise TargetError("linking failed: the code is larger than 2 GiB")
    return struct.pack("<i", value)
