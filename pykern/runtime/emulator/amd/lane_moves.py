"""DPP: operands that come from other lanes, by a pattern that the instruction's modifiers name.

AMD, "RDNA3 Instruction Set Architecture", data parallel processing. Lanes stand in rows of 16 and banks of 4. A lane
whose source does not exist, or is not active, gets 0 (``bound_ctrl``) or is not written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pykern.runtime.emulator.amd.assembly import UnknownAssembly

if TYPE_CHECKING:
    from pykern.runtime.emulator.amd.body import Body

ROW = 16
_PATTERNS = (
    "quad_perm", "row_shl", "row_shr", "row_ror", "wave_shl", "wave_shr", "wave_rol", "wave_ror", "row_mirror",
    "row_half_mirror", "row_bcast", "row_newbcast", "row_share", "row_xmask", "dpp8",
)  # fmt: skip


def moved(t: Body, bits: str, width: int) -> str:
    """The first source, and which lanes the instruction writes then."""
    name = next((known for known in _PATTERNS if t.one.modifier(known) is not None), None)
    if name is None:
        return bits
    if width == 64:
        raise UnknownAssembly(f"lanes that are moved by {t.one.name}")
    sources = pattern(name, t.modifier(name) or "", t.lanes)
    valid = [source >= 0 for source in sources]
    indices = t.vector("i32", [max(source, 0) for source in sources])
    kind = f"<{t.lanes} x i{width}>"
    found = t.value(f"shufflevector {kind} {bits}, {kind} poison, <{t.lanes} x i32> {indices}")
    lanes = f"<{t.lanes} x i1>"
    there = t.vector("i1", [int(flag) for flag in valid])
    if t.modifier("fi") not in ("1",):
        active = t.lanes_of_bits(t.exec())
        taken = t.value(f"shufflevector {lanes} {active}, {lanes} poison, <{t.lanes} x i32> {indices}")
        there = t.value(f"and {lanes} {taken}, {there}")
    rows, banks = int(t.modifier("row_mask") or "0xf", 0), int(t.modifier("bank_mask") or "0xf", 0)
    written = [rows >> (lane // ROW) & 1 and banks >> (lane % ROW // 4) & 1 for lane in range(t.lanes)]
    write = t.vector("i1", written)
    if name == "dpp8" or t.modifier("bound_ctrl") in (
        "0",
        "1",
    ):  # both are written for "0 for what is not there"
        found = t.select(there, f"i{width}", found, 0)
    else:
        write = t.value(f"and {lanes} {write}, {there}")
    t.write_lanes = write
    return found


def pattern(name: str, value: str, lanes: int) -> list[int]:
    """The lane that each lane takes from; -1 where there is none."""
    numbers = [int(part) for part in value.strip("[]").split(",")] if value else [0]
    by = numbers[0]
    found = []
    for lane in range(lanes):
        row, within = lane - lane % ROW, lane % ROW
        if name == "quad_perm":
            source = lane - lane % 4 + numbers[lane % 4]
        elif name == "dpp8":
            source = lane - lane % 8 + numbers[lane % 8]
        elif name == "row_shl":
            source = lane + by if within + by < ROW else -1
        elif name == "row_shr":
            source = lane - by if within >= by else -1
        elif name == "row_ror":
            source = row + (within - by) % ROW
        elif name == "row_mirror":
            source = row + ROW - 1 - within
        elif name == "row_half_mirror":
            source = lane - lane % 8 + 7 - lane % 8
        elif name in ("row_share", "row_newbcast"):
            source = row + by
        elif name == "row_xmask":
            source = row + (within ^ by)
        elif name == "row_bcast":
            first = lane - lane % (by + 1)
            source = first - 1
        elif name in ("wave_shl", "wave_shr"):
            source = lane + by if name == "wave_shl" else lane - by
            source = source if 0 <= source < lanes else -1
        else:
            source = (lane + by if name == "wave_rol" else lane - by) % lanes
        found.append(source)
    return found
