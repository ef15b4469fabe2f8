"""The ceilings of a machine, and what a kernel reached: the two things a roofline shows.

Comes in: a measurement, or what a data sheet says. Goes out: `Roof` and `Run`, plain data.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pykern.errors import LaunchError

_SHEETS = {
    "nvvm:sm_80": ("A100 80 GB SXM, data sheet", 2039.0, {"f32": 19500.0, "f64": 9700.0}),
    "nvvm:sm_90": ("H100 SXM, data sheet", 3350.0, {"f32": 67000.0, "f64": 34000.0}),
    "rocdl:gfx942": ("MI300X, data sheet", 5300.0, {"f32": 163400.0, "f64": 81700.0}),
}


@dataclass(frozen=True)
class Roof:
    """`gb_per_s` of memory and `gflop_per_s` for each dtype; `name` says of what, `measured` how it is known."""

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
    found = next((sheet for name, sheet in _SHEETS.items() if target.split("+")[0].startswith(name)), None)
    return None if found is None else Roof(*found)


def given(roof: Roof | Mapping[str, float] | None, target: str) -> Roof | None:
    """The roof of ``roof=``: one, or ``{"GB/s": 900, "f32": 14000}`` in GB/s and GFLOP/s. Raises `LaunchError`."""
    if roof is None or isinstance(roof, Roof):
        return roof or declared(target)
    flops = {name: float(value) for name, value in roof.items() if name != "GB/s"}
    if "GB/s" not in roof or not flops or not all(float(v) > 0 for v in roof.values()):
        raise LaunchError(
            f"roof={dict(roof)!r} gives no ceilings",
            hint='write roof={"GB/s": 900, "f32": 14000}: memory, and GFLOP/s by dtype',
        )
    return Roof("as given", float(roof["GB/s"]), flops)
