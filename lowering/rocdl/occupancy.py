"""How many groups a workgroup processor or compute unit holds at once.

Formula: LLVM's GCNSubtarget (getOccupancyWithNumVGPRs, getMaxWorkGroupsPerCU); limits in `chips`. Registers are
given in granules; a group takes its shared memory, and all its subgroups, at once.
"""

from __future__ import annotations

from pykern.lowering.gpu.occupancy import Occupancy, units_of
from pykern.lowering.rocdl.chips import Chip

SHARED_UNIT = 512


def occupancy(chip: Chip, group: int, registers: int, shared: int) -> Occupancy:
    """That of groups of `group` work-items with `registers` vector registers and `shared` bytes."""
    subgroups = -(-group // chip.subgroup_size)
    most = chip.waves * chip.simds
    limits = {"subgroups": most // subgroups}
    if subgroups > 1:  # groups of one subgroup need no barrier
        limits["the number of groups"] = chip.groups
    given = units_of(max(registers, 1), chip.granule)
    limits["registers"] = min(chip.waves, chip.vgprs // given) * chip.simds // subgroups
    if shared:
        limits["shared memory"] = chip.shared_total // units_of(shared, SHARED_UNIT)
    return Occupancy(limits, subgroups, most)
