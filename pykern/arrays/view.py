"""What an array on a device is: memory, a shape, strides and a dtype; parts of it, its axes in another order.

Comes in: an `Allocation` of a device's pool. Goes out: `ArrayView`, and views of it; nothing is read or copied. Read
next: `pykern.arrays.array`, the class that users have; `pykern.arrays.copying` moves bytes between views.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeVar

import numpy as np

from pykern.errors import LaunchError
from pykern.runtime import registry
from pykern.runtime.devices import device
from pykern.runtime.driver import Memory
from pykern.runtime.pool import Allocation

A = TypeVar("A", bound="ArrayView")


class ArrayView:
    """``shape``, ``strides`` and ``offset`` in bytes, and ``dtype`` of NumPy, over memory of a device."""

    __slots__ = (
        "__weakref__",
        "_allocation",
        "_described",
        "_facts",
        "_launch",
        "_stand_in",
        "dtype",
        "offset",
        "shape",
        "strides",
    )

    __pykern_array__ = True
    """What launches look for."""

    def __init__(
        self,
        allocation: Allocation,
        shape: tuple[int, ...],
        dtype: np.dtype,
        strides: tuple[int, ...] | None = None,
        offset: int = 0,
    ) -> None:
        self._allocation = allocation
        self.shape = shape
        self.dtype = dtype
        self.strides = dense_strides(shape, dtype.itemsize) if strides is None else strides
        self.offset = offset
        self._stand_in: np.ndarray | None = None
        self._described: Any = None
        self._facts: tuple[bool, bool] | None = None
        """Kept by `pykern.launching.device_kinds`."""
        self._launch: bytes | None = None
        """What compiled entries see of it, kept by `pykern.launching.device_entries`."""

    # -- what it is --------------------------------------------------------------------------------

    @property
    def device(self) -> device:
        """Where it lives."""
        return device(self._allocation.pool.device)

    @property
    def device_name(self) -> str:
        """The name of its device."""
        return self._allocation.pool.device

    @property
    def memory(self) -> Memory:
        """The driver's memory; the first element lies `offset` bytes into it. Raises `UsedAfterFree`."""
        return self._allocation.memory

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        """How many elements."""
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def itemsize(self) -> int:
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of the elements."""
        return self.size * self.itemsize

    @property
    def contiguous(self) -> bool:
        """Whether the elements lie side by side, in order."""
        return self.geometry().flags.c_contiguous

    @property
    def readonly(self) -> bool:
        return self._allocation.readonly

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("an array of no dimensions has no length")
        return self.shape[0]

    def __iter__(self: A) -> Iterator[A]:
        return (self[n] for n in range(len(self)))

    def __repr__(self) -> str:
        shape = ", ".join(map(str, self.shape)) + ("," if self.ndim == 1 else "")
        return f"<pykern.Array ({shape}) {self.dtype} on {self.device_name}>"

    def geometry(self) -> np.ndarray:
        """A NumPy array of this shape at this place, whose elements may be out of the host's reach.

        Only for questions about shape, strides and overlap: where `host` is None, reading it is an error
        that no one catches.
        """
        if self._stand_in is None:
            self._stand_in = _stand_in(self)
        return self._stand_in

    @property
    def host(self) -> np.ndarray | None:
        """The array as NumPy sees it where the host reaches its memory, else None. Raises `UsedAfterFree`."""
        return self.geometry() if isinstance(self.memory.handle, np.ndarray) else None

    # -- views -------------------------------------------------------------------------------------

    def __getitem__(self: A, index: Any) -> A:
        """A view: integers, slices with any step, ``...`` and None; never a copy, also of one element."""
        index = index if isinstance(index, tuple) else (index,)
        wrong = [i for i in index if not _is_basic(i)]
        if wrong:
            raise LaunchError(
                f"an array on a device takes integers, slices, ... and None, not {type(wrong[0]).__name__}",
                hint="take elements by arrays of indices in a kernel, or of x.numpy()",
            )
        if not any(i is Ellipsis for i in index):
            index = (*index, Ellipsis)  # NumPy then gives a view also of one element, and reads nothing
        return self._view(self.geometry()[index])

    @property
    def T(self: A) -> A:  # noqa: N802 - NumPy's name
        """The axes in reverse."""
        return self._view(self.geometry().T)

    def transpose(self: A, *axes: Any) -> A:
        """The axes in another order, reversed where none is given."""
        return self._view(self.geometry().transpose(*axes))

    def reshape(self: A, *shape: Any) -> A:
        """The elements in another shape; one length may be -1. Raises `LaunchError` where they are not dense."""
        geometry = self.geometry()
        if not geometry.flags.c_contiguous:
            raise LaunchError(
                f"{self!r} is not dense (strides {self.strides}), so no view has another shape",
                hint="copy it first: x.copy().reshape(...)",
            )
        return self._view(geometry.reshape(*shape))

    def ravel(self: A) -> A:
        """The elements of a dense array in one dimension."""
        return self.reshape(-1)

    def _view(self: A, geometry: np.ndarray) -> A:
        moved = geometry.ctypes.data - self.geometry().ctypes.data if geometry.size else 0
        self._allocation.memory  # noqa: B018 - a freed array has no views
        view = type(self)(self._allocation, geometry.shape, self.dtype, geometry.strides, self.offset + moved)
        view._stand_in = geometry
        return view

    def beside(self: A, name: str) -> A:
        """A dense array of this shape and dtype on a device, not set. Raises `OutOfMemory`."""
        return type(self)(registry.opened(name).pool.allocate(self.nbytes), self.shape, self.dtype)


def dense_strides(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    """Bytes from one index to the next where elements lie side by side, the last index fastest."""
    strides, step = [], itemsize
    for length in reversed(shape):
        strides.append(step)
        step *= max(1, length)
    return tuple(reversed(strides))


def covered(array: ArrayView) -> tuple[int, int]:
    """The bytes of its memory between the first and behind the last element."""
    if array.size == 0:
        return array.offset, array.offset
    reach = [(n - 1) * s for n, s in zip(array.shape, array.strides, strict=True)]
    low = sum(r for r in reach if r < 0)
    high = sum(r for r in reach if r > 0)
    return array.offset + low, array.offset + high + array.itemsize


def _is_basic(index: Any) -> bool:
    if index is None or index is Ellipsis or isinstance(index, slice):
        return True
    return hasattr(index, "__index__") and not isinstance(index, bool | np.bool_) and not np.ndim(index)


def _stand_in(array: ArrayView) -> np.ndarray:
    memory = array.memory
    if isinstance(memory.handle, np.ndarray) and array._allocation.borrowed:
        made = np.ndarray(array.shape, array.dtype, memory.handle, array.offset, array.strides)
        if array.readonly:
            made.flags.writeable = False
        return made  # whose base is its owner's
    if isinstance(memory.handle, np.ndarray):
        held = _Interface(array, memory.handle.ctypes.data)
        # else others get the memory while NumPy's array is in use
        held.owners = array._allocation, memory.handle
        return np.asarray(held).view(array.dtype)
    return np.asarray(_Interface(array, array._allocation.place)).view(array.dtype)


class _Interface:
    """What NumPy makes an array of without looking at the memory."""

    owners: tuple[object, ...] = ()

    def __init__(self, array: ArrayView, address: int) -> None:
        self.__array_interface__ = {
            "shape": array.shape,
            "strides": array.strides,
            "typestr": f"|V{array.itemsize}",  # NumPy has no names for bf16 and fp8
            "data": (address + array.offset, array.readonly),
            "version": 3,
        }
