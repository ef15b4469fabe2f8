"""The Vulkan API as PyPI's `vulkan` binds it: structures with their type filled in, results as errors.

Comes in: names of structures and result codes. Goes out: cffi objects, and `VulkanError` for every
result that is a failure. Importing this module imports the bindings, which load the Vulkan loader:
only `pykern.runtime.drivers.vulkan` imports it, when somebody asks for devices.
"""

from __future__ import annotations

import weakref
from importlib import import_module
from typing import Any

from pykern.errors import DeviceError

vk: Any = import_module("vulkan")
ffi: Any = vk.ffi
lib: Any = vk.lib
NULL: Any = ffi.NULL

_types: dict[str, int] = {}
_held: weakref.WeakKeyDictionary[Any, dict[str, Any]] = weakref.WeakKeyDictionary()

RESULTS = {
    getattr(vk, name): name for name in dir(vk) if name.startswith("VK_ERROR_") and "RANGE" not in name
}
EXPLAINED = {
    "VK_ERROR_DEVICE_LOST": "the device is lost: a kernel ran too long or touched memory that is not its own, "
    "or the driver was reset",
    "VK_ERROR_OUT_OF_HOST_MEMORY": "out of host memory",
    "VK_ERROR_OUT_OF_DEVICE_MEMORY": "out of device memory",
    "VK_ERROR_TOO_MANY_OBJECTS": "too many allocations",
    "VK_ERROR_INCOMPATIBLE_DRIVER": "no Vulkan driver was found",
    "VK_ERROR_INITIALIZATION_FAILED": "the driver could not be started",
    "VK_ERROR_FEATURE_NOT_PRESENT": "the device lacks a feature",
}


class VulkanError(DeviceError):
    """A call of the Vulkan API that failed; `result` is its code."""

    result: int = 0


def failure(result: int, what: str) -> VulkanError:
    """The error for a failing result of `what` ("allocating 12 bytes")."""
    name = RESULTS.get(result, f"VkResult {result}")
    cause = EXPLAINED.get(name)
    error = VulkanError(f"{what}: {cause} ({name})" if cause else f"{what} failed: {name}")
    error.result = result
    return error


def check(result: int, what: str) -> None:
    if result < 0:
        raise failure(result, what)


def struct(name: str, **fields: Any) -> Any:
    """A pointer to a new structure; it keeps alive what its fields point to."""
    if name not in _types:
        _types[name] = getattr(getattr(vk, name)(), "sType", -1)
    if _types[name] >= 0:
        pointer = ffi.new(f"{name}*", {"sType": _types[name], **fields})
    else:
        pointer = ffi.new(f"{name}*", fields)
    _held[pointer] = fields
    return pointer


def created(create: Any, what: str, *arguments: Any, kind: str) -> Any:
    """Call ``vkCreate...(*arguments, NULL, &handle)`` and give back the handle."""
    handle = ffi.new(f"{kind}*")
    check(create(*arguments, NULL, handle), what)
    return handle[0]


def text(field: Any) -> str:
    return ffi.string(field).decode("utf-8", "replace")
