"""Relocations of AMD's devices (LLVM, "User Guide for AMDGPU Backend", section "Relocation Records")."""

from __future__ import annotations

import struct

from pykern.errors import TargetError

NUMBER = 224
NAMES = {
    1: "R_AMDGPU_ABS32_LO", 2: "R_AMDGPU_ABS32_HI", 3: "R_AMDGPU_ABS64", 6: "R_AMDGPU_ABS32", 7: "R_AMDGPU_GOTPCREL",
    8: "R_AMDGPU_GOTPCREL32_LO", 9: "R_AMDGPU_GOTPCREL32_HI",
}  # fmt: skip
_SHIFTS = {4: 0, 10: 0, 11: 32}
"""Kinds that hold 32 bits of a distance, and from which bit on."""
_WHOLE = 5


def apply(content: bytearray, offset: int, at: int, kind: int, target: int, addend: int) -> None:
    """Write the relocation at `offset`, which is the address `at`."""
    distance = target + addend - at
    if kind == _WHOLE:
        struct.pack_into("<q", content, offset, distance)
    elif kind in _SHIFTS:
        struct.pack_into("<I", content, offset, distance >> _SHIFTS[kind] & 0xFFFFFFFF)
    else:
        raise TargetError(f"linking failed: relocation {NAMES.get(kind, kind)} has no form in a code object")
