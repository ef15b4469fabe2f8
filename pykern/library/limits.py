"""What a device or chip allows a configuration.

Comes in: a device, or the name of a device, target, chip or architecture. Goes out: its `Limits`, or `DeviceError`.
Nothing is compiled, and MLIR is not loaded.
"""

from __future__ import annotations

from dataclasses import dataclass

from pykern.data.target import parse
from pykern.errors import NO_DEVICE, DeviceError
from pykern.library.architectures import ARCHITECTURES, CHIPS
from pykern.lowering.nvvm import chips as nvidia
from pykern.lowering.rocdl import chips as amd
from pykern.runtime import registry


@dataclass(frozen=True)
class Limits:
    """Of a group of work-items: bytes of shared memory, work-items, registers of 32 bits of one and of all (0: not
    known); and the matrix instructions there are, "fma" for none."""

    name: str
    architecture: str
    shared: int
    group: int
    subgroup: int
    registers: int
    registers_of_group: int
    instructions: tuple[str, ...]


def limits_of(device: object) -> Limits:
    """The limits of a device. Raises `DeviceError` where there is none of this name."""
    name = str(device)
    chip = CHIPS.get(name, parse(name).chip or parse(name).family)
    if name in ("cpu", "python", "null", "llvm"):
        return Limits(name, "cpu", 0, 1, 1, 0, 0, ("fma",))
    if chip in nvidia.CHIPS or chip in amd.CHIPS:
        return _of_chip(name, chip)
    if name == "fallback":
        return Limits(name, name, 16 * 1024, 128, 32, 0, 0, ("fma",))  # the least that Vulkan promises
    if name.partition(":")[0] not in registry.KINDS:
        known = ", ".join((*CHIPS, "cpu", "fallback", *ARCHITECTURES))
        raise DeviceError(f"no device or chip {name!r}", hint=f"name a device, or {known}", code=NO_DEVICE)
    info = registry.info(name)
    chip = parse(info.target).chip
    if chip in nvidia.CHIPS or chip in amd.CHIPS:
        return _of_chip(name, chip)
    return Limits(
        name, "fallback", info.shared_bytes, info.max_group, info.subgroup_size or 32, 0, 0, ("fma",)
    )


def _of_chip(name: str, chip: str) -> Limits:
    architecture = ARCHITECTURES.get(chip, "fallback")
    if chip in nvidia.CHIPS:
        found = nvidia.CHIPS[chip]
        tensor = () if architecture == "fallback" else ("mma.sync",)
        tensor += ("wgmma",) if architecture == "hopper" else ()
        return Limits(
            name, architecture, found.shared, nvidia.MAX_GROUP, nvidia.SUBGROUP, 255, nvidia.REGISTERS, ("fma", *tensor)
        )  # fmt: skip
    matrix = "mfma" if amd.CHIPS[chip].is_cdna else "wmma"
    one = amd.CHIPS[chip].vgprs if matrix == "mfma" else 256
    total = amd.CHIPS[chip].vgprs * amd.CHIPS[chip].subgroup_size * amd.CHIPS[chip].simds
    return Limits(
        name, architecture, amd.CHIPS[chip].shared, amd.MAX_GROUP, amd.CHIPS[chip].subgroup_size, one, total,
        ("fma", matrix),
    )  # fmt: skip
