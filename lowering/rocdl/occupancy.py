"""How many subgroups a SIMD holds at once.

Formula: LLVM's GCNSubtarget (getOccupancyWithNumVGPRs, getMaxWorkGroupsPerCU); limits in `chips`. Registers are
given in granules; a group takes its shared memory, and all its subgroups, at once.
"""

from __future__ import annotations

from pykern.lowering.rocdl.chips import Chip

SHARED_UNIT = 512


def resident_groups(chip: Chip, group: int, registers: int, shared: int) -> int:
    """Groups of `group` work-items with `registers` vector registers and `shared` bytes that run side by side."""
    return max(0, min(_limits(chip, group, registers, shared).values()))


def limited_by(chip: Chip, group: int, registers: int, shared: int) -> str:
    """What stands against more of them: "registers", "shared memory", "the number of groups", "subgroups"."""
    limits = _limits(chip, group, registers, shared)
    return min(limits, key=lambda name: limits[name])


def _limits(chip: Chip, group: int, registers: int, shared: int) -> dict[str, int]:
    """Groups that fit, by each resource; where two are the same the one that stands first is told."""
    subgroups = -(-group // chip.subgroup_size)
    given = max(1, -(-registers // chip.granule)) * chip.granule
    limits = {"subgroups": chip.waves * chip.simds // subgroups}
    if subgroups > 1:  # groups of one subgroup need no barrier
        limits["the number of groups"] = chip.groups
    limits["registers"] = min(chip.waves, chip.vgprs // given) * chip.simds // subgroups
    if shared:
        limits["shared memory"] = chip.shared_total // (-(-shared // SHARED_UNIT) * SHARED_UNIT)
    return limits


def occupancy(chip: Chip, group: int, registers: int, shared: int) -> float:
    """Subgroups that run side by side, as a part of the most there may be: 0 … 1."""
    subgroups = -(-group // chip.subgroup_size)
    return resident_groups(chip, group, registers, shared) * subgroups / (chip.waves * chip.simds)
