"""DLPack for arrays that lie on GPUs: memory handed over in capsules, and streams that wait for one another.

Comes in: an `Array`, or another library's capsule. Goes out: a capsule, or what is needed to make an `Array` of it.
Arrays that the host reaches go through NumPy (`array`, `creation`). The structures are those of
dlpack.h, versions 0.8 and 1.x.
"""

from __future__ import annotations

import ctypes
import itertools
import weakref
from ctypes import c_char_p, c_int32, c_int64, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pykern.data.abi import dlpack_code
from pykern.types import BY_NAME, DType, from_numpy

if TYPE_CHECKING:
    from pykern.arrays.array import Array

KINDS = {"cuda": 2, "rocm": 10}
"""kDLCUDA and kDLROCM."""
DEVICES = {2: "cuda", 13: "cuda", 10: "rocm"}
"""Also kDLCUDAManaged, which every GPU reaches."""
DEFAULT_STREAM = {"cuda": 1, "rocm": 0}
"""What a consumer that names no stream works in."""
NO_WAIT = -1
READONLY, VERSION = 1, (1, 0)
_PLAIN, _VERSIONED = b"dltensor", b"dltensor_versioned"


class Tensor(ctypes.Structure):
    """DLTensor."""

    _fields_ = (
        ("data", c_void_p), ("device_type", c_int32), ("device_id", c_int32), ("ndim", c_int32),
        ("code", c_uint8), ("bits", c_uint8), ("lanes", c_uint16),
        ("shape", ctypes.POINTER(c_int64)), ("strides", ctypes.POINTER(c_int64)), ("byte_offset", c_uint64),
    )  # fmt: skip


class Managed(ctypes.Structure):
    """DLManagedTensor."""

    _fields_ = (("tensor", Tensor), ("context", c_void_p), ("deleter", c_void_p))


class Versioned(ctypes.Structure):
    """DLManagedTensorVersioned."""

    _fields_ = (
        ("major", c_uint32), ("minor", c_uint32), ("context", c_void_p), ("deleter", c_void_p),
        ("flags", c_uint64), ("tensor", Tensor),
    )  # fmt: skip


_FORMS: dict[bytes, Any] = {_PLAIN: Managed, _VERSIONED: Versioned}
_python = ctypes.PyDLL(None)  # its own declarations: those of ctypes.pythonapi are everybody's
_new = _python.PyCapsule_New
_new.restype, _new.argtypes = ctypes.py_object, (c_void_p, c_char_p, c_void_p)
_pointer = _python.PyCapsule_GetPointer
_pointer.restype, _pointer.argtypes = c_void_p, (c_void_p, c_char_p)
_is_valid = _python.PyCapsule_IsValid
_is_valid.restype, _is_valid.argtypes = ctypes.c_int, (c_void_p, c_char_p)
_set_name = _python.PyCapsule_SetName
_set_name.restype, _set_name.argtypes = ctypes.c_int, (c_void_p, c_char_p)
_Deleter = ctypes.CFUNCTYPE(None, c_void_p)

# -- out -------------------------------------------------------------------------------------------

_exported: dict[int, tuple[Any, ...]] = {}
"""What consumers have, by the address of its structure: the array stays alive with it."""


@_Deleter
def _let_go(address: int) -> None:
    _exported.pop(address, None)


@ctypes.PYFUNCTYPE(None, c_void_p)
def _capsule_gone(capsule: int) -> None:
    """A capsule that nobody took; its name is another one where somebody did."""
    for name in _FORMS:
        if _is_valid(capsule, name):
            _exported.pop(_pointer(capsule, name) or 0, None)


def exported(array: Array, stream: Any, max_version: tuple[int, int] | None) -> Any:
    """A capsule of the array's memory; `stream` (the consumer's, as DLPack counts them) waits for its users."""
    from pykern.runtime import registry

    kind, ordinal = registry.split(array.device_name)
    versioned = max_version is not None and max_version[0] >= 1
    if array.readonly and not versioned:
        raise BufferError(f"{array!r} is read-only, which DLPack before 1.0 cannot say")
    if stream != NO_WAIT:
        _hand_over(array, DEFAULT_STREAM[kind] if stream is None else int(stream))
    dtype = from_numpy(array.dtype)
    assert dtype is not None
    made = Versioned() if versioned else Managed()
    if isinstance(made, Versioned):
        made.major, made.minor = VERSION
        made.flags = READONLY if array.readonly else 0
    made.deleter = ctypes.cast(_let_go, c_void_p)
    shape = (c_int64 * max(array.ndim, 1))(*array.shape)
    strides = (c_int64 * max(array.ndim, 1))(*(s // array.itemsize for s in array.strides))
    tensor = made.tensor
    tensor.data, tensor.device_type, tensor.device_id = array.memory.address, KINDS[kind], ordinal
    tensor.ndim, tensor.byte_offset = array.ndim, array.offset
    tensor.code, tensor.bits, tensor.lanes = dlpack_code(dtype.kind, dtype.name), 8 * array.itemsize, 1
    tensor.shape, tensor.strides = shape, strides
    address = ctypes.addressof(made)
    _exported[address] = (made, shape, strides, array)
    name = _VERSIONED if versioned else _PLAIN
    return _new(address, name, ctypes.cast(_capsule_gone, c_void_p))


def _hand_over(array: Array, handle: int) -> None:
    """Somebody else's stream waits for all that is under way with the array."""
    allocation = array._allocation
    driver: Any = allocation.pool.driver
    for user in allocation.users():
        driver.stream_wait(driver.foreign(handle), driver.record(user))


# -- in --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Taken:
    """Memory that another library handed over; `owner` gives it back when it is gone. `strides` are in bytes."""

    address: int
    shape: tuple[int, ...]
    dtype: DType
    strides: tuple[int, ...] | None
    readonly: bool
    owner: Any
    versioned: bool
    """Whether it could say that it is read-only."""


class _Owner:
    """Stands for the other library's array."""


def taken(x: Any, stream: int | None) -> Taken:
    """The memory of a library's array, whose work before is waited for by `stream`. Raises `BufferError`."""
    try:
        capsule = x.__dlpack__(stream=stream, max_version=VERSION)
    except TypeError:  # older than 1.0
        capsule = x.__dlpack__() if stream is None else x.__dlpack__(stream=stream)
    name = next((name for name in _FORMS if _is_valid(id(capsule), name)), None)
    if name is None:
        raise BufferError(f"a {type(x).__name__} gave no capsule of DLPack")
    address = _pointer(id(capsule), name)
    managed = _FORMS[name].from_address(address)
    _set_name(id(capsule), _USED[name])
    owner, tensor = _Owner(), managed.tensor
    if managed.deleter:
        weakref.finalize(owner, _Deleter(managed.deleter), address).atexit = False
    dtype = next((d for d in BY_NAME.values() if not d.weak and _is(tensor, d)), None)
    if dtype is None or tensor.lanes != 1:
        raise BufferError(f"arrays hold no elements of DLPack's code {tensor.code}, {tensor.bits} bits")
    shape = tuple(itertools.islice(tensor.shape, tensor.ndim)) if tensor.ndim else ()
    steps = None
    if tensor.strides and tensor.ndim:
        steps = tuple(s * dtype.itemsize for s in itertools.islice(tensor.strides, tensor.ndim))
    readonly = isinstance(managed, Versioned) and bool(managed.flags & READONLY)
    return Taken(
        (tensor.data or 0) + tensor.byte_offset,
        shape,
        dtype,
        steps,
        readonly,
        owner,
        isinstance(managed, Versioned),
    )


_USED = {name: b"used_" + name for name in _FORMS}


def _is(tensor: Tensor, dtype: DType) -> bool:
    return tensor.code == dlpack_code(dtype.kind, dtype.name) and tensor.bits == 8 * dtype.itemsize
