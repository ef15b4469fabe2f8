"""Every test here that takes `device` runs on the compiled, on the reference and on every GPU-like device.

NVIDIA's and AMD's GPUs are emulated too: one chip of each in every run, others in `make test-all`, whose code differs
(see `docs/design/emulator.md`).
"""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

EMULATED = [
    "cuda:emulated",
    "rocm:emulated",
    "metal:emulated",
    *(
        [
            "cuda:emulated:75",
            "cuda:emulated:90",
            *(f"rocm:emulated:gfx{chip}" for chip in ("90a", "1100", "1201")),
        ]
        if "PYKERN_FUZZ" in os.environ
        else []
    ),
]


@pytest.fixture(params=["cpu", "python", "opencl", "vulkan", "webgpu", "cuda", "rocm", "metal", *EMULATED])
def device(request: pytest.FixtureRequest, need_device: Callable[[str], str]) -> str:
    return need_device(request.param)
