"""The device `rocm:emulated`: everything above HIP's functions is what runs on a GPU.

Goes out: `RUNTIME`, which the registry finds. The number of a device is its chip's: ``rocm:emulated:gfx942`` is 0x942.
Read next: `bindings`, HIP's functions.
"""

from __future__ import annotations

import functools
import importlib.util
from dataclasses import replace
from typing import Any

from pykern.environment.installation import install_extra
from pykern.runtime.driver import DeviceInfo, Driver, Missing
from pykern.runtime.drivers.addresses import AddressDriver
from pykern.runtime.drivers.rocm import RocmRuntime, calls_of
from pykern.runtime.emulator.amd.bindings import CHIPS, Bindings


class EmulatedRuntime(RocmRuntime):
    """`pykern.runtime.driver.Runtime` for emulated GPUs."""

    name = "rocm:emulated"

    def devices(self) -> list[DeviceInfo] | Missing:
        if importlib.util.find_spec("llvmlite") is None:
            return Missing(self.name, "llvmlite is not installed", install_extra("emulator"))
        found = super().devices()
        return found if isinstance(found, Missing) else [self._told(info) for info in found]

    @functools.cached_property
    def driver_api(self) -> Any:
        return Bindings()

    def _told(self, info: DeviceInfo) -> DeviceInfo:
        """Code comes as assembly that tells the lines of Python."""
        chip = CHIPS[info.ordinal]
        facts = {**info.facts, "exact_sizes": True}
        return replace(
            info,
            runtime=self.name,
            ordinal=int(chip.removeprefix("gfx"), 16),
            target=f"{info.target}+assembly+lines",
            facts=facts,
        )

    def open(self, info: DeviceInfo) -> Driver:
        api, number = self.driver_api, CHIPS.index(f"gfx{info.ordinal:x}")
        calls = replace(calls_of(api, number, pools=True), address_of=api.c_address)
        return AddressDriver(calls, info, ("assembly",))


RUNTIME = EmulatedRuntime()
