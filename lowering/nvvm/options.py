"""Names of NVIDIA targets: ``nvvm:sm_90a``, ``nvvm:sm_80+aligned``."""

from __future__ import annotations

from dataclasses import dataclass

from pykern.data.target import Target
from pykern.lowering.gpu.options import chip_and_options
from pykern.lowering.nvvm.chips import CHIPS, Chip


@dataclass(frozen=True)
class NvvmOptions:
    """`aligned`: every array begins at a multiple of 16 bytes, so that neighbouring accesses become one.
    `small`: every element's position in its array fits in 32 bits.
    `whole`: a launch is one grid. `alike`: dense arrays of a rank have the same lengths.
    `many`: a work-item of the device does several of a launch, where the kernel allows it.
    `ptx`: PTX alone, for chips of a later generation, whose driver makes code of it.
    `lines`: the code tells the line of Python of each of its instructions."""

    aligned: bool = False
    small: bool = False
    whole: bool = False
    alike: bool = False
    many: bool = False
    ptx: bool = False
    lines: bool = False


def options_of(target: Target) -> tuple[Chip, NvvmOptions]:
    """Raises `TargetError` for a chip or an option that there is not."""
    return chip_and_options(target, CHIPS, NvvmOptions)
