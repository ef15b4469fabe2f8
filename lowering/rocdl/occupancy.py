"""How many subgroups a SIMD holds at once.

Formula: LLVM's GCNSubtarget (getOccupancyWithNumVGPRs, getMaxWorkGroupsPerCU); limits in `chips`. Registers are
given in granules; a group takes its shared memory, and all its subgroups, at once.
"""

from __future__ import annotations

from pykern.lowering.rocdl.chips import Chip

SHARED_UNIT = 512


def resident_groups(chip: Chip, group: int, registers: int, shared: int) -> int:
    """Groups of `group` work-items with `registers` vector registers and `shared` bytes that run side by side."""
    subgroups = -(-group // chip.subgroup_size)
    given = max(1, -(-registers // chip.granule)) * chip.granule
    waves = min(chip.waves, chip.vgprs // given)
    limits = [waves * chip.simds // subgroups]
    if subgroups > 1:  # groups of one subgroup need no barrier
        limits.append(chip.groups)
    if shared:
        limits.append(chip.shared_total // (-(-shared // SHARED_UNIT) * SHARED_UNIT))
    return max(0, min(limits))


def occupancy(chip: Chip, group: int, registers: int, shared: int) -> float:
    """Subgroups that run side by side, as a part of the most there may be: 0 … 1."""
    subgroups = -(-group // chip.subgroup_size)
    return resident_groups(chip, group, registers, shared) * subgroups / (chip.waves * chip.simds)
