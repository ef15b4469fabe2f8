"""OpenCL devices that take SPIR-V, through pyopencl.

Comes in: nothing. Goes out: `RUNTIME`, which finds devices and opens them. Read next: `icd` for how OpenCL's
libraries are found, `facts` for what a device tells, `driver` for what it does.
"""

from __future__ import annotations

import importlib
from typing import Any

from pykern.environment.installation import install_extra
from pykern.errors import DeviceError
from pykern.runtime.driver import DeviceInfo, Driver, Missing
from pykern.runtime.drivers.opencl.facts import describe, refusal
from pykern.runtime.drivers.opencl.icd import vendors


def _install() -> str:
    """What brings the bindings, and a device that every x86-64 machine has."""
    return f"{install_extra('opencl')}; for the CPU also: pip install intel-opencl-rt intel-cmplr-lib-rt"


class OpenClRuntime:
    """Every device of every platform: GPUs first, then what else computes, CPUs last."""

    name = "opencl"

    def __init__(self) -> None:
        self._devices: list[Any] = []
        self._contexts: dict[int, Any] = {}

    def devices(self) -> list[DeviceInfo] | Missing:
        try:
            cl = importlib.import_module("pyopencl")
        except ImportError as error:
            return Missing(self.name, f"pyopencl is not there ({error})", _install())
        with vendors() as tried:
            try:
                platforms = cl.get_platforms()
            except cl.Error as error:
                return Missing(self.name, f"no OpenCL platform ({error}; looked in {tried})", _install())
        there, refused = [], []
        for platform in platforms:
            try:
                listed = platform.get_devices()
            except cl.Error:  # a platform without devices is none
                continue
            for device in listed:
                why_not = refusal(device)
                if why_not:
                    refused.append(f"{device.name.strip()} {why_not}")
                else:
                    there.append(device)
        if not there:
            return Missing(
                self.name, "; ".join(refused) or f"no OpenCL device (looked in {tried})", _install()
            )
        self._devices = sorted(there, key=lambda d: _place(cl, d))
        return [describe(cl, device, number) for number, device in enumerate(self._devices)]

    def open(self, info: DeviceInfo) -> Driver:
        from pykern.runtime.drivers.opencl.driver import OpenClDriver

        return OpenClDriver(self.native(info.ordinal), info, self._contexts.get(info.ordinal))

    def adopt(self, ordinal: int, context: Any) -> None:
        """Let a device work in a context of somebody else, from when it is opened. Raises `DeviceError`."""
        if self.native(ordinal) not in context.devices:
            raise DeviceError(
                f"opencl:{ordinal} is not in this context",
                hint="make the context with this device: see `pykern devices`",
            )
        self._contexts[ordinal] = context

    def native(self, ordinal: int) -> Any:
        """OpenCL's own device."""
        found = self.devices() if not self._devices else []
        if isinstance(found, Missing):
            raise DeviceError(f"no device opencl:{ordinal}: {found.reason}", hint=found.install)
        return self._devices[ordinal]


def _place(cl: Any, device: Any) -> int:
    if device.type & cl.device_type.GPU:
        return 0
    return 2 if device.type & cl.device_type.CPU else 1


RUNTIME = OpenClRuntime()
