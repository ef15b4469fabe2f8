"""DLPack on GPUs, over a fake: capsules out and in, streams that wait, who keeps what alive."""

from __future__ import annotations

import ctypes
import gc
import weakref

import numpy as np
import pytest

import pykern as pk
from pykern.arrays import dlpack
from pykern.runtime import registry
from tests.runtime.test_device_entries import cuda  # noqa: F401 - a fixture

DTYPES = [
    "bool_",
    "i8",
    "i16",
    "i32",
    "i64",
    "u8",
    "u16",
    "u32",
    "u64",
    "f16",
    "bf16",
    "f32",
    "f64",
    "f8e4m3",
    "f8e5m2",
]


class Other:
    """Another library's array: hands out a pykern.Array's capsules, and notes what it was asked."""

    def __init__(self, array, versioned=True):
        self.array, self.versioned, self.asked = array, versioned, []

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __dlpack__(self, *, stream=None, **keywords):
        self.asked.append((stream, keywords))
        if keywords and not self.versioned:
            raise TypeError("max_version")
        return self.array.__dlpack__(stream=stream, **keywords)


def structure(capsule, name):
    return dlpack._FORMS[name].from_address(dlpack._pointer(id(capsule), name))


@pytest.mark.parametrize("versioned", [True, False])
@pytest.mark.parametrize("dtype", DTYPES)
def test_there_and_back(cuda, dtype, versioned):  # noqa: F811
    a = pk.array(np.arange(24).reshape(4, 6) % 2, getattr(pk, dtype), device="cuda:0")
    for view in (a, a[1:, ::2], a.T, a[::-1, 3]):
        other = Other(view, versioned)
        b = pk.from_dlpack(other)
        assert (b.shape, b.strides, b.dtype) == (view.shape, view.strides, view.dtype)
        assert b.memory.address + b.offset == view.memory.address + view.offset
        assert b.device_name == "cuda:0" and not b.readonly
        if view.contiguous:  # others are copied by a kernel, which the fake has not
            np.testing.assert_array_equal(b.numpy(), view.numpy())
        ours = int(registry.opened("cuda:0").stream.handle)
        assert {stream for stream, _ in other.asked} == {ours}


def test_what_a_capsule_says(cuda):  # noqa: F811
    a = pk.zeros((4, 6), pk.f32, device="cuda:0")[1:, ::2]
    plain, new = a.__dlpack__(), a.__dlpack__(max_version=(1, 1))
    for tensor in (structure(plain, b"dltensor").tensor, structure(new, b"dltensor_versioned").tensor):
        assert (tensor.device_type, tensor.device_id) == a.__dlpack_device__() == (2, 0)
        assert (tensor.data, tensor.byte_offset) == (a.memory.address, 24)
        assert (tensor.ndim, tensor.shape[:2], tensor.strides[:2]) == (2, [3, 3], [6, 2])
        assert (tensor.code, tensor.bits, tensor.lanes) == (2, 32, 1)
    versioned = structure(new, b"dltensor_versioned")
    assert (versioned.major, versioned.minor, versioned.flags) == (1, 0, 0)
    assert ctypes.sizeof(dlpack.Tensor) == 48 and ctypes.sizeof(dlpack.Managed) == 64
    assert ctypes.sizeof(dlpack.Versioned) == 80 and dlpack.Versioned.tensor.offset == 32


@pytest.mark.parametrize(("given", "waits"), [(None, 1), (2, 2), (77, 77), (-1, None)])
def test_the_consumers_stream_waits(cuda, given, waits):  # noqa: F811
    a = pk.zeros(8, pk.f32, device="cuda:0")
    side = pk.Stream("cuda:0")
    pk.copyto(a, 1.0, stream=side)
    before = len(cuda.did("cuStreamWaitEvent"))
    a.__dlpack__(stream=given)
    waited = cuda.did("cuStreamWaitEvent")[before:]
    assert [stream for stream, *_ in waited] == (
        [] if waits is None else [waits] * 2
    )  # both streams that used it
    recorded = {int(event): stream for event, stream in cuda.did("cuEventRecord")}
    assert {recorded[int(event)] for _, event, _ in waited} <= {
        side._native.handle, registry.opened("cuda:0").stream.handle
    }  # fmt: skip


def test_memory_stays_until_the_consumer_is_done(cuda):  # noqa: F811
    a = pk.zeros(8, pk.f32, device="cuda:0")
    alive, held = weakref.ref(a), len(dlpack._exported)
    capsule = a.__dlpack__()
    del a
    gc.collect()
    assert alive() is not None
    del capsule  # nobody took it
    gc.collect()
    assert alive() is None and len(dlpack._exported) == held

    a = pk.zeros(8, pk.f32, device="cuda:0")
    alive = weakref.ref(a)
    b = pk.from_dlpack(Other(a))
    view = b[2:]
    del a, b
    gc.collect()
    assert alive() is not None and view.numpy().shape == (6,)
    del view
    gc.collect()
    assert alive() is None and len(dlpack._exported) == held


def test_readonly_arrays(cuda):  # noqa: F811
    a = pk.zeros(8, pk.f32, device="cuda:0")
    a._allocation.readonly = True
    with pytest.raises(BufferError, match="read-only"):
        a.__dlpack__()
    assert pk.from_dlpack(Other(a)).readonly


def test_other_devices_and_copies(cuda):  # noqa: F811
    a = pk.zeros(8, pk.f32, device="cuda:0")
    with pytest.raises(BufferError, match="not on DLPack's device"):
        a.__dlpack__(dl_device=(1, 0))
    copied = structure(a.__dlpack__(copy=True, dl_device=(2, 0)), b"dltensor").tensor
    assert copied.data != a.memory.address

    class Strange(Other):
        def __dlpack__(self, **keywords):
            capsule = super().__dlpack__(**keywords)
            structure(capsule, b"dltensor_versioned").tensor.code = 5  # complex
            return capsule

    with pytest.raises(pk.KernelTypeError, match="no elements of DLPack's code 5, 32 bits"):
        pk.from_dlpack(Strange(a))


def test_cuda_array_interface(cuda):  # noqa: F811
    """The array says which stream to wait for, and waits for the one that it is told."""
    a = pk.zeros((4, 6), pk.f32, device="cuda:0")[1:]
    side = pk.Stream("cuda:0")
    pk.copyto(a, 1.0, stream=side)
    before = len(cuda.did("cuStreamWaitEvent"))
    told = a.__cuda_array_interface__
    ours = registry.opened("cuda:0").stream.handle
    assert told["stream"] == int(ours) and told["version"] == 3 and told["strides"] is None
    assert told["data"] == (a.memory.address + 24, False)
    assert [stream for stream, *_ in cuda.did("cuStreamWaitEvent")[before:]] == [ours]

    class Library:
        @property
        def __cuda_array_interface__(self):
            return {**told, "stream": 99}

    before = len(cuda.did("cuStreamWaitEvent"))
    b = pk.from_dlpack(Library())
    assert b.memory.address + b.offset == a.memory.address + a.offset
    assert [stream for stream, *_ in cuda.did("cuStreamWaitEvent")[before:]] == [ours]
    assert cuda.did("cuEventRecord")[-1][1] == 99
