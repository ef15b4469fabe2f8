"""How many groups a multiprocessor holds at once.

Formula: NVIDIA, "CUDA Occupancy Calculator" (Nsight Compute); limits in `chips`. Registers are given to
subgroups in units of 256, of a quarter of the file each; shared memory to groups in units of 128 bytes.
"""

from __future__ import annotations

from pykern.lowering.gpu.occupancy import Occupancy, units_of
from pykern.lowering.nvvm.chips import REGISTERS, SUBGROUP, Chip

REGISTER_UNIT = 256
PARTITIONS = 4
"""Parts of a multiprocessor, each with its own registers."""
SHARED_UNIT = 128


def occupancy(chip: Chip, group: int, registers: int, shared: int) -> Occupancy:
    """That of groups of `group` work-items with `registers` each and `shared` bytes."""
    subgroups = -(-group // SUBGROUP)
    limits = {"subgroups": chip.warps // subgroups, "the number of groups": chip.groups}
    if registers:
        one = units_of(registers * SUBGROUP, REGISTER_UNIT)
        limits["registers"] = REGISTERS // PARTITIONS // one * PARTITIONS // subgroups
    if taken := units_of(shared + chip.reserved, SHARED_UNIT):
        limits["shared memory"] = chip.shared_total // taken
    return Occupancy(limits, subgroups, chip.warps)
