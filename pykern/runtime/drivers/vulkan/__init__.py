"""Vulkan: every GPU with a Vulkan 1.2 driver, and Mesa's lavapipe, which is one made of software.

Comes in: nothing. Goes out: `RUNTIME`, which finds devices and opens them. Read next: driver.py for what a
device does, device.py for how devices are found, stream.py for how work is kept in order.
"""

from __future__ import annotations

from pykern.environment.installation import install_extra
from pykern.errors import DeviceError
from pykern.runtime.driver import DeviceInfo, Driver, Missing


class VulkanRuntime:
    """`pykern.runtime.driver.Runtime` for Vulkan."""

    name = "vulkan"

    def devices(self) -> list[DeviceInfo] | Missing:
        """Real GPUs first, devices made of software last."""
        try:
            from pykern.runtime.drivers.vulkan.device import physical_devices
        except ImportError as error:
            return Missing(self.name, f"the Python package vulkan: {error}", install_extra("vulkan"))
        except (OSError, AttributeError) as error:  # no loader, or one of before Vulkan 1.2
            return Missing(
                self.name, f"the Vulkan loader: {error}", "the Vulkan loader of the system (libvulkan1)"
            )
        try:
            found = [one.info for one in physical_devices()]
        except DeviceError as error:
            return Missing(self.name, error.reason, "a Vulkan driver for the device")
        if not found:
            return Missing(
                self.name,
                "no device has Vulkan 1.2 and runs kernels",
                "a Vulkan driver for the device, or Mesa's lavapipe (mesa-vulkan-drivers)",
            )
        return found

    def open(self, info: DeviceInfo) -> Driver:
        from pykern.runtime.drivers.vulkan.driver import VulkanDriver

        return VulkanDriver(info.ordinal)


RUNTIME = VulkanRuntime()
