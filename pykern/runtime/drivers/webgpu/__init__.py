"""WebGPU through wgpu: every GPU with a driver for Vulkan, Metal or Direct3D 12, and Mesa's lavapipe.

Comes in: nothing. Goes out: `RUNTIME`, which finds devices and opens them. Read next: `facts` for what an adapter
tells, `driver` for what a device does, `queue` for how work is kept in order.
"""

from __future__ import annotations

import importlib
from typing import Any

from pykern.environment.installation import install_extra
from pykern.runtime.driver import DeviceInfo, Driver, Missing
from pykern.runtime.drivers.webgpu.facts import BACKENDS, KINDS, describe, refusal


class WebGpuRuntime:
    """`pykern.runtime.driver.Runtime` for WebGPU."""

    name = "webgpu"

    def __init__(self) -> None:
        self._adapters: list[Any] = []

    def devices(self) -> list[DeviceInfo] | Missing:
        """Real GPUs first, adapters made of software last."""
        try:
            adapters = importlib.import_module("wgpu").gpu.enumerate_adapters_sync()  # loads wgpu's library
        except (ImportError, OSError) as error:
            return Missing(self.name, f"the Python package wgpu: {error}", install_extra("webgpu"))
        there, refused = [], []
        for adapter in adapters:
            why_not = refusal(adapter)
            if why_not:
                refused.append(f"{adapter.info['device']} {why_not}")
            else:
                there.append(adapter)
        if not there:
            return Missing(
                self.name,
                "; ".join(refused) or "wgpu finds no adapter",
                f"a driver for {', '.join(BACKENDS)} of the device, or Mesa's lavapipe (mesa-vulkan-drivers)",
            )
        self._adapters = sorted(there, key=lambda adapter: KINDS.index(adapter.info["adapter_type"]))
        return [describe(adapter, number) for number, adapter in enumerate(self._adapters)]

    def open(self, info: DeviceInfo) -> Driver:
        from pykern.runtime.drivers.webgpu.driver import WebGpuDriver

        return WebGpuDriver(self._adapters[info.ordinal], info)


RUNTIME = WebGpuRuntime()
