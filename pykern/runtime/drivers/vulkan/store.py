"""All memory of an open device: arrays, staging, pinned host memory; and giving it back when work is done.

Comes in: sizes, and parts that nobody wants any more. Goes out: parts. Memory that work under way still
uses goes back when that work is done; memory that has run out is looked for there before anybody is told.
"""

from __future__ import annotations

import weakref
from bisect import bisect_right
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from pykern.errors import DeviceError, OutOfMemory
from pykern.runtime.drivers.vulkan.api import VulkanError, vk
from pykern.runtime.drivers.vulkan.device import Device
from pykern.runtime.drivers.vulkan.memory import Part, Pool
from pykern.runtime.drivers.vulkan.stream import Stream


class Pinned:
    """Host memory that the device copies from and to by itself; NumPy arrays over it keep it alive."""

    def __init__(self, part: Part, nbytes: int) -> None:
        self.part = part
        self.address = part.block.mapped + part.offset
        self.nbytes = nbytes

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return {"version": 3, "shape": (self.nbytes,), "typestr": "|u1", "data": (self.address, False)}


class Store:
    """Memory of `device`; `active` are the streams with work under way."""

    def __init__(self, device: Device) -> None:
        self.active: dict[int, Stream] = {}
        self._name = f"vulkan:{device.physical.info.ordinal} ({device.physical.info.name})"
        self.arrays = Pool(device, "unified" if device.physical.info.unified else "device")
        self.upload = Pool(device, "upload")
        self.download = Pool(device, "download")
        self._waiting: list[Part] = []
        self._pinned: list[tuple[int, weakref.ref[Pinned]]] = []
        # Filled by finalizers, which run anywhere, also in the middle of an allocation; emptied by `collect`.
        self._dead: deque[Callable[[], object]] = deque()

    def take(self, pool: Pool, nbytes: int) -> Part:
        """Memory. Raises `OutOfMemory` where there is none left, also after all work is done."""
        self.collect()
        part = pool.take(nbytes)
        if part is None and self._waiting:
            for stream in list(self.active.values()):
                stream.block(stream.submitted)
            self.collect()
            part = pool.take(nbytes)
        if part is None:
            self.trim()
            part = pool.take(nbytes)
        if part is None:
            there = pool.statistics()
            raise OutOfMemory(
                f"out of memory on {self._name}: {nbytes} bytes are asked for, "
                f"{there['used_bytes']} are in use, one piece holds at most {pool.largest} bytes",
                hint="free arrays that are not needed, or work on smaller pieces",
            )
        return part

    def give(self, part: Part) -> None:
        """Nobody wants it any more; it goes back once no work uses it.

        Streams are not looked at: a stream that finishes its work gives back memory too.
        """
        if part.freed:
            raise DeviceError("this memory was freed already")
        part.freed = True
        if part.busy:
            self._waiting.append(part)
        else:
            part.block.pool.give(part)

    def when_gone(self, owner: object, action: Callable[..., object], *arguments: object) -> None:
        """Call `action` some time after `owner` is gone, where it is safe."""

        def soon() -> None:
            self._dead.append(lambda: action(*arguments))

        weakref.finalize(owner, soon).atexit = False

    def collect(self) -> None:
        """Take back what work is done with. A lost device gives nothing back, and no error here."""
        try:
            for stream in list(self.active.values()):
                stream.reap()
        except VulkanError as error:
            if error.result != vk.VK_ERROR_DEVICE_LOST:
                raise
            return
        while self._dead:
            self._dead.popleft()()
        if self._waiting:
            busy = [part for part in self._waiting if part.busy]
            for part in self._waiting:
                if not part.busy:
                    part.block.pool.give(part)
            self._waiting = busy

    def trim(self) -> None:
        for pool in (self.arrays, self.upload, self.download):
            pool.trim()

    def pinned(self, nbytes: int) -> np.ndarray:
        """A u8 array that copies need no staging for."""
        part = self.take(self.download, nbytes)
        owner = Pinned(part, nbytes)
        self._pinned.append((owner.address, weakref.ref(owner)))
        self._pinned.sort(key=lambda one: one[0])
        self.when_gone(owner, self._unpin, part, owner.address)
        return np.asarray(owner)

    def find_pinned(self, host: np.ndarray) -> tuple[Part, int] | None:
        """Where `host` lies, if in pinned memory: the part and the offset in it."""
        address = host.__array_interface__["data"][0]
        place = bisect_right(self._pinned, address, key=lambda one: one[0]) - 1
        owner = self._pinned[place][1]() if place >= 0 else None
        if owner is None or address + host.nbytes > owner.address + owner.nbytes:
            return None
        return owner.part, address - owner.address

    def _unpin(self, part: Part, address: int) -> None:
        self._pinned = [one for one in self._pinned if one[0] != address or one[1]() is not None]
        self.give(part)

    def statistics(self) -> dict[str, dict[str, int]]:
        self.collect()
        return {
            "arrays": self.arrays.statistics(),
            "upload": self.upload.statistics(),
            "download": self.download.statistics(),
        }
