"""`pk.Array`: memory of a device with a shape, strides and a dtype.

Comes in: an `Allocation` of a device's pool. Goes out: views of it (slices with any step, transposes, reshapes of
what is dense), copies to NumPy and to other devices, and the protocols other libraries read arrays through.
How arrays are made: `pykern.arrays.making`; how bytes move: `pykern.arrays.copying`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from pykern.arrays import dlpack
from pykern.data.synthetic_frame import at_users_line
from pykern.errors import LaunchError
from pykern.runtime import registry
from pykern.runtime.cpu_table import tell_type
from pykern.runtime.devices import checked, device
from pykern.runtime.driver import Memory
from pykern.runtime.pool import Allocation


class Array:
    """An array on a device: ``shape``, ``strides`` and ``offset`` in bytes, ``dtype`` of NumPy.

    It has no arithmetic: kernels and array programs have. Where the host reaches the memory (``cpu``)
    NumPy sees it without a copy.
    """

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

    def __iter__(self) -> Iterator[Array]:
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

    def __getitem__(self, index: Any) -> Array:
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

    def __setitem__(self, index: Any, value: Any) -> None:
        """Copy `value` (an array or a number) into a part, broadcast as NumPy does."""
        from pykern.arrays.copying import copyto

        copyto(self[index], value)

    @property
    def T(self) -> Array:  # noqa: N802 - NumPy's name
        """The axes in reverse."""
        return self._view(self.geometry().T)

    def transpose(self, *axes: Any) -> Array:
        """The axes in another order, reversed where none is given."""
        return self._view(self.geometry().transpose(*axes))

    def reshape(self, *shape: Any) -> Array:
        """The elements in another shape; one length may be -1. Raises `LaunchError` where they are not dense."""
        geometry = self.geometry()
        if not geometry.flags.c_contiguous:
            raise LaunchError(
                f"{self!r} is not dense (strides {self.strides}), so no view has another shape",
                hint="copy it first: x.copy().reshape(...)",
            )
        return self._view(geometry.reshape(*shape))

    def ravel(self) -> Array:
        """The elements of a dense array in one dimension."""
        return self.reshape(-1)

    def _view(self, geometry: np.ndarray) -> Array:
        moved = geometry.ctypes.data - self.geometry().ctypes.data if geometry.size else 0
        self._allocation.memory  # noqa: B018 - a freed array has no views
        view = Array(self._allocation, geometry.shape, self.dtype, geometry.strides, self.offset + moved)
        view._stand_in = geometry
        return view

    # -- copies ------------------------------------------------------------------------------------

    def numpy(self) -> np.ndarray:
        """The elements on the host: the memory itself on ``cpu``, a copy elsewhere. Waits for the array."""
        from pykern.arrays.copying import to_host

        return to_host(self)

    @at_users_line
    def to(self, device: Any, stream: Any = None) -> Array:
        """The array on another device; itself where it lives there. With a stream (of the device it goes to,
        or comes from) the copy is ordered there, without one it is done on return."""
        from pykern.arrays.copying import moved

        return (
            self if checked(device) == self._allocation.pool.device else moved(self, checked(device), stream)
        )

    def copy(self) -> Array:
        """A dense array of its own with the same elements, on the same device."""
        from pykern.arrays.copying import copyto
        from pykern.arrays.making import empty

        made = empty(self.shape, self.dtype, device=self.device)
        copyto(made, self)
        return made

    def fill(self, value: Any) -> Array:
        """Set every element; returns the array."""
        from pykern.arrays.copying import copyto

        copyto(self, value)
        return self

    def item(self) -> Any:
        """The only element, as a Python number."""
        return self.numpy().item()

    def tolist(self) -> Any:
        """The elements as nested lists."""
        return self.numpy().tolist()

    def free(self) -> None:
        """Give the memory back now instead of with the last view; any later use is a `UsedAfterFree`."""
        self._allocation.free()

    # -- protocols ---------------------------------------------------------------------------------

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        elements = self.numpy()
        if copy is False and self.host is None:
            raise ValueError(f"{self!r} is out of the host's reach: NumPy needs a copy")
        if dtype is not None and dtype != elements.dtype:
            return elements.astype(dtype)
        return elements.copy() if copy and elements is self._stand_in else elements

    def __dlpack_device__(self) -> tuple[int, int]:
        kind, ordinal = registry.split(self.device_name)
        if self.host is not None:
            return 1, 0  # kDLCPU
        if kind in dlpack.KINDS:
            return dlpack.KINDS[kind], ordinal
        raise BufferError(f"DLPack has no devices of {kind}")

    def __dlpack__(
        self, *, stream: Any = None, max_version: Any = None, dl_device: Any = None, copy: bool | None = None
    ) -> Any:
        """The memory for another library, whose `stream` waits for what is under way with the array."""
        host = self.host
        if host is not None:
            self.numpy()  # waits
            asked = {"stream": stream, "max_version": max_version, "dl_device": dl_device, "copy": copy}
            return host.__dlpack__(**{name: value for name, value in asked.items() if value is not None})
        here = self.__dlpack_device__()
        if dl_device is not None and tuple(dl_device) != here:
            raise BufferError(f"{self!r} is not on DLPack's device {tuple(dl_device)}; move it: x.to(...)")
        return dlpack.exported(self.copy() if copy else self, stream, max_version)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        if registry.split(self.device_name)[0] != "cuda":
            raise AttributeError(f"{self!r} is not on a CUDA device")
        driver: Any = self._allocation.pool.driver
        stream = registry.opened(self.device_name).stream
        self._allocation.wait_for_users(stream)  # the consumer waits for this one
        return {
            "shape": self.shape,
            "strides": None if self.contiguous else self.strides,
            "typestr": self.dtype.str,
            "data": (self.memory.address + self.offset, self.readonly),
            "version": 3,
            "stream": driver.stream_number(stream),
        }


tell_type("array", Array)


def dense_strides(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    """Bytes from one index to the next where elements lie side by side, the last index fastest."""
    strides, step = [], itemsize
    for length in reversed(shape):
        strides.append(step)
        step *= max(1, length)
    return tuple(reversed(strides))


def covered(array: Array) -> tuple[int, int]:
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


def _stand_in(array: Array) -> np.ndarray:
    memory = array.memory
    if isinstance(memory.handle, np.ndarray):
        made = np.ndarray(array.shape, array.dtype, memory.handle, array.offset, array.strides)
        if array.readonly:
            made.flags.writeable = False
        return made
    return np.asarray(_Interface(array, array._allocation.place)).view(array.dtype)


class _Interface:
    """What NumPy makes an array of without looking at the memory."""

    def __init__(self, array: Array, address: int) -> None:
        self.__array_interface__ = {
            "shape": array.shape,
            "strides": array.strides,
            "typestr": f"|V{array.itemsize}",  # NumPy has no names for bf16 and fp8
            "data": (address + array.offset, array.readonly),
            "version": 3,
        }
