"""`pk.Array`: memory of a device with a shape, strides and a dtype.

Comes in: an `Allocation` of a device's pool. Goes out: views of it (`pykern.arrays.view`), copies to NumPy and to other
devices, and the protocols other libraries read arrays through. How arrays are made: `pykern.arrays.creation`; how bytes
move: `pykern.arrays.copying`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pykern.arrays import dlpack
from pykern.arrays.copying import copyto, moved, to_host
from pykern.arrays.view import ArrayView
from pykern.data.synthetic_frame import at_users_line
from pykern.errors import KernelTypeError
from pykern.runtime import registry
from pykern.runtime.cpu_table import publish_type
from pykern.runtime.devices import checked


class Array(ArrayView):
    """An array on a device: ``shape``, ``strides`` and ``offset`` in bytes, ``dtype`` of NumPy.

    It has no arithmetic and compares no elements: kernels and array programs do. Where the host reaches the memory
    (``cpu``) NumPy sees it without a copy.
    """

    __slots__ = ()

    def __setitem__(self, index: Any, value: Any) -> None:
        """Copy `value` (an array or a number) into a part, broadcast as NumPy does."""
        copyto(self[index], value)

    def __eq__(self, other: object) -> bool:
        """Refused but for the array itself, and False for what is no array: elements are compared by programs, and on
        the host."""
        if other is self:
            return True
        if not hasattr(other, "__array__") and not isinstance(other, (int, float, complex)):
            return NotImplemented
        raise KernelTypeError(
            f"{self!r} has no arithmetic: `==` and `!=` do not compare elements",
            hint="write x is y, np.array_equal(x.numpy(), y), or x == y in a `@pk.jit` program",
        )

    __hash__ = object.__hash__

    # -- copies ------------------------------------------------------------------------------------

    def numpy(self) -> np.ndarray:
        """The elements on the host: the memory itself on ``cpu``, a copy elsewhere. Waits for the array."""
        return to_host(self)

    @at_users_line
    def to(self, device: Any, stream: Any = None) -> Array:
        """The array on another device; itself where it lives there. With a stream (of the device it goes to,
        or comes from) the copy is ordered there, without one it is done on return."""
        return (
            self if checked(device) == self._allocation.pool.device else moved(self, checked(device), stream)
        )

    def copy(self) -> Array:
        """A dense array of its own with the same elements, on the same device."""
        made = self.beside(self.device_name)
        copyto(made, self)
        return made

    def fill(self, value: Any) -> Array:
        """Set every element; returns the array."""
        copyto(self, value)
        return self

    def item(self) -> Any:
        """The only element, as a Python number."""
        return self.numpy().item()

    def tolist(self) -> Any:
        """The elements as nested lists."""
        return self.numpy().tolist()

    def __bool__(self) -> bool:
        """Whether the only element is not zero; NumPy's ValueError where there are several."""
        return bool(self.numpy())

    def __float__(self) -> float:
        return float(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __copy__(self) -> Array:
        return self.copy()

    def __deepcopy__(self, memo: Any) -> Array:
        return self.copy()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled as its elements and the name of its device, on which it is made again."""
        return _restored, (self.numpy(), self.device_name)

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


def _restored(elements: np.ndarray, device: str) -> Array:
    made = Array(registry.opened(device).pool.allocate(elements.nbytes), elements.shape, elements.dtype)
    copyto(made, elements)
    return made


publish_type("array", Array)
