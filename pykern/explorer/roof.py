"""The ceilings of a machine, and what a kernel reached: the two things a roofline shows.

Comes in: a measurement, or what a data sheet says. Goes out: `Roof` and `Run`, plain data.
Read next: `ceilings`, which chooses one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pykern.data.target import parse

_SHEETS = {
    "nvvm:sm_80": ("A100 80 GB SXM", 2039.0, {"f32": 19500.0, "f64": 9700.0}),
    "nvvm:sm_90": ("H100 SXM", 3350.0, {"f32": 67000.0, "f64": 34000.0}),
    "rocdl:gfx942": ("MI300X", 5300.0, {"f32": 163400.0, "f64": 81700.0}),
}


@dataclass(frozen=True)
class Roof:
    """`gb_per_s` of memory and `gflop_per_s` for each dtype; `name` says of what.

    `measured` rates are those that kernels reached on this machine; others are nominal: of a data sheet, or given.
    """

    name: str
    gb_per_s: float
    gflop_per_s: Mapping[str, float]
    measured: bool = False


@dataclass(frozen=True)
class Run:
    """A launch that was timed: seconds (the median of `repeats`) for `items` work-items."""

    items: int
    seconds: float
    repeats: int


def declared(target: str) -> Roof | None:
    """The ceilings in a data sheet of one product with this target; None for other targets."""
    found = next((sheet for name, sheet in _SHEETS.items() if parse(target).name.startswith(name)), None)
    return None if found is None else Roof(*found)
