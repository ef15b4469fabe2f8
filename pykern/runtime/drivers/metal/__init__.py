"""Apple's GPUs through the framework Metal, as PyObjC binds it.

Comes in: nothing. Goes out: `RUNTIME`, which finds devices and opens them. Written against the documentation of Metal
and of PyObjC, and tested over classes that stand for them (`pykern.runtime.metal_emulator`); it has not run on a Mac
yet. Read next: `facts` for what a device tells, `driver` for what it does, `stream` for how work is kept in order.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any

from pykern.environment.installation import install_extra
from pykern.runtime.driver import DeviceInfo, Driver, Missing
from pykern.runtime.drivers.metal.facts import describe
from pykern.runtime.drivers.metal.framework import Framework


class MetalRuntime:
    """`pykern.runtime.driver.Runtime` for Metal."""

    name = "metal"

    def framework(self) -> Framework:
        """What this process reaches Metal by. Raises `ImportError`."""
        objc = importlib.import_module("objc")
        metal = importlib.import_module("Metal")
        return Framework(metal, objc.autorelease_pool, (objc.error, ValueError, TypeError))

    def devices(self) -> list[DeviceInfo] | Missing:
        found = self._native()
        if isinstance(found, Missing):
            return found
        framework, natives = found
        return [describe(framework, native, self.name, number) for number, native in enumerate(natives)]

    def _native(self) -> tuple[Framework, list[Any]] | Missing:
        """The devices as Metal has them, the system's choice first."""
        try:
            framework = self.framework()
        except ImportError as error:
            if sys.platform != "darwin":
                return Missing(
                    self.name,
                    "Metal belongs to macOS",
                    'a Mac; device="metal:emulated" runs the same code on the host',
                )
            return Missing(
                self.name, f"the Python package pyobjc-framework-Metal: {error}", install_extra("metal")
            )
        metal = framework.metal
        with framework.pool():
            default = metal.MTLCreateSystemDefaultDevice()
            there = list(metal.MTLCopyAllDevices() or [])
        if default is None and not there:
            return Missing(self.name, "Metal finds no GPU", "a Mac whose GPU has a driver for Metal")
        first = default if default is not None else there[0]
        others = [each for each in there if each.registryID() != first.registryID()]
        return framework, [first, *others]

    def open(self, info: DeviceInfo) -> Driver:
        from pykern.runtime.drivers.metal.driver import MetalDriver

        found = self._native()
        assert not isinstance(found, Missing), "the device was there"
        framework, natives = found
        return MetalDriver(framework, natives[info.ordinal], info)


RUNTIME = MetalRuntime()
