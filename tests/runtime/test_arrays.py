"""`pk.Array` against NumPy, on every device: making, views, copies, the protocols of other libraries."""

from __future__ import annotations

import copy
import pickle

import ml_dtypes
import numpy as np
import pytest

import pykern as pk
from pykern.pytest_plugin import need_package

DEVICES = ["cpu", "null:0", "opencl:0", "vulkan:0", "webgpu:0", "metal:emulated:0"]
over_devices = pytest.mark.parametrize("device", DEVICES, indirect=True)
DTYPES = [pk.bool_, pk.i8, pk.i16, pk.i32, pk.i64, pk.u8, pk.u16, pk.u32, pk.u64, pk.f16, pk.bf16, pk.f32, pk.f64,
          pk.f8e4m3, pk.f8e5m2]  # fmt: skip


def numbers(rng, shape, dtype):
    """Random bits of every kind, NaN and infinities among them."""
    kind = dtype.numpy
    if kind == np.bool_:
        return rng.random(shape) < 0.5
    count = int(np.prod(shape)) * kind.itemsize
    return rng.integers(0, 256, count).astype(np.uint8).view(kind).reshape(shape)


def same(a, b):
    """Equal to the bit, in shape and dtype."""
    assert a.shape == b.shape and a.dtype == b.dtype
    assert np.ascontiguousarray(a).tobytes() == np.ascontiguousarray(b).tobytes()


@over_devices
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(), (1,), (17,), (0, 3), (3, 5), (2, 3, 4, 5)])
def test_there_and_back(device, dtype, shape, rng):
    x = numbers(rng, shape, dtype)
    a = pk.array(x, device=device)
    assert (a.shape, a.dtype, a.ndim, a.size, a.nbytes) == (x.shape, x.dtype, x.ndim, x.size, x.nbytes)
    assert a.strides == np.empty(shape, x.dtype).strides or not a.size
    assert a.device == pk.device(device) and a.dtype == dtype
    same(a.numpy(), x)
    same(np.asarray(a), x)


def random_index(rng, shape):
    """Integers, slices with any step, ``...`` and None."""
    index = []
    for length in shape:
        kind = rng.integers(0, 4)
        if kind == 0 and length:
            index.append(int(rng.integers(-length, length)))
        else:
            ends = [
                None if rng.random() < 0.3 else int(rng.integers(-length - 2, length + 3)) for _ in range(2)
            ]
            index.append(slice(*ends, int(rng.choice([-3, -2, -1, 1, 2, 3]))))
    if rng.random() < 0.3:
        index.insert(int(rng.integers(0, len(index) + 1)), None)
    if rng.random() < 0.3:
        at = int(rng.integers(0, len(index) + 1))
        index = index[:at] + [Ellipsis]
    return tuple(index)


@over_devices
def test_views_are_numpys(device, rng):
    for _ in range(60):
        shape = tuple(int(n) for n in rng.integers(1, 7, rng.integers(1, 5)))
        x = rng.integers(0, 1000, shape).astype(np.int32)
        a = pk.array(x, device=device)
        for _ in range(3):  # views of views
            index = random_index(rng, x.shape)
            x, a = x[index], a[index]
            if rng.random() < 0.3:
                order = rng.permutation(x.ndim)
                x, a = x.transpose(order), a.transpose(*order)
            assert a.strides == x.strides or not a.size
            same(a.numpy(), np.asarray(x))
            if not x.ndim:
                break


@over_devices
def test_writes_into_views(device, rng):
    for _ in range(60):
        shape = tuple(int(n) for n in rng.integers(1, 7, rng.integers(1, 4)))
        x = rng.random(shape).astype(np.float32)
        a = pk.array(x, device=device)
        index = random_index(rng, shape)
        part = rng.random(x[index].shape)  # of another dtype
        x[index] = part
        a[index] = part
        same(a.numpy(), x)
        x[index] = 7
        a[index] = 7
        same(a.numpy(), x)


@over_devices
def test_axes_and_shapes(device, rng):
    x = rng.random((4, 3, 5))
    a = pk.array(x, device=device)
    same(a.T.numpy(), x.T)
    same(a.transpose(1, 0, 2).numpy(), x.transpose(1, 0, 2))
    same(a.reshape(6, -1).numpy(), x.reshape(6, -1))
    same(a.reshape((2, 30)).numpy(), x.reshape(2, 30))
    same(a.ravel().numpy(), x.ravel())
    same(a[1:].reshape(-1).numpy(), x[1:].reshape(-1))
    with pytest.raises(pk.LaunchError, match="not dense"):
        a.T.reshape(-1)
    with pytest.raises(ValueError, match="cannot reshape"):
        a.reshape(7, 7)
    assert a.contiguous and not a.T.contiguous and not a[:, ::-1].contiguous


@over_devices
@pytest.mark.parametrize("wrong", [[0, 1], np.array([0]), True, 1.5, "x"])
def test_other_indices_are_refused(device, wrong):
    a = pk.zeros((3, 3), pk.f32, device=device)
    with pytest.raises(pk.LaunchError, match="takes integers, slices"):
        a[wrong]
    with pytest.raises(IndexError):
        a[3]
    with pytest.raises(IndexError):
        a[0, 0, 0]


@over_devices
def test_new_arrays(device):
    for name, value in (("zeros", 0), ("ones", 1)):
        made = getattr(pk, name)((3, 5), pk.i16, device=device)
        same(made.numpy(), np.full((3, 5), value, np.int16))
        same(getattr(pk, f"{name}_like")(made).numpy(), made.numpy())
        assert getattr(pk, f"{name}_like")(made).device.name == device
    same(pk.full(4, 2.5, device=device).numpy(), np.full(4, 2.5))
    same(pk.full((2, 2), 3, pk.bf16, device=device).numpy(), np.full((2, 2), 3, ml_dtypes.bfloat16))
    same(pk.full_like(pk.zeros(3, pk.u8, device=device), 300 - 45).numpy(), np.full(3, 255, np.uint8))
    assert pk.empty((2, 3), device=device).dtype == pk.f64
    assert pk.empty_like(pk.empty((2, 3), pk.f16, device=device)).shape == (2, 3)
    same(pk.array([[1, 2], [3, 4]], pk.f32, device=device).numpy(), np.array([[1, 2], [3, 4]], np.float32))
    with pk.device(device):
        assert pk.array([1.0]).device.name == device
        assert isinstance(pk.zeros(3), np.ndarray) == (device == "cpu")
    assert isinstance(pk.zeros(3), np.ndarray)
    assert pk.zeros(3, None).dtype == pk.zeros(3, None, device=device).dtype == np.float64
    assert pk.zeros_like(np.asfortranarray(np.ones((3, 4)))).flags.f_contiguous
    assert pk.ones_like(np.zeros(3, np.int8), device=device).dtype == np.int8
    assert pk.copy(pk.ones(3, device=device)).tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("wrong", [np.complex64, "U5", object, np.longdouble])
def test_dtypes_that_kernels_have_not(wrong):
    with pytest.raises(pk.KernelTypeError, match="arrays hold no"):
        pk.empty(3, wrong, device="cpu")


def test_negative_lengths_are_refused():
    with pytest.raises(pk.LaunchError, match="must not be negative"):
        pk.empty((3, -1), device="cpu")


# -- copies ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("other", DEVICES)
@over_devices
def test_between_devices(device, other, need_device, rng):
    need_device(other)
    x = rng.random((5, 7)).astype(np.float32)
    a = pk.array(x, device=device)
    b = a[::-1, ::2].to(other)
    assert b.device.name == other
    same(b.numpy(), x[::-1, ::2])
    assert a.to(device) is a
    c = pk.zeros((5, 7), pk.f64, device=other)
    pk.copyto(c, a)  # converts
    same(c.numpy(), x.astype(np.float64))


@over_devices
def test_copyto(device, rng):
    x = rng.random((4, 6)).astype(np.float32)
    a, b = pk.array(x, device=device), pk.zeros((4, 6), pk.f32, device=device)
    pk.copyto(b, a)
    same(b.numpy(), x)
    pk.copyto(b, x[1])  # broadcast
    same(b.numpy(), np.broadcast_to(x[1], (4, 6)))
    pk.copyto(b[1:3], a[2:4])
    same(b.numpy()[1:3], x[2:4])
    pk.copyto(a[1:], a[:-1])  # parts of one array that overlap
    x[1:] = x[:-1].copy()
    same(a.numpy(), x)
    host = np.empty((4, 6))
    pk.copyto(host, a)
    np.testing.assert_array_equal(host, x)
    with pytest.raises(ValueError, match=r"broadcast|does not fit"):
        pk.copyto(b, np.zeros(5))
    with pytest.raises(pk.LaunchError, match="does not fit"):
        pk.copyto(b, np.zeros((2, 4, 6)))
    with pytest.raises(pk.LaunchError, match=r"copyto writes a pk\.Array"):
        pk.copyto([1], a)
    same(a.copy().numpy(), x)
    same(a[::2].copy().numpy(), x[::2])
    assert a[::2].copy().contiguous
    same(b.fill(3).numpy(), np.full((4, 6), 3, np.float32))


@over_devices
def test_numbers_out(device):
    a = pk.array([[1.5, 2], [3, 4]], device=device)
    assert a[0, 0].item() == 1.5 and a[1].tolist() == [3.0, 4.0]
    assert [row.tolist() for row in a] == [[1.5, 2.0], [3.0, 4.0]]
    assert len(a) == 2
    assert repr(a) == f"<pykern.Array (2, 2) float64 on {device}>"


@over_devices
def test_pinned_memory(device, rng):
    host = pk.pinned((3, 4), pk.f32, device=device)
    assert host.shape == (3, 4) and host.dtype == np.float32
    host[:] = rng.random((3, 4))
    stream = pk.Stream(device)
    a = pk.empty((3, 4), pk.f32, device=device)
    pk.copyto(a, host, stream).wait()
    same(a.numpy(), np.array(host))


# -- other libraries -------------------------------------------------------------------------------


def test_numpys_memory_is_used_as_it_is(rng):
    x = rng.random((6, 8))
    for part in (x, x[::-1, ::2], x.T, x[2], x[3, 4]):
        if not isinstance(part, np.ndarray):
            continue
        a = pk.asarray(part, device="cpu")
        assert np.shares_memory(a.numpy(), x)
        same(a.numpy(), part)
    a = pk.asarray(x, device="cpu")
    a[0, 0] = -1
    assert x[0, 0] == -1
    x.flags.writeable = False
    with pytest.raises(pk.LaunchError, match="read-only"):
        pk.asarray(x, device="cpu")[0] = 1
    assert not pk.asarray(x, device="cpu").numpy().flags.writeable
    assert pk.asarray(a) is a
    assert not np.shares_memory(pk.asarray(x, pk.f32, device="cpu").numpy(), x)
    assert not np.shares_memory(pk.array(x, device="cpu").numpy(), x)


@pytest.mark.parametrize("device", ["cpu", "null:0"])
def test_dlpack_where_the_host_reaches(device, rng):
    x = rng.random((3, 4)).astype(np.float32)
    a = pk.array(x, device=device)
    view = np.from_dlpack(a)
    same(view, x)
    a[1, 2] = 9
    assert view[1, 2] == 9
    assert a.__dlpack_device__() == (1, 0)
    back = pk.from_dlpack(view)
    assert np.shares_memory(back.numpy(), view)


@pytest.mark.parametrize("device", ["opencl:0", "vulkan:0", "webgpu:0", "metal:emulated:0"], indirect=True)
def test_dlpack_where_the_host_does_not(device):
    a = pk.zeros(3, pk.f32, device=device)
    if a.host is not None:
        pytest.skip(f"the host reaches the memory of {device}")
    for ask in (a.__dlpack_device__, a.__dlpack__):
        with pytest.raises(BufferError):
            ask()
    with pytest.raises(AttributeError, match="not on a CUDA device"):
        a.__cuda_array_interface__  # noqa: B018
    with pytest.raises(ValueError, match="needs a copy"):
        np.asarray(a, copy=False)


def test_from_dlpack_takes_torch_and_refuses_lists():
    torch = need_package("torch")
    t = torch.arange(12.0).reshape(3, 4)
    a = pk.from_dlpack(t)
    a[0, 0] = 5
    assert t[0, 0] == 5
    with pytest.raises(pk.KernelTypeError):
        pk.from_dlpack([1])


class OnGpu:
    """What a library's array on an NVIDIA GPU looks like from outside."""

    def __init__(self, number=None):
        if number is not None:
            self.__dlpack__ = self.__dlpack_device__ = lambda: (2, number)

    @property
    def __cuda_array_interface__(self):
        raise RuntimeError("it requires a gradient")


def test_arrays_on_gpus_are_recognised():
    from pykern.launching.arguments import homes

    assert homes([("x", OnGpu(3)), ("y", (OnGpu(), 1.0)), ("z", np.ones(3))]) == {
        "x": "cuda:3",
        "y.0": "cuda:0",
    }
    with pytest.raises(pk.KernelTypeError, match="gives no view of its memory: it requires a gradient"):
        pk.from_dlpack(OnGpu(0))


def test_from_pointer_keeps_its_owner(rng):
    x = rng.random((3, 4))
    owner = type("Owner", (), {})()
    owner.x = x
    a = pk.from_pointer(x.ctypes.data, (3, 4), pk.f64, "cpu", owner=owner)
    same(a.numpy(), x)
    backwards = pk.from_pointer(x.ctypes.data + 88, (12,), pk.f64, "cpu", x, strides=(-8,))
    same(backwards.numpy(), x.ravel()[::-1])
    import weakref

    alive = weakref.ref(owner)
    del owner
    assert alive() is not None
    view = a[0]
    del a
    assert alive() is not None
    del view
    assert alive() is None


def test_from_pointer_needs_addresses(need_device):
    with pytest.raises(pk.LaunchError, match="has no addresses"):
        pk.from_pointer(4096, 3, pk.f32, need_device("opencl:0"))


@over_devices
def test_one_element_is_a_number(device):
    """As of NumPy's arrays: `bool`, `float` and `int` of one element; of several, NumPy's error."""
    a = pk.array([0.0, 2.5, -3.5], device=device)
    if device != "null:0":
        assert [bool(a[k]) for k in range(3)] == [False, True, True]
        assert (float(a[1]), int(a[2])) == (2.5, -3)
        assert bool(pk.array([[7]], device=device))
    for several in (a, a[:0]):
        with pytest.raises(ValueError, match="ambiguous"):
            bool(several)
        with pytest.raises(ValueError, match="size 1"):
            float(several)


@over_devices
@pytest.mark.parametrize("dtype", [pk.bool_, pk.bf16, pk.f64], ids=str)
def test_copies_and_pickles_are_arrays_of_their_own(device, dtype, rng):
    x = numbers(rng, (3, 4), dtype)
    a = pk.array(x, device=device)
    for part, expected in ((a, x), (a.T[::-1], x.T[::-1])):
        for made in (copy.copy(part), copy.deepcopy([part])[0], pickle.loads(pickle.dumps(part))):
            assert made.device_name == device and not made.readonly
            same(made.numpy(), expected)
            made[...] = 0
    same(a.numpy(), x)


@over_devices
def test_fp8_and_bf16_travel(device):
    x = np.array([1, 2, 448, np.nan], ml_dtypes.float8_e4m3fn)
    same(pk.array(x, device=device)[::-1].numpy(), x[::-1].copy())


def test_elements_are_not_compared():
    """`==` is neither that of NumPy nor, silently, that of objects."""
    x, y = pk.array(np.ones(3)), pk.array(np.ones(3))
    for other in (y, np.ones(3), 1.0):
        with pytest.raises(pk.KernelTypeError, match="do not compare elements"):
            x == other  # noqa: B015
        with pytest.raises(pk.KernelTypeError, match="do not compare elements"):
            x != other  # noqa: B015
    assert x == x
    assert x != "x" and x in [x, y]
    assert {x: 1, y: 2}[y] == 2


def test_memory_stays_while_numpy_uses_it():
    held = [pk.array(np.arange(6.0))[1:].numpy(), np.asarray(pk.array(np.arange(6.0))[1:])]
    others = [pk.array(np.full(6, 7.0)) for _ in range(4)]
    for found in held:
        np.testing.assert_array_equal(found, np.arange(1.0, 6.0))
    del others
