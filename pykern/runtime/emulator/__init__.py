"""NVIDIA's GPUs without one: `cuda:emulated` runs the PTX that is made for them on the host, every access checked.

Goes out: `RUNTIME`, which the registry finds. Everything above CUDA's functions is what runs on a GPU: the driver
(`pykern.runtime.drivers.cuda`), streams, compiled entries. The number of a device is its compute capability,
``cuda:emulated:90``. Read next: `bindings` (CUDA's functions), `program` (a launch), `translate` (PTX to LLVM IR).
"""

from __future__ import annotations

import functools
import importlib.util
from dataclasses import replace
from typing import Any

from pykern.environment.installation import install_extra
from pykern.runtime.driver import DeviceInfo, Missing
from pykern.runtime.drivers.addresses import Calls
from pykern.runtime.drivers.cuda import CudaRuntime
from pykern.runtime.emulator.bindings import SHARED, Bindings


class EmulatedRuntime(CudaRuntime):
    """`pykern.runtime.driver.Runtime` for emulated GPUs."""

    name = "cuda:emulated"

    def devices(self) -> list[DeviceInfo] | Missing:
        if importlib.util.find_spec("llvmlite") is None:
            return Missing(self.name, "llvmlite is not installed", install_extra("emulator"))
        return super().devices()

    @functools.cached_property
    def driver_api(self) -> Any:
        return Bindings()

    def described(self, cu: Any, calls: Calls, ordinal: int, number: int) -> DeviceInfo | None:
        """Code comes as PTX that tells the lines of Python."""
        info = super().described(cu, calls, ordinal, number)
        if info is None:
            return None
        facts = {**info.facts, "exact_sizes": True}
        return replace(info, ordinal=list(SHARED)[number], target=f"{info.target}+ptx+lines", facts=facts)


RUNTIME = EmulatedRuntime()
