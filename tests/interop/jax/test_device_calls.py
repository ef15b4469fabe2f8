"""Handlers for GPUs, called as XLA calls them: with call frames made here, on the emulated device."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

import pykern as pk
from pykern.data import xla_frame
from pykern.pytest_plugin import need_device, need_package
from pykern.types import from_numpy

jax = need_package("jax")

import pykern.jax as pkj  # noqa: E402
from pykern.jax.device_code import DeviceHandler  # noqa: E402
from tests.interop.jax.functions import axpy, softmax  # noqa: E402

KIND = "cuda:emulated"
RANDOM = np.random.default_rng(3)
Function = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)


@pytest.fixture(autouse=True)
def emulated():
    need_device(KIND)


class Words:
    """A struct of the C API in the making; what it points to stays alive with it."""

    def __init__(self, nbytes: int, **kept) -> None:
        self.cells, self.kept = (ctypes.c_int64 * (nbytes // 8))(), kept
        self.address = ctypes.addressof(self.cells)

    def put(self, offset: int, value: int, kind=ctypes.c_int64) -> None:
        kind.from_address(self.address + offset).value = value


class Xla:
    """The functions that a handler calls, and the errors that it makes."""

    def __init__(self) -> None:
        self.errors: list[str] = []
        self.asked: list[int] = []
        self.refuses = 0
        registered = {
            xla_frame.ERROR_CREATE: self._error, xla_frame.STREAM_GET: self._stream, xla_frame.DEVICE_GET: self._device,
        }  # fmt: skip
        self.functions = {offset: Function(function) for offset, function in registered.items()}
        self.api = Words(256)
        for offset, function in self.functions.items():
            self.api.put(offset, ctypes.cast(function, ctypes.c_void_p).value or 0)

    def _error(self, given: int) -> int:
        text = ctypes.c_char_p.from_address(given + xla_frame.ERROR_MESSAGE).value
        self.errors.append((text or b"").decode())
        return 1

    def _stream(self, given: int) -> int:
        assert ctypes.c_int64.from_address(given).value == 32
        self.asked.append(ctypes.c_int64.from_address(given + xla_frame.ASKED_CONTEXT).value)
        stream = pk.Stream(f"{KIND}:80")
        self.stream = stream
        ctypes.c_int64.from_address(given + xla_frame.ASKED).value = int(stream.native.handle)
        return self.refuses

    def _device(self, given: int) -> int:
        ctypes.c_int32.from_address(given + xla_frame.ASKED).value = 80
        return 0


def buffer(array: pk.Array) -> Words:
    dims = (ctypes.c_int64 * max(array.ndim, 1))(*array.shape)
    made = Words(48, dims=dims, array=array)
    dtype = from_numpy(array.dtype)
    made.put(xla_frame.DTYPE, xla_frame.DTYPES[dtype.name], ctypes.c_int32)
    made.put(xla_frame.DATA, array.memory.address + array.offset)
    made.put(xla_frame.RANK, array.ndim)
    made.put(xla_frame.DIMS, ctypes.addressof(dims))
    return made


def call(handler, xla, arguments, results):
    """What the handler answers, and the results as they are then on the host."""
    frame = Words(160)
    frame.put(xla_frame.API, xla.api.address)
    frame.put(xla_frame.CONTEXT, 77)
    frame.put(xla_frame.STAGE, xla_frame.EXECUTE, ctypes.c_int32)
    kept = []
    for arrays, count, listed in (
        (arguments, xla_frame.ARGUMENTS, xla_frame.ARGUMENT_LIST),
        (results, xla_frame.RESULTS, xla_frame.RESULT_LIST),
    ):
        buffers = [buffer(array) for array in arrays]
        pointers = (ctypes.c_int64 * max(len(buffers), 1))(*[b.address for b in buffers])
        kept.append((buffers, pointers))
        frame.put(count, len(buffers))
        frame.put(listed, ctypes.addressof(pointers))
    answer = handler.function(frame.address)
    pk.synchronize(f"{KIND}:80")
    return answer, [result.numpy() for result in results]


def handler_of(primitive, *args):
    callee, _ = primitive.described(args, {})
    return DeviceHandler(callee.source, callee.code.results, KIND)


def on_device(*arrays):
    return [pk.array(a, device=f"{KIND}:80") for a in arrays]


def random(*shape, dtype=np.float32):
    return RANDOM.standard_normal(shape).astype(dtype)


def empty(*shape, dtype=np.float32):
    return pk.zeros(shape, dtype, device=f"{KIND}:80")


saxpy = pkj.primitive(axpy, out={"o": pkj.like("x")}, ndrange=lambda x, y, a: x.shape)


@pytest.mark.parametrize(
    "batch", [(), *(pytest.param(b, marks=pytest.mark.slow) for b in ((3,), (2, 2), (0,)))]
)
def test_a_kernel_with_a_number_and_batches(batch):
    xla = Xla()
    handler = handler_of(saxpy, random(37), random(37), 2.5)
    x, y, a = random(*batch, 37), random(37), np.float32(-1.5)
    answer, (found,) = call(handler, xla, on_device(x, y, np.array(a)), [empty(*batch, 37)])
    assert not answer, xla.errors
    assert xla.asked == [77]
    np.testing.assert_allclose(found, a * x + y, rtol=1e-6, atol=1e-6)


def test_a_program():
    x = random(7, 33)
    answer, (found,) = call(handler_of(pkj.primitive(softmax), x), Xla(), on_device(x), [empty(7, 33)])
    assert not answer
    np.testing.assert_allclose(found, np.asarray(jax.nn.softmax(x)), rtol=1e-5)


@pytest.mark.slow
def test_donated_memory_is_the_result():
    @pk.kernel
    def doubled(x):
        i = pk.index()
        x[i] = 2 * x[i]

    x = random(50)
    handler = handler_of(pkj.primitive(doubled, inout={"x": 0}), x)
    (there,) = on_device(x)
    answer, (found,) = call(handler, Xla(), [there], [there])
    assert not answer
    np.testing.assert_allclose(found, 2 * x)


@pytest.mark.slow
def test_numbers_go_out_in_32_bits():
    @pk.jit
    def counted(x):
        return np.sum(x > 0), np.sum(x)

    x = random(9)
    handler = handler_of(pkj.primitive(counted), x)
    answer, (count, total) = call(handler, Xla(), on_device(x), [empty(dtype=np.int32), empty()])
    assert not answer and count == (x > 0).sum()
    np.testing.assert_allclose(total, x.sum(), rtol=1e-5)


@pytest.mark.slow
def test_errors_are_told_to_xla():
    @pk.kernel
    def checked(o, x):
        i = pk.index()
        assert x[i] < 10, "too large"
        o[i] = x[i]

    x = random(5)
    handler = handler_of(pkj.primitive(checked, out={"o": pkj.like("x")}), x)
    xla = Xla()
    assert not call(handler, xla, on_device(x), [empty(5)])[0]  # a null pointer is None to ctypes
    assert call(handler, xla, on_device(x + 20), [empty(5)])[0] == 1
    assert call(handler, xla, on_device(x), [empty(6)])[0] == 1
    assert call(handler, xla, on_device(x, x), [empty(5)])[0] == 1
    assert (
        "too large" in xla.errors[0]
        and "result 0 is not [5]" in xla.errors[1]
        and "takes 1 arg" in xla.errors[2]
    )
    xla.refuses = 1234
    assert call(handler, xla, on_device(x), [empty(5)])[0] == 1234


def test_the_version_is_told_when_it_is_asked_for():
    metadata, extension, frame = Words(64), Words(48), Words(160)
    extension.put(xla_frame.EXTENSION_TYPE, xla_frame.METADATA_TYPE, ctypes.c_int32)
    extension.put(xla_frame.METADATA, metadata.address)
    frame.put(xla_frame.EXTENSION, extension.address)
    assert not handler_of(pkj.primitive(softmax), random(3, 4)).function(frame.address)
    version = [
        ctypes.c_int32.from_address(metadata.address + at).value
        for at in (xla_frame.VERSION_MAJOR, xla_frame.VERSION_MINOR)
    ]
    assert version == [xla_frame.MAJOR, xla_frame.MINOR]
