"""Arrays of other kinds than NumPy's own that cannot be taken as they are, by name, with what to pass instead.

Comes in: a value of a call. Goes out: nothing, a view of its memory, or `KernelTypeError`: an array whose elements do
not say all that it means (a mask, a unit, a gradient, a sign still to be taken) is refused, never read as if they did.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from pykern.errors import ARGUMENT_TYPE, ARRAY_MEMORY, KernelTypeError, LaunchError

_MEANING = ("__array_ufunc__", "__array_function__", "__mul__", "__matmul__", "__pow__", "__eq__")
"""What a subclass of NumPy's array changes that is more than an array."""


def refused(name: str, what: str, instead: str) -> KernelTypeError:
    """The error for an argument that is an array of another meaning."""
    return KernelTypeError(f"`{name}` is {what}", hint=instead, code=ARGUMENT_TYPE)


def several_places(name: str, array: np.ndarray, written: str) -> LaunchError:
    """The error for an array that overlaps itself, as `np.broadcast_to` and `Tensor.expand` make them; `written` says
    that it is."""
    return LaunchError(
        f"`{name}` has several positions at one place in memory (shape {array.shape}, strides {array.strides}), "
        f"and {written}",
        hint="pass a copy: x.copy(), or x.clone() of a tensor",
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
    torch = sys.modules.get("torch")
    try:
        if torch is not None and isinstance(value, torch.Tensor):
            return torch.Tensor.numpy(value)  # whose base is the tensor: see `pykern.runtime.written`
        return np.from_dlpack(value)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        raise refused(
            name,
            f"a {type(value).__name__} that gives no view of its memory: {error}",
            "convert it to one that kernels have, or pass a NumPy array",
        ) from None


def check_foreign(name: str, value: Any) -> None:
    """Refuse another library's array that cannot be taken as it is."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        from pykern.arrays.torch_tensors import check_tensor  # here: seldom

        check_tensor(name, value)
        return
    jax = sys.modules.get("jax")
    if jax is not None and isinstance(value, jax.core.Tracer):
        raise refused(
            name,
            "traced by JAX (jit, grad, vmap), which has no values yet",
            "call pykern outside of the transformed function, or through jax.pure_callback",
        )
    if jax is not None and isinstance(value, jax.Array):
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
