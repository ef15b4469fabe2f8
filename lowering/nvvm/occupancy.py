"""How many groups a multiprocessor holds at once.

Formula: NVIDIA, "CUDA Occupancy Calculator" (Nsight Compute); limits in `chips`. Registers are given to
subgroups in units of 256, of a quarter of the file each; shared memory to groups in units of 128 bytes.
"""

from __future__ import annotations

from pykern.lowering.nvvm.chips import REGISTERS, SUBGROUP, Chip

REGISTER_UNIT = 256
PARTITIONS = 4
"""Parts of a multiprocessor, each with its own registers."""
SHARED_UNIT = 128


def resident_groups(chip: Chip, group: int, registers: int, shared: int) -> int:
    """Groups of `group` work-items with `registers` each and `shared` bytes that run side by side."""
    return max(0, min(_limits(chip, group, registers, shared).values()))


def limited_by(chip: Chip, group: int, registers: int, shared: int) -> str:
    """What stands against more of them: "registers", "shared memory", "the number of groups", "subgroups"."""
    limits = _limits(chip, group, registers, shared)
    return min(limits, key=lambda name: limits[name])


def _limits(chip: Chip, group: int, registers: int, shared: int) -> dict[str, int]:
    """Groups that fit, by each resource; where two are the same the one that stands first is told."""
    subgroups = -(-group // SUBGROUP)
    limits = {"subgroups": chip.warps // subgroups, "the number of groups": chip.groups}
    if registers:
        one = _rounded(registers * SUBGROUP, REGISTER_UNIT)
        fitting = REGISTERS // PARTITIONS // one * PARTITIONS
        limits["registers"] = fitting // subgroups
    taken = _rounded(shared + chip.reserved, SHARED_UNIT)
    if taken:
        limits["shared memory"] = chip.shared_total // taken
    return limits


def occupancy(chip: Chip, group: int, registers: int, shared: int) -> float:
    """Subgroups that run side by side, as a part of the most there may be: 0 … 1."""
    subgroups = -(-group // SUBGROUP)
    return resident_groups(chip, group, registers, shared) * subgroups / chip.warps


def _rounded(number: int, unit: int) -> int:
    return -(-number // unit) * unit
