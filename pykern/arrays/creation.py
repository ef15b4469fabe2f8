"""New arrays on a device: `empty`, `zeros`, `ones`, `full`, `array`, `asarray`, `from_dlpack`, `from_pointer`.

Comes in: shapes, numbers, other libraries' arrays. Goes out: `pk.Array`s. ``pk.zeros`` and its like without a
device give NumPy arrays, which are the CPU's own (`pykern.language.array_functions`); with ``device=``, or inside of
``with pk.device(...)`` of a device with memory of its own, they come here.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from pykern.arrays import dlpack
from pykern.arrays.array import Array
from pykern.arrays.copying import copyto
from pykern.arrays.foreign import as_numpy, check_foreign, check_numpy, element_type, place
from pykern.arrays.view import dense_strides
from pykern.data.synthetic_frame import at_users_line
from pykern.errors import ARGUMENT_TYPE, KernelTypeError, LaunchError
from pykern.runtime import registry
from pykern.runtime.caching_allocator import caching_allocator
from pykern.runtime.devices import checked, chosen_device, current_device
from pykern.runtime.driver import Memory
from pykern.runtime.pool import MemoryStats
from pykern.runtime.written import Borrowed
from pykern.types import from_numpy, numpy_dtype


def elsewhere(device: Any) -> str | None:
    """The device of a new array; None where it is to be a NumPy array."""
    if device is not None:
        return checked(device)
    chosen = chosen_device()
    return None if chosen in (None, "cpu", "python") else chosen


@at_users_line
def empty(shape: Any, dtype: Any = np.float64, device: Any = None) -> Array:
    """An array whose elements are not set. Raises `OutOfMemory`."""
    lengths = lengths_of(shape)
    kind = _dtype(dtype)
    opened = registry.opened(current_device(device))
    nbytes = int(np.prod(lengths, dtype=object)) * kind.itemsize
    return Array(opened.pool.allocate(nbytes), lengths, kind)


@at_users_line
def zeros(shape: Any, dtype: Any = np.float64, device: Any = None) -> Array:
    """An array of zeros."""
    return full(shape, 0, np.float64 if dtype is None else dtype, device)


@at_users_line
def ones(shape: Any, dtype: Any = np.float64, device: Any = None) -> Array:
    """An array of ones."""
    return full(shape, 1, np.float64 if dtype is None else dtype, device)


@at_users_line
def full(shape: Any, value: Any, dtype: Any = None, device: Any = None) -> Array:
    """An array that holds `value` everywhere; its dtype is the value's where none is given."""
    made = empty(shape, np.asarray(value).dtype if dtype is None else dtype, device)
    copyto(made, value)
    return made


@at_users_line
def array(data: Any, dtype: Any = None, device: Any = None) -> Array:
    """A copy of numbers or of an array, on a device (the current one where None)."""
    same = isinstance(data, Array) and (dtype is None or _dtype(dtype) == data.dtype)
    if same and data.device_name == current_device(device):
        return data.copy()
    value = _values(data, dtype)
    made = empty(value.shape, value.dtype, device)
    copyto(made, value)
    return made


@at_users_line
def asarray(data: Any, dtype: Any = None, device: Any = None) -> Array:
    """`data` on a device: itself, or NumPy's memory on ``cpu``, where nothing has to be copied."""
    if isinstance(data, Array):
        name = data.device_name if device is None else checked(device)
        if dtype is None or _dtype(dtype) == data.dtype:
            return data.to(name)
        return array(data, dtype, name)
    name = current_device(device)
    value = _values(data, dtype)
    if name in ("cpu", "python") and isinstance(data, np.ndarray) and value is data:
        return _of_numpy(data)
    return array(value, None, name)


@at_users_line
def from_dlpack(x: Any, device: Any = None) -> Array:
    """The memory of another library's array, without a copy where it lies; `device` moves it.

    Takes what has ``__dlpack__`` or ``__cuda_array_interface__``; the device waits for the other library.
    """
    if isinstance(x, Array):
        found = x
    elif isinstance(x, np.ndarray):
        check_numpy("x", x)
        found = _of_numpy(x)
    elif hasattr(x, "__dlpack__") and place("x", x)[0] == 1:  # kDLCPU
        found = _of_numpy(as_numpy("x", x))
    elif hasattr(type(x), "__dlpack__") and x.__dlpack_device__()[0] in dlpack.DEVICES:
        found = _of_gpu(x)
    elif hasattr(type(x), "__cuda_array_interface__"):
        check_foreign("x", x)
        found = _of_cuda(x, _told(x, lambda: x.__cuda_array_interface__))
    else:
        raise KernelTypeError(f"a {type(x).__name__} gives no view of its memory through DLPack")
    return found if device is None else found.to(device)


@at_users_line
def from_pointer(
    ptr: int, shape: Any, dtype: Any, device: Any = None, owner: Any = None, strides: Any = None
) -> Array:
    """An array over memory of somebody else; `owner` is kept alive with it. `strides` are in bytes.

    On ``cpu`` a host address; on a device, one of its driver's, where it has addresses (CUDA, HIP).
    """
    lengths, kind = lengths_of(shape), _dtype(dtype)
    steps = dense_strides(lengths, kind.itemsize) if strides is None else tuple(int(s) for s in strides)
    opened = registry.opened(current_device(device))
    reach = [(n - 1) * s for n, s in zip(lengths, steps, strict=True)]
    low, high = sum(r for r in reach if r < 0), sum(r for r in reach if r > 0) + kind.itemsize
    nbytes = high - low if all(lengths) else 0
    if ptr == 0 and nbytes:
        raise LaunchError("there is no memory at the address 0", hint="pass the address of the first element")
    if opened.info.runtime in ("cpu", "null"):
        handle: Any = np.asarray(Borrowed(ptr + low, nbytes, owner))
    elif opened.info.runtime.removesuffix(":emulated") in ("cuda", "rocm"):
        handle = ptr + low
    else:
        raise LaunchError(f"{opened.info.runtime} has no addresses", hint="copy: pk.array(x, device=...)")
    memory = Memory(handle, nbytes, ptr + low)
    return Array(opened.pool.adopt(memory, owner), lengths, kind, steps, -low)


@at_users_line
def pinned(shape: Any, dtype: Any = np.float64, device: Any = None) -> np.ndarray:
    """A NumPy array in host memory that copies to and from a device overlap with kernels."""
    lengths, kind = lengths_of(shape), _dtype(dtype)
    nbytes = int(np.prod(lengths, dtype=object)) * kind.itemsize
    place = registry.opened(current_device(device)).driver.pinned(max(1, nbytes))
    return place[:nbytes].view(kind).reshape(lengths)


@at_users_line
def memory_stats(device: Any = None) -> MemoryStats:
    """What a device's memory is used for, in bytes. On ``cpu`` also NumPy arrays from 1 MiB on that programs and
    `pk.empty` made, and scratch: `pykern.runtime.caching_allocator`."""
    pool = registry.opened(current_device(device)).pool
    return pool.stats() if pool.device != "cpu" else pool.stats() + caching_allocator.stats()


@at_users_line
def empty_cache(device: Any = None) -> None:
    """Give memory that is kept for reuse back to the device. Waits for it."""
    pool = registry.opened(current_device(device)).pool
    pool.empty()
    if pool.device == "cpu":
        caching_allocator.empty()


def _of_numpy(x: np.ndarray) -> Array:
    address = x.__array_interface__["data"][0]
    made = from_pointer(address, x.shape, x.dtype, "cpu", x, x.strides)
    made._allocation.readonly = not x.flags.writeable
    return made


def _told(x: Any, ask: Callable[[], Any]) -> Any:
    """What a library tells of its array. Raises `KernelTypeError` with its reason where it does not."""
    try:
        return ask()
    except (BufferError, RuntimeError, TypeError) as error:
        raise KernelTypeError(
            f"a {type(x).__name__} gives no view of its memory: {error}",
            hint="detach it from a gradient graph, or convert it",
        ) from None


def _of_gpu(x: Any) -> Array:
    where, number = x.__dlpack_device__()
    name = f"{dlpack.DEVICES[where]}:{number}"
    opened = registry.opened(name)
    driver: Any = opened.driver
    taken = _told(x, lambda: dlpack.taken(x, driver.stream_number(opened.stream)))
    made = from_pointer(taken.address, taken.shape, taken.dtype, name, taken.owner, taken.strides)
    made._allocation.readonly = taken.readonly
    return made


def _of_cuda(x: Any, told: dict[str, Any]) -> Array:
    address, readonly = told["data"]
    number = x.__dlpack_device__()[1] if hasattr(x, "__dlpack_device__") else 0
    name, kind = f"cuda:{number}", np.dtype(told["typestr"])
    if told.get("stream") is not None:
        opened = registry.opened(name)
        driver: Any = opened.driver
        driver.stream_wait(opened.stream, driver.record(driver.foreign(int(told["stream"]))))
    made = from_pointer(address, told["shape"], kind, name, x, told.get("strides"))
    made._allocation.readonly = readonly
    return made


def _values(data: Any, dtype: Any) -> np.ndarray:
    if isinstance(data, np.ndarray):
        check_numpy("x", data)
    elif not isinstance(data, Array) and hasattr(data, "__dlpack_device__"):
        place("x", data)
    try:
        value = data.numpy() if isinstance(data, Array) else np.asarray(data)
    except ValueError as error:  # rows of different lengths
        raise KernelTypeError(
            f"`data` is no array of numbers: {error}", hint="give all rows one length", code=ARGUMENT_TYPE
        ) from None
    value = value if dtype is None else value.astype(_dtype(dtype), copy=False)
    element_type("data", value.dtype)
    return value


def _dtype(dtype: Any) -> np.dtype:
    """NumPy's dtype. Raises `KernelTypeError` for one that kernels have not."""
    kind = np.dtype(numpy_dtype(dtype))
    if from_numpy(kind) is None:
        raise KernelTypeError(f"arrays hold no {kind}", hint="use one of pk.f32, pk.i64, ...")
    return kind


def lengths_of(shape: Any) -> tuple[int, ...]:
    """The lengths of a new array. Raises `LaunchError`."""
    try:
        lengths = tuple(operator.index(n) for n in (shape if isinstance(shape, Iterable) else (shape,)))
    except TypeError:
        raise LaunchError(
            f"shape={shape!r}: a length is an integer", hint="n // 2 is an integer, n / 2 is not"
        ) from None
    if any(n < 0 for n in lengths):
        raise LaunchError(f"shape={shape!r}: a length must not be negative", hint="use max(0, n)")
    return lengths
