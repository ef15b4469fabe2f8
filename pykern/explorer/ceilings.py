"""Which ceilings a page shows: those that were given, those of this processor, or a data sheet's.

Comes in: what the user gave as ``roof=``, and the target. Goes out: a `Roof`, or None where nothing is known.
"""

from __future__ import annotations

from collections.abc import Mapping

from pykern.errors import LaunchError
from pykern.explorer.processor import known_processor, this_processor
from pykern.explorer.roof import Roof, declared


def given(roof: Roof | Mapping[str, float] | None, target: str) -> Roof | None:
    """The roof of ``roof=``: one, or ``{"GB/s": 900, "f32": 14000}`` in GB/s and GFLOP/s; for None that of this
    processor, or of a data sheet. Raises `LaunchError`."""
    if roof is None or isinstance(roof, Roof):
        return roof or (this_processor() if target == "llvm" else declared(target))
    flops = {name: float(value) for name, value in roof.items() if name != "GB/s"}
    if "GB/s" not in roof or not flops or not all(float(v) > 0 for v in roof.values()):
        raise LaunchError(
            f"roof={dict(roof)!r} gives no ceilings",
            hint='write roof={"GB/s": 900, "f32": 14000}: memory, and GFLOP/s by dtype',
        )
    return Roof("as given", float(roof["GB/s"]), flops)


def known(target: str) -> Roof | None:
    """The roof of a target as far as it is known: nothing is measured for it."""
    return known_processor() if target == "llvm" else declared(target)
