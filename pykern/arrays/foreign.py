"""Arrays of other kinds than NumPy's own that cannot be taken as they are, by name, with what to pass instead.

Comes in: a value of a call. Goes out: nothing, a view of its memory, or `KernelTypeError`: an array whose elements do
not say all that it means (a mask, a unit, a gradient, a sign still to be taken) is refused, never read as if they did.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pykern.arrays.refused import refused
from pykern.errors import ARRAY_MEMORY, KernelTypeError, LaunchError
from pykern.runtime.other_libraries import is_jax_array, is_jax_tracer, is_tensor
from pykern.runtime.written import Borrowed
from pykern.types import DType, from_numpy

_MEANING = ("__array_ufunc__", "__array_function__", "__mul__", "__matmul__", "__pow__", "__eq__")
"""What a subclass of NumPy's array changes that is more than an array."""


def several_places(name: str, array: np.ndarray, written: str) -> LaunchError:
    """The error for an array that overlaps itself, as `np.broadcast_to` and `Tensor.expand` make them; `written` says
    that it is."""
    return LaunchError(
        f"`{name}` has several positions at one place in memory (shape {array.shape}, strides {array.strides}), "
        f"and {written}",
        hint=f"pass a copy: np.array({name}), or {name}.clone() of a tensor",
        code=ARRAY_MEMORY,
    )


def check_numpy(name: str, array: np.ndarray) -> None:
    """Refuse a subclass of NumPy's array that means more than its elements. `np.memmap` and others do not."""
    kind = type(array)
    if kind is np.ndarray:
        return
    if isinstance(array, np.ma.MaskedArray):
        raise refused(
            name,
            "a masked array, and its mask would be ignored",
            f"pass {name}.filled(0), or {name}.data, and np.ma.getmaskarray({name}) beside it",
        )
    if any(getattr(kind, method, None) is not getattr(np.ndarray, method) for method in _MEANING):
        raise refused(
            name,
            f"a {kind.__name__}, whose operators mean something else than those of NumPy's arrays",
            f"pass its elements: np.asarray({name})",
        )


def as_numpy(name: str, value: Any) -> np.ndarray:
    """A view of the memory of another library's array on the CPU."""
    try:
        if is_tensor(value):
            from pykern.arrays.torch_tensors import view_of  # here: seldom

            return view_of(value)
        return _by_dlpack(value)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        raise _no_view(name, value, error) from None


def _no_view(name: str, value: Any, error: Exception) -> KernelTypeError:
    return refused(
        name,
        f"a value of type {type(value).__name__} that gives no view of its memory: {error}",
        "convert it to one that kernels have, or pass a NumPy array",
    )


def _by_dlpack(value: Any) -> np.ndarray:
    """By NumPy, or, for elements that NumPy has not itself (bf16, fp8), by pykern."""
    try:
        return np.from_dlpack(value)
    except (BufferError, RuntimeError) as error:
        from pykern.arrays import dlpack  # here: seldom

        try:
            found = dlpack.taken(value, None)
        except BufferError:
            raise error from None
    if not found.dtype.is_short:
        raise BufferError(f"NumPy takes no {found.dtype} from it")
    dense = found.strides is None
    steps = [] if dense else [(n - 1) * s for n, s in zip(found.shape, found.strides or (), strict=True)]
    size = found.dtype.itemsize
    low = sum(step for step in steps if step < 0)
    high = math.prod(found.shape) * size if dense else sum(step for step in steps if step > 0) + size
    empty = 0 in found.shape
    whole = np.asarray(
        Borrowed(found.address + (0 if empty else low), 0 if empty else high - low, found.owner)
    )
    view = np.ndarray(found.shape, found.dtype.numpy, whole, 0 if empty else -low, found.strides)
    view.flags.writeable = found.versioned and not found.readonly
    return view


def by_interface(value: Any) -> np.ndarray:
    """A view of an object that tells of its memory by `__array_interface__`. Raises `ValueError`, also for a mask."""
    told = value.__array_interface__
    if told.get("mask") is not None:
        raise ValueError("it has a mask, which would be ignored")
    data = told.get("data")
    if isinstance(data, tuple) and data[:1] == (0,) and 0 not in told.get("shape", ()):
        raise ValueError("its address is 0")  # NumPy before 2.4 makes memory of its own then
    return np.asarray(value)


def has_interface(value: Any) -> bool:
    """Whether an object tells of its memory as NumPy's arrays do. Of Python's own types no attribute is asked."""
    return type(value).__module__ != "builtins" and hasattr(value, "__array_interface__")


def by_buffer(name: str, value: Any) -> np.ndarray | None:
    """A view of the memory of an object with `__array_interface__` or a buffer; None for others."""
    try:
        if has_interface(value):
            return by_interface(value)
    except (AttributeError, BufferError, OverflowError, TypeError, ValueError) as error:
        raise _no_view(name, value, error) from None
    try:
        with memoryview(value) as memory:
            return np.asarray(memory)
    except TypeError:
        return None
    except (AttributeError, BufferError, ValueError) as error:
        raise _no_view(name, value, error) from None


def check_foreign(name: str, value: Any) -> None:
    """Refuse another library's array that cannot be taken as it is."""
    if is_tensor(value):
        from pykern.arrays.torch_tensors import check_tensor  # here: seldom

        check_tensor(name, value)
        return
    if is_jax_tracer(value):
        raise refused(
            name,
            "traced by JAX (jit, grad, vmap), which has no values yet",
            "make it a function of JAX with pykern.jax.primitive, or call it outside of the transformed function",
        )
    if is_jax_array(value):
        if value.is_deleted():
            raise refused(
                name, "a JAX array that was deleted or donated", "pass an array that is still there"
            )
        if len(value.devices()) > 1:
            raise refused(
                name,
                f"a JAX array over {len(value.devices())} devices",
                f"pass its parts, {name}.addressable_shards[0].data, or gather it: np.asarray({name})",
            )
    mask = _interface(value).get("mask")
    if mask is not None:
        raise refused(
            name, "an array with a mask, which would be ignored", "pass its values, with the mask beside them"
        )


def _interface(value: Any) -> dict[str, Any]:
    if not hasattr(type(value), "__cuda_array_interface__"):
        return {}
    try:
        return value.__cuda_array_interface__
    except (
        AttributeError,
        RuntimeError,
        TypeError,
    ):  # what lies elsewhere has none: libraries differ in how they say so
        return {}


def element_type(name: str, dtype: np.dtype) -> DType:
    """The type of an array's elements. Raises `KernelTypeError` for one that kernels have not, with what to pass."""
    found = from_numpy(dtype)
    if found is None:
        kinds = {"O": "Python objects", "U": "strings", "S": "bytes", "M": "dates", "m": "time differences"}
        held = kinds.get(dtype.kind, str(dtype))
        raise refused(name, f"an array of {held}, which kernels do not support", _converted(name, dtype))
    return found


def _converted(name: str, dtype: np.dtype) -> str:
    if not dtype.isnative:
        return f"convert it to native byte order: {name}.astype({name}.dtype.newbyteorder('='))"
    if dtype.kind == "c":
        return f"pass {name}.real and {name}.imag"
    if dtype.kind in "mM":
        return f"pass its numbers: {name}.astype(np.int64)"
    if dtype.names:
        return f"pass its fields one by one, as in {name}[{dtype.names[0]!r}]"
    return f"convert it: {name}.astype(np.float{64 if dtype.kind == 'f' else 32})"


def place(name: str, value: Any) -> tuple[int, int]:
    """The kind and number of the device that DLPack names, after `check_foreign`."""
    check_foreign(name, value)
    try:
        kind, number = value.__dlpack_device__()
    except (AttributeError, BufferError, RuntimeError, TypeError, ValueError) as error:
        raise refused(
            name, f"a {type(value).__name__} that lies nowhere: {error}", "pass an array with values"
        ) from None
    return int(kind), int(number)
