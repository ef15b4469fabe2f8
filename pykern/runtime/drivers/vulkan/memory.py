"""Memory of a device: big blocks, parts of them handed out, and what work still uses each part.

Comes in: sizes in bytes. Goes out: `Part`, bytes of one buffer. There is a pool for each kind of use:
"device" for arrays, "upload" and "download" for what the host writes and reads. Each block is one
VkBuffer over one VkDeviceMemory; what is larger than half a block gets a block of its own. Read next: stream.py.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from pykern.errors import DeviceError
from pykern.runtime.drivers.vulkan.api import VulkanError, check, created, ffi, lib, struct, vk
from pykern.runtime.drivers.vulkan.free_list import FreeList

if TYPE_CHECKING:
    from pykern.runtime.drivers.vulkan.device import Device
    from pykern.runtime.drivers.vulkan.stream import Batch

BLOCK_BYTES = 64 << 20
GRAIN = 256  # the largest alignment that Vulkan lets a device ask for

_LOCAL, _VISIBLE, _COHERENT, _CACHED = 1, 2, 4, 8
_STAGING = _VISIBLE | _COHERENT

# What a pool's memory has to be, and what it had better be, the best first.
KINDS: dict[str, tuple[int, tuple[int, ...]]] = {
    "unified": (0, (_LOCAL | _STAGING | _CACHED, _LOCAL | _STAGING, _LOCAL)),
    "device": (0, (_LOCAL,)),
    "upload": (_STAGING, (_LOCAL | _STAGING, _STAGING)),
    "download": (_STAGING, (_STAGING | _CACHED,)),
}
USAGE = (
    vk.VK_BUFFER_USAGE_STORAGE_BUFFER_BIT
    | vk.VK_BUFFER_USAGE_TRANSFER_SRC_BIT
    | vk.VK_BUFFER_USAGE_TRANSFER_DST_BIT
)
_OUT_OF_MEMORY = (
    vk.VK_ERROR_OUT_OF_DEVICE_MEMORY,
    vk.VK_ERROR_OUT_OF_HOST_MEMORY,
    vk.VK_ERROR_TOO_MANY_OBJECTS,
)


@dataclass(eq=False)
class Block:
    """`mapped` is where the host sees it, 0 where it does not."""

    pool: Pool
    buffer: Any
    memory: Any
    mapped: int
    parts: FreeList


@dataclass(eq=False)
class Part:
    """Bytes of a block; no other ever has its `serial`.

    `users` are the last batches that touch it, one for each stream, by its number.
    """

    block: Block
    offset: int
    size: int
    freed: bool = False
    users: dict[int, Batch] = field(default_factory=dict)
    serial: int = field(default_factory=itertools.count(1).__next__)

    def used_by(self, batch: Batch) -> None:
        self.users[batch.stream_number] = batch
        if len(self.users) > 8:
            self.users = {number: one for number, one in self.users.items() if not one.done}

    @property
    def busy(self) -> bool:
        return any(not batch.done for batch in self.users.values())

    def seen(self, offset: int, nbytes: int) -> np.ndarray:
        """The host's view of some of its bytes; only where the block is mapped."""
        address = self.block.mapped + self.offset + offset
        return np.frombuffer(ffi.buffer(ffi.cast("char*", address), nbytes), np.uint8)


class Pool:
    """Memory of one kind."""

    def __init__(self, device: Device, kind: str) -> None:
        self._device = device
        self._kind = kind
        self._type, flags, heap = _memory_type(device, kind)
        self._mappable = bool(flags & _VISIBLE and flags & _COHERENT)
        self._block_bytes = min(BLOCK_BYTES, max(heap // 16, 1 << 20)) // GRAIN * GRAIN
        self._heap = heap
        self._blocks: list[Block] = []

    def take(self, nbytes: int) -> Part | None:
        """A part of at least `nbytes`, or None where the device has no more. Raises for other failures."""
        size = max(-(-nbytes // GRAIN), 1) * GRAIN
        alone = size > self._block_bytes // 2
        if not alone:
            for block in self._blocks:
                offset = block.parts.take(size)
                if offset is not None:
                    return Part(block, offset, size)
        block = self._new_block(size if alone else self._block_bytes)
        if block is None and not alone:
            block = self._new_block(size)
        if block is None:
            return None
        self._blocks.append(block)
        offset = block.parts.take(size)
        assert offset is not None
        return Part(block, offset, size)

    def give(self, part: Part) -> None:
        """Take a part back. One block that nobody uses is kept for what comes next."""
        block = part.block
        block.parts.give(part.offset, part.size)
        others_free = any(one.parts.whole for one in self._blocks if one is not block)
        if block.parts.whole and (others_free or block.parts.size != self._block_bytes):
            self._release(block)

    @property
    def largest(self) -> int:
        """Bytes that no single piece exceeds."""
        return min(self._device.physical.info.max_allocation or self._heap, self._heap)

    def trim(self) -> None:
        """Hand blocks that nobody uses back to the device."""
        for block in [one for one in self._blocks if one.parts.whole]:
            self._release(block)

    def statistics(self) -> dict[str, int]:
        held = sum(block.parts.size for block in self._blocks)
        free = sum(block.parts.free for block in self._blocks)
        return {"blocks": len(self._blocks), "held_bytes": held, "used_bytes": held - free}

    def _new_block(self, size: int) -> Block | None:
        device = self._device.handle
        if size > self.largest:
            return None
        what = f"allocating {size} bytes"
        try:
            buffer = _buffer(device, size, what)
        except VulkanError as error:
            if error.result in _OUT_OF_MEMORY:
                return None
            raise
        handle = ffi.new("VkDeviceMemory*")
        needed = _requirements(device, buffer)
        info = struct("VkMemoryAllocateInfo", allocationSize=needed.size, memoryTypeIndex=self._type)
        result = lib.vkAllocateMemory(device, info, ffi.NULL, handle)
        if result in _OUT_OF_MEMORY:
            lib.vkDestroyBuffer(device, buffer, ffi.NULL)
            return None
        check(result, what)
        check(lib.vkBindBufferMemory(device, buffer, handle[0], 0), what)
        mapped = 0
        if self._mappable:
            place = ffi.new("void**")
            check(lib.vkMapMemory(device, handle[0], 0, size, 0, place), f"mapping {size} bytes")
            mapped = int(ffi.cast("uintptr_t", place[0]))
        return Block(self, buffer, handle[0], mapped, FreeList(size))

    def _release(self, block: Block) -> None:
        self._blocks.remove(block)
        lib.vkDestroyBuffer(self._device.handle, block.buffer, ffi.NULL)
        lib.vkFreeMemory(self._device.handle, block.memory, ffi.NULL)  # this unmaps it as well


def _buffer(device: Any, size: int, what: str) -> Any:
    info = struct("VkBufferCreateInfo", size=size, usage=USAGE, sharingMode=vk.VK_SHARING_MODE_EXCLUSIVE)
    return created(lib.vkCreateBuffer, what, device, info, kind="VkBuffer")


def _requirements(device: Any, buffer: Any) -> Any:
    needed = ffi.new("VkMemoryRequirements*")
    lib.vkGetBufferMemoryRequirements(device, buffer, needed)
    return needed


def _memory_type(device: Device, kind: str) -> tuple[int, int, int]:
    """Number, flags and bytes of the heap of the best type of memory for a pool."""
    memory = ffi.new("VkPhysicalDeviceMemoryProperties*")
    lib.vkGetPhysicalDeviceMemoryProperties(device.physical.handle, memory)
    probe = _buffer(device.handle, GRAIN, "looking for memory")
    allowed = _requirements(device.handle, probe).memoryTypeBits
    lib.vkDestroyBuffer(device.handle, probe, ffi.NULL)
    needed, wishes = KINDS[kind]
    for wish in (*wishes, needed):
        for number in range(memory.memoryTypeCount):
            one = memory.memoryTypes[number]
            if allowed >> number & 1 and one.propertyFlags & (wish | needed) == wish | needed:
                return number, one.propertyFlags, memory.memoryHeaps[one.heapIndex].size
    raise DeviceError(f"{device.physical.info.name} has no memory for {kind} buffers")
