"""Devices of this machine, and opening one.

Comes in: what the Vulkan loader finds. Goes out: `Physical`, a device with its `DeviceInfo`, and `Device`,
an open one with its queues. Real GPUs come first and devices made of software last. Read next: memory.py.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any

from pykern.errors import DeviceError
from pykern.runtime.driver import DeviceInfo
from pykern.runtime.drivers.vulkan import features
from pykern.runtime.drivers.vulkan.api import NULL, check, created, ffi, lib, struct, text, vk
from pykern.runtime.drivers.vulkan.features import Features

NEEDED = (1, 2)  # timeline semaphores
NEWEST = (1, 3)
KINDS = {2: "discrete", 1: "integrated", 3: "virtual", 0: "other", 4: "software"}
"""VkPhysicalDeviceType, in the order of choice."""
UNIFIED = ("integrated", "software")
LAVAPIPE = 13
"""VK_DRIVER_ID_MESA_LLVMPIPE: code for it reports what this driver leaves out silently."""

_lock = threading.Lock()
_instance: list[Any] = []


@dataclass(frozen=True)
class Physical:
    """`family` is the queue family used; `stamps` the valid bits of its timestamps, 0 for none."""

    handle: Any
    info: DeviceInfo
    features: Features
    kind: str
    family: int
    queues: int
    stamps: int
    period_ns: float
    alignment: int
    max_range: int
    max_buffers: int
    portability: bool


@dataclass(frozen=True)
class Device:
    """An open device; `queues` belong to the priorities high, normal, low.

    `semaphores` are those of streams that are gone, for streams to come. They are never destroyed: Mesa's
    thread that submits (22.3) still releases what a batch waited for after the host has seen the batch done,
    and would lock a mutex that is no more.
    """

    handle: Any
    physical: Physical
    queues: dict[str, Any]
    semaphores: list[Any] = field(default_factory=list)


def physical_devices() -> list[Physical]:
    """Every device that can run kernels, best kind first."""
    instance = _the_instance()
    count = ffi.new("uint32_t*")
    check(lib.vkEnumeratePhysicalDevices(instance, count, NULL), "listing devices")
    handles = ffi.new("VkPhysicalDevice[]", count[0])
    check(lib.vkEnumeratePhysicalDevices(instance, count, handles), "listing devices")
    order = list(KINDS)
    usable = []
    for handle in list(handles)[: count[0]]:
        properties = ffi.new("VkPhysicalDeviceProperties*")
        lib.vkGetPhysicalDeviceProperties(handle, properties)
        if _version(properties.apiVersion) >= NEEDED and _family(handle) is not None:
            usable.append((order.index(properties.deviceType), len(usable), handle))
    found = (_described(handle, ordinal) for ordinal, (_, _, handle) in enumerate(sorted(usable)))
    return [one for one in found if "timelineSemaphore" in one.features.found]


def open_device(physical: Physical) -> Device:
    names = ("low", "normal", "high")[: physical.queues]
    priorities = ffi.new("float[]", [0.0, 0.5, 1.0][: len(names)] if len(names) > 1 else [0.5])
    queue = struct(
        "VkDeviceQueueCreateInfo",
        queueFamilyIndex=physical.family,
        queueCount=len(names),
        pQueuePriorities=priorities,
    )
    wanted = [*physical.features.extensions, *(["VK_KHR_portability_subset"] if physical.portability else [])]
    held = [ffi.new("char[]", name.encode()) for name in wanted]
    handle = created(
        lib.vkCreateDevice,
        f"opening {physical.info.name}",
        physical.handle,
        struct(
            "VkDeviceCreateInfo",
            pNext=physical.features.chain(),
            queueCreateInfoCount=1,
            pQueueCreateInfos=queue,
            enabledExtensionCount=len(held),
            ppEnabledExtensionNames=ffi.new("char*[]", held),
        ),
        kind="VkDevice",
    )
    queues = []
    for number in range(len(names)):
        place = ffi.new("VkQueue*")
        lib.vkGetDeviceQueue(handle, physical.family, number, place)
        queues.append(place[0])
    low, normal, high = queues[0], queues[len(queues) // 2], queues[-1]
    return Device(handle, physical, {"low": low, "normal": normal, "high": high})


def _the_instance() -> Any:
    """One for the process: drivers load when it is made."""
    with _lock:
        if not _instance:
            offered = _extensions(
                lambda count, into: lib.vkEnumerateInstanceExtensionProperties(NULL, count, into)
            )
            portable = "VK_KHR_portability_enumeration" in offered
            name = ffi.new("char[]", b"VK_KHR_portability_enumeration")
            application = struct(
                "VkApplicationInfo",
                pApplicationName=(label := ffi.new("char[]", b"pykern")),
                pEngineName=label,
                apiVersion=vk.VK_MAKE_VERSION(*NEWEST, 0),
            )
            creation = struct(
                "VkInstanceCreateInfo",
                pApplicationInfo=application,
                flags=1 if portable else 0,  # VK_INSTANCE_CREATE_ENUMERATE_PORTABILITY_BIT_KHR
                enabledExtensionCount=1 if portable else 0,
                ppEnabledExtensionNames=ffi.new("char*[]", [name]),
            )
            what = "starting Vulkan"
            _instance.append(created(lib.vkCreateInstance, what, creation, kind="VkInstance"))
        return _instance[0]


def _extensions(enumerate_into: Any) -> frozenset[str]:
    count = ffi.new("uint32_t*")
    check(enumerate_into(count, NULL), "listing extensions")
    properties = ffi.new("VkExtensionProperties[]", count[0])
    check(enumerate_into(count, properties), "listing extensions")
    return frozenset(text(one.extensionName) for one in properties)


def _version(packed: int) -> tuple[int, int]:
    return (packed >> 22) & 0x7F, (packed >> 12) & 0x3FF


def _family(handle: Any) -> tuple[int, Any] | None:
    """The queue family for kernels: one that does not draw as well, where there is one."""
    count = ffi.new("uint32_t*")
    lib.vkGetPhysicalDeviceQueueFamilyProperties(handle, count, NULL)
    families = ffi.new("VkQueueFamilyProperties[]", count[0])
    lib.vkGetPhysicalDeviceQueueFamilyProperties(handle, count, families)
    able = [n for n in range(count[0]) if families[n].queueFlags & vk.VK_QUEUE_COMPUTE_BIT]
    able.sort(key=lambda n: (families[n].queueFlags & vk.VK_QUEUE_GRAPHICS_BIT, n))
    return (able[0], families) if able else None


def _described(handle: Any, ordinal: int) -> Physical:
    newer = struct("VkPhysicalDeviceVulkan12Properties")
    older = struct("VkPhysicalDeviceVulkan11Properties", pNext=newer)
    head = struct("VkPhysicalDeviceProperties2", pNext=older)
    lib.vkGetPhysicalDeviceProperties2(handle, head)
    properties, limits = head.properties, head.properties.limits
    version = min(_version(properties.apiVersion), NEWEST)
    extensions = _extensions(
        lambda count, into: lib.vkEnumerateDeviceExtensionProperties(handle, NULL, count, into)
    )
    found = features.find(handle, version, extensions)
    kind = KINDS[properties.deviceType]
    memory = ffi.new("VkPhysicalDeviceMemoryProperties*")
    lib.vkGetPhysicalDeviceMemoryProperties(handle, memory)
    heaps = [memory.memoryHeaps[n] for n in range(memory.memoryHeapCount)]
    family = _family(handle)
    assert family is not None  # devices without one are left out before
    number, families = family
    groups, grid = list(limits.maxComputeWorkGroupSize), list(limits.maxComputeWorkGroupCount)
    info = DeviceInfo(
        "vulkan",
        ordinal,
        text(properties.deviceName),
        f"spirv:vulkan{version[0]}.{version[1]}" + ("+lavapipe" if newer.driverID == LAVAPIPE else ""),
        memory_bytes=max((heap.size for heap in heaps if heap.flags & 1), default=0),
        shared_bytes=limits.maxComputeSharedMemorySize,
        max_group=limits.maxComputeWorkGroupInvocations,
        max_group_sizes=(groups[0], groups[1], groups[2]),
        max_grid=(grid[0], grid[1], grid[2]),
        max_allocation=older.maxMemoryAllocationSize,
        subgroup_size=older.subgroupSize,
        dtypes=found.dtypes(),
        atomics=found.atomics(),
        unified=kind in UNIFIED,
        driver=f"{text(newer.driverName)} {text(newer.driverInfo)}".strip(),
        facts={
            "kind": kind,
            "features": found.found,
            "capabilities": frozenset(found.capabilities.values()),
            "max_storage_range": limits.maxStorageBufferRange,
            "max_memory_arguments": limits.maxPerStageDescriptorStorageBuffers - 1,
            "queues": families[number].queueCount,
            "timestamps": families[number].timestampValidBits > 0,
        },
    )
    return Physical(
        handle,
        info,
        found,
        kind,
        number,
        families[number].queueCount,
        families[number].timestampValidBits,
        limits.timestampPeriod,
        max(limits.minStorageBufferOffsetAlignment, 16),
        limits.maxStorageBufferRange,
        limits.maxPerStageDescriptorStorageBuffers - 1,
        "VK_KHR_portability_subset" in extensions,
    )


def chosen(ordinal: int) -> Physical:
    devices = physical_devices()
    if not 0 <= ordinal < len(devices):
        raise DeviceError(
            f"there is no device vulkan:{ordinal}", hint=f"this machine has {len(devices)} of that kind"
        )
    return devices[ordinal]
