"""Memory for machine code: never writable and executable at once, and few maps however much there is.

Comes in: files of code (`pykern.data.code_image`). Goes out: where each begins in this process. Address space is
reserved in pools of two halves, code and data. An image takes the same pages of both: they are written while nothing
of them may be executed, then its code may be executed and never written again. Neighbours have the same rights, so
Linux keeps each half of a pool as one map. All of it is private memory: a child of a fork has it too, and no file is
made. Nothing is given back: a call may be inside.
"""

from __future__ import annotations

import ctypes
import errno
import itertools
import mmap
import os
import threading
from collections.abc import Callable

from pykern.data.code_image import DISTANCE, CodeImage

_NONE, _READ_WRITE, _READ_EXECUTE = 0, 3, 5
_RESERVE = 0x4022
"""MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE of Linux."""
_FAILED = ctypes.c_void_p(-1).value
_SHARED = DISTANCE // 8
"""An image that takes more has address space of its own, so that the end of a pool is used."""


_SHORT = 1 << 20
"""Bytes of each half of a pool where there is no room for a long one."""
_SCARCE = 1 << 36
"""Where such pools are looked for: far from what the system maps by itself."""


class NotExecutable(PermissionError):
    """The system lets no memory become executable that was written (SELinux's `execmem`, systemd's
    `MemoryDenyWriteExecute`)."""


class NoRoom(OSError):
    """The system gives this process no more memory, address space or maps."""


class CodeMemory:
    """The pools of this process. `usable` is for its users to say."""

    def __init__(self) -> None:
        library = ctypes.CDLL(None, use_errno=True)
        self._mmap, self._munmap, self.protect = library.mmap, library.munmap, library.mprotect
        self._mmap.restype = ctypes.c_void_p
        self._mmap.argtypes = (
            ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long,
        )  # fmt: skip
        self._munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
        self.protect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
        self.usable = True
        self._base, self._used, self._length = 0, 0, 0
        self._places = itertools.count(_SCARCE, 1 << 30)
        self._lock = threading.Lock()
        os.register_at_fork(after_in_child=self._after_fork)

    def place(self, binary: bytes, image: CodeImage, resolve: Callable[[str], int]) -> int:
        """Put an image into memory; where its code begins. Raises OSError, and what `resolve` raises."""
        addresses = [(cell, resolve(name)) for cell, name in image.imports]
        address = self._take(image)
        size = pages(image.size)
        self._allow(address, size, _READ_WRITE)
        ctypes.memmove(address, binary, image.code_size)
        self._allow(address + image.distance, size, _READ_WRITE)
        stored = binary[image.data : image.data + image.stored]
        ctypes.memmove(address + image.distance + image.data, stored, len(stored))
        for cell, value in addresses:
            ctypes.c_uint64.from_address(address + cell).value = value
        for cell, place in image.relative:
            ctypes.c_uint64.from_address(address + cell).value = address + place
        self._allow(address, size, _READ_EXECUTE)
        return address

    def _take(self, image: CodeImage) -> int:
        """Address space that nobody else has."""
        size = pages(image.size)
        if size > _SHARED or image.distance != DISTANCE:
            return self._reserve(image.distance + size)
        with self._lock:
            if self._used + size > self._length:
                self._base, self._length = self._pool(size)
                self._used = 0
            address = self._base + self._used
            self._used += size
            return address

    def _pool(self, least: int) -> tuple[int, int]:
        """The beginning of a pool, and the length of each of its halves."""
        try:
            return self._reserve(2 * DISTANCE), DISTANCE
        except NoRoom as error:
            length = max(least, _SHORT)
            for place in itertools.islice(self._places, 64):
                if self._reserve_at(place, length):
                    return place, length
            raise error

    def _reserve_at(self, place: int, length: int) -> bool:
        """Two short halves just there, without what lies between: where address space is limited (`ulimit -v`)."""
        found = []
        for wanted in (place, place + DISTANCE):
            found.append(self._mmap(wanted, length, _NONE, _RESERVE, -1, 0))
            if found[-1] != wanted:
                for address in found:
                    if address != _FAILED:
                        self._munmap(address, length)
                return False
        return True

    def _reserve(self, size: int) -> int:
        address = self._mmap(None, size, _NONE, _RESERVE, -1, 0)
        if address == _FAILED:
            raise _failure(f"there is no room for {size >> 20} MiB of address space for code")
        return address

    def _allow(self, address: int, size: int, rights: int) -> None:
        if self.protect(address, size, rights):
            if rights == _READ_EXECUTE and ctypes.get_errno() in (errno.EACCES, errno.EPERM):
                raise NotExecutable(ctypes.get_errno(), "memory that was written may not become executable")
            raise _failure("there is no memory for code")

    def _after_fork(self) -> None:
        """In a child: what a thread of the parent was just placing stays unused."""
        self._lock = threading.Lock()


def pages(size: int) -> int:
    return -(-size // mmap.PAGESIZE) * mmap.PAGESIZE


def _failure(what: str) -> NoRoom:
    number = ctypes.get_errno()
    return NoRoom(number, what)
