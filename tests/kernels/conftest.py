"""Every test here that takes `device` runs on the compiled, on the reference and on every GPU-like device."""

from __future__ import annotations

from collections.abc import Callable

import pytest


@pytest.fixture(params=["cpu", "python", "opencl", "vulkan", "cuda", "rocm", "cuda:emulated"])
def device(request: pytest.FixtureRequest, need_device: Callable[[str], str]) -> str:
    return need_device(request.param)
