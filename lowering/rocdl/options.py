"""Names of AMD targets: ``rocdl:gfx942``, ``rocdl:gfx1100+cumode``, ``rocdl:gfx90a+aligned``."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pykern.data.target import Target
from pykern.errors import TargetError
from pykern.lowering.gpu.options import chip_and_options
from pykern.lowering.rocdl.chips import CHIPS, Chip


@dataclass(frozen=True)
class RocdlOptions:
    """`aligned`: every array begins at a multiple of 16 bytes, so that neighbouring accesses become one.
    `small`: every element's position in its array fits in 32 bits.
    `whole`: a launch is one grid. `alike`: dense arrays of a rank have the same lengths.
    `many`: a work-item of the device does several of a launch, where the kernel allows it.
    `cumode`: a group runs on one compute unit instead of a pair that works together (RDNA only).
    `assembly`: the text of the instructions alone, which the emulator reads.
    `lines`: the text tells the line of Python of each of its instructions."""

    aligned: bool = False
    small: bool = False
    whole: bool = False
    alike: bool = False
    many: bool = False
    cumode: bool = False
    assembly: bool = False
    lines: bool = False


def options_of(target: Target) -> tuple[Chip, RocdlOptions]:
    """Raises `TargetError` for a chip or an option that there is not."""
    chip, options = chip_and_options(target, CHIPS, RocdlOptions)
    if options.cumode:
        if chip.is_cdna:
            raise TargetError(f"{chip.name} has compute units of one kind", hint=f"write rocdl:{chip.name}")
        half = chip.shared_total // 2
        chip = replace(chip, simds=chip.simds // 2, groups=chip.groups // 2, shared_total=half)
    return chip, options
