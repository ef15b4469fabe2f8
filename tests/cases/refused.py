"""What a device cannot do is skipped where a kernel is refused for it, with the reason, and counted in the summary.

Tests of all devices run on Metal, too, which has no floats of 64 bits and no atomics on integers of 64, and on WebGPU
without any feature, which has neither. A kernel that needs them has to be refused by one of `REFUSALS`; another error
fails the test, and so does a wrong result.
"""

from __future__ import annotations

import re

from pykern.environment.settings import settings
from pykern.errors import KernelError

REFUSALS = {
    "metal": {
        r"MSL has no type f64|holds f64, which metal": "Metal has no floats of 64 bits",
        r"MSL changes no integers of 64 bits atomically": "Metal has no atomics on integers of 64 bits",
    },
    "webgpu": {
        r"WGSL has no type f64|holds f64, which webgpu": "standard WGSL has no floats of 64 bits",
        r"WGSL changes no integers of 64 bits atomically": "standard WGSL has no atomics on integers of 64 bits",
    },
}


def reason(device: object, error: KernelError) -> str | None:
    """Why a device refuses a kernel rightly; None where it should not."""
    kind = str(device).partition(":")[0]
    if kind == "webgpu" and not settings().webgpu_standard:  # else it has what its adapter has
        return None
    return next(
        (why for pattern, why in REFUSALS.get(kind, {}).items() if re.search(pattern, error.reason)), None
    )
