"""Memory of OpenCL that somebody else made: buffers, arrays and images of pyopencl, without a copy.

Comes in: such an object. Goes out: a `pk.Array` over its memory, or a refusal by name. Memory of OpenCL belongs to a
context, and a kernel sees that of its own alone: `opencl_context` gives the one of pykern's device, or lets pykern
use another.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pykern.arrays.array import Array
from pykern.arrays.creation import lengths_of
from pykern.arrays.foreign import element_type
from pykern.arrays.view import dense_strides
from pykern.data.synthetic_frame import at_users_line
from pykern.errors import ARRAY_MEMORY, DIFFERENT_DEVICES, DeviceError, KernelTypeError, LaunchError
from pykern.runtime import registry
from pykern.runtime.devices import checked
from pykern.runtime.driver import Memory
from pykern.runtime.other_libraries import is_opencl_array, is_opencl_memory
from pykern.types import numpy_dtype

_KIND = "opencl"


@at_users_line
def opencl_context(device: Any = "opencl", adopt: Any = None) -> Any:
    """The `pyopencl.Context` of a device: kernels see the buffers that were made in it.

    With `adopt` the device works in that context of yours from then on; say so before anything runs on the device.
    Raises `DeviceError` where `device` is none of OpenCL's, is not in the context `adopt`, or is in use already.
    """
    name = checked(device)
    kind, ordinal = registry.split(name)
    if kind != _KIND:
        raise DeviceError(f"{name} has no context of OpenCL", hint="name a device of opencl")
    if adopt is not None:
        runtime: Any = registry.runtime(_KIND)
        runtime.adopt(ordinal, adopt)
    driver: Any = registry.opened(name).driver
    if adopt is not None and driver.context != adopt:
        raise DeviceError(
            f"{name} is in use already, in another context",
            hint="adopt a context before the first array or launch on the device",
        )
    return driver.context


@at_users_line
def from_opencl(x: Any, shape: Any = None, dtype: Any = None, strides: Any = None, offset: int = 0) -> Array:
    """The memory of a `pyopencl.array.Array`, a `pyopencl.Buffer` or an image made from a buffer, without a copy.

    A buffer needs `dtype`; its `shape` is all of it, where none is given; `strides` and `offset` are in bytes. Arrays
    and images bring their own. `x` is kept alive. The device waits for what was put into the queue of an array before.
    Raises `DeviceError` for memory of another context, `KernelTypeError` for what has no buffer.
    """
    if is_opencl_array(x):
        return _of_array("x", x)
    if not is_opencl_memory(x):
        raise KernelTypeError(f"a {type(x).__name__} is no memory of OpenCL", hint="pass a pyopencl.Buffer")
    if hasattr(x, "format"):  # an image
        return _of_image("x", x)
    if dtype is None:
        raise KernelTypeError("a buffer does not say what it holds", hint="give dtype=, and shape=")
    kind = np.dtype(numpy_dtype(dtype))
    element_type("x", kind)
    lengths = ((x.size - offset) // kind.itemsize,) if shape is None else lengths_of(shape)
    steps = dense_strides(lengths, kind.itemsize) if strides is None else tuple(int(s) for s in strides)
    return _over("x", x, x, lengths, kind, steps, offset)


def opencl_home(name: str, x: Any) -> str:
    """The device whose context the memory belongs to. Raises `DeviceError` where pykern's devices have others."""
    there = registry.found(_KIND)
    runtime: Any = registry.runtime(_KIND)
    context = x.context if not is_opencl_array(x) else _buffer(name, x).context
    for info in there if isinstance(there, tuple) else ():
        device = f"{_KIND}:{info.ordinal}"
        if runtime.native(info.ordinal) in context.devices:
            driver: Any = registry.opened(device).driver
            if driver.context == context:
                return device
    raise DeviceError(
        f"`{name}` belongs to another context of OpenCL than pykern's device",
        hint="make it in pk.opencl_context(), or let pykern use yours: pk.opencl_context(adopt=context)",
        code=DIFFERENT_DEVICES,
    )


def taken(name: str, x: Any) -> Array:
    """An argument of a launch. Raises `KernelTypeError` for memory that does not say what it holds."""
    if is_opencl_array(x):
        return _of_array(name, x)
    if hasattr(x, "format"):
        return _of_image(name, x)
    raise KernelTypeError(
        f"`{name}` is a pyopencl.Buffer, which does not say what it holds",
        hint=f"pass pk.from_opencl({name}, shape, dtype)",
        code=ARRAY_MEMORY,
    )


def _buffer(name: str, x: Any) -> Any:
    """The buffer that an array of pyopencl lies in."""
    if not is_opencl_memory(x.base_data):
        raise KernelTypeError(
            f"`{name}` lies in {type(x.base_data).__name__}, which is no buffer",
            hint="copy it to one: x.copy()",
        )
    return x.base_data


def _of_array(name: str, x: Any) -> Array:
    element_type(name, x.dtype)
    made = _over(name, _buffer(name, x), x, x.shape, x.dtype, x.strides, x.offset)
    opened = registry.opened(made.device_name)
    driver: Any = opened.driver
    driver.wait_for(opened.stream, x.queue, x.events)
    return made


def _of_image(name: str, x: Any) -> Array:
    """An image is an array where it was made from a buffer; others lie in an order that only their driver knows."""
    whole = x.get_info(_cl().mem_info.ASSOCIATED_MEMOBJECT)
    if whole is None:
        raise KernelTypeError(
            f"`{name}` is an image that was not made from a buffer: how its elements lie is known to its driver alone",
            hint="make the image from a buffer, or copy it to one with pyopencl.enqueue_copy",
            code=ARRAY_MEMORY,
        )
    kind = _element(name, x.format)
    channels = x.format.channel_count
    size = channels * kind.itemsize
    lengths = [n for n in (x.height, x.width) if n] + [channels] * (channels > 1)
    steps = [x.row_pitch] * bool(x.height) + [size] + [kind.itemsize] * (channels > 1)
    return _over(name, whole, x, tuple(lengths), kind, tuple(steps), 0)


def _element(name: str, format: Any) -> np.dtype:
    """The type of a channel, where it is one of numbers as they are."""
    types = _cl().channel_type
    kinds = {
        types.FLOAT: np.float32, types.HALF_FLOAT: np.float16, types.SIGNED_INT8: np.int8,
        types.SIGNED_INT16: np.int16, types.SIGNED_INT32: np.int32, types.UNSIGNED_INT8: np.uint8,
        types.UNSIGNED_INT16: np.uint16, types.UNSIGNED_INT32: np.uint32,
    }  # fmt: skip
    found = kinds.get(format.channel_data_type)
    if found is None:
        raise KernelTypeError(
            f"`{name}` is an image of {types.to_string(format.channel_data_type)}, whose numbers a sampler converts",
            hint="use a format of floats, or of integers that are not normalised",
        )
    return np.dtype(found)


def _over(
    name: str, buffer: Any, owner: Any, shape: Any, kind: np.dtype, strides: tuple[int, ...], offset: int
) -> Array:
    """An array in a buffer. Raises `LaunchError` where it reaches beyond it."""
    device = opencl_home(name, buffer)
    reach = [(n - 1) * s for n, s in zip(shape, strides, strict=True)]
    low, high = (
        offset + sum(r for r in reach if r < 0),
        offset + sum(r for r in reach if r > 0) + kind.itemsize,
    )
    if math.prod(shape) and (low < 0 or high > buffer.size):
        raise LaunchError(
            f"`{name}` takes the bytes {low} to {high} of a buffer of {buffer.size}",
            hint="give a smaller shape",
        )
    if offset % kind.itemsize:
        raise LaunchError(f"`{name}` begins at byte {offset}, in the midst of an element", code=ARRAY_MEMORY)
    allocation = registry.opened(device).pool.adopt(Memory(buffer, buffer.size), owner)
    return Array(allocation, tuple(shape), kind, tuple(strides), offset)


def _cl() -> Any:
    import pyopencl  # here: who has its memory has imported it

    return pyopencl
