"""Arrays whose elements do not say all that they mean are refused by name; what overlaps itself is not written."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

import pykern as pk
from pykern.runtime.written import overlaps_itself

jax = pytest.importorskip("jax")
DEVICES = pytest.mark.parametrize("device", ["cpu", "python", "opencl:0"], indirect=True)


@pk.kernel
def twice(y, x):
    i = pk.index()
    y[i] = 2 * x[i]


@pk.kernel
def fill(y):
    i, j = pk.index()
    y[i, j] = 10 * i + j


@pk.jit
def doubled(x):
    return x * 2


@pk.jit
def update(x):
    x[:] = x * 2


class Units(np.ndarray):
    """An array with a meaning of its own for operators."""

    def __array_ufunc__(self, *args, **kwargs):
        return NotImplemented


class Renamed(np.ndarray):
    """An array by another name."""


class Masked:
    """A library's array on a GPU, with a mask."""

    @property
    def __cuda_array_interface__(self):
        return {"shape": (4,), "typestr": "<f8", "data": (0, False), "version": 3, "mask": np.zeros(4, bool)}


def masked(mask):
    return np.ma.array(np.arange(4.0), mask=mask)


@pytest.mark.filterwarnings("ignore:the matrix subclass")
@DEVICES
@pytest.mark.parametrize(
    ("array", "said", "help_"),
    [
        (masked([0, 1, 0, 0]), "masked array", "getmaskarray"),
        (masked(np.ma.nomask), "masked array", "filled"),
        (np.arange(4.0).reshape(1, 4).view(np.matrix), "matrix, whose operators", "np.asarray"),
        (np.arange(4.0).view(Units), "Units, whose operators", "np.asarray"),
        (Masked(), "an array with a mask", "mask beside"),
    ],
    ids=["masked", "without a mask", "matrix", "units", "cuda mask"],
)
def test_arrays_with_more_meaning(device, array, said, help_):
    y = np.zeros(4)
    calls = [
        lambda: twice(y, array, ndrange=4, device=device),
        lambda: twice(array, y, ndrange=4, device=device),
        lambda: doubled(array, device=device),
        lambda: doubled((array, y)[0:1][0], device=device),
        lambda: update(array, device=device),
        lambda: pk.from_dlpack(array),
    ]
    if isinstance(array, np.ndarray):
        twice(y, np.arange(4.0), ndrange=4)  # the entry of plain arrays does not take others
        calls += [lambda: pk.array(array, device=device), lambda: pk.asarray(array)]
        calls += [lambda: doubled(y, out=array)] if array.shape == y.shape else []
    for call in calls:
        with pytest.raises((pk.KernelTypeError, pk.DeviceError), match=said) as caught:
            call()
        assert help_ in str(caught.value)


def test_arrays_by_other_names_are_arrays(tmp_path):
    x = np.arange(4.0)
    np.testing.assert_array_equal(doubled(x.view(Renamed)), 2 * x)
    x.tofile(tmp_path / "x")
    for mode in ("r", "r+", "c"):
        mapped = np.memmap(tmp_path / "x", np.float64, mode=mode)
        np.testing.assert_array_equal(doubled(mapped), 2 * x)
        if mode == "r":
            with pytest.raises(pk.LaunchError, match="read-only"):
                twice(mapped, x, ndrange=4)
        else:
            twice(mapped, x, ndrange=4)
            np.testing.assert_array_equal(mapped, 2 * x)
            mapped[:] = x


@pytest.mark.filterwarnings("ignore")
def test_arrays_of_jax():
    x, y = jax.numpy.arange(4, dtype=np.float32), np.zeros(4, np.float32)
    for device in ("cpu", "python"):
        for call in (lambda d=device: twice(x, y, ndrange=4, device=d), lambda d=device: update(x, device=d)):
            with pytest.raises(
                pk.LaunchError, match=r"read-only(.|\n)*np\.array\("
            ):  # x.copy() is read-only, too
                call()
        own = np.array(x)
        update(own, device=device)
        np.testing.assert_array_equal(own, 2 * np.arange(4))
    np.testing.assert_array_equal(x, np.arange(4))
    for transform in (jax.jit, jax.vmap, lambda f: jax.grad(lambda x: f(x).sum())):
        with pytest.raises(pk.KernelTypeError, match="traced by JAX"):
            transform(doubled)(x)
        with pytest.raises(pk.KernelTypeError, match="traced by JAX"):
            transform(lambda x: twice(y, x, ndrange=4))(x)
    gone = jax.numpy.arange(4.0)
    gone.delete()
    for call in (lambda: doubled(gone), lambda: twice(y, gone, ndrange=4), lambda: pk.from_dlpack(gone)):
        with pytest.raises(pk.KernelTypeError, match="deleted"):
            call()


# -- arrays that overlap themselves ----------------------------------------------------------------


def overlapping():
    yield as_strided(np.zeros(1), (4, 3), (0, 0))
    yield as_strided(np.zeros(4), (4, 3), (8, 0))
    yield as_strided(np.zeros(3), (4, 3), (0, 8))
    yield as_strided(np.zeros(9), (4, 3), (8, 8))
    yield as_strided(np.zeros(30), (4, 3), (16, 8))
    yield as_strided(np.zeros(30)[20:], (4, 3), (-8, 8))
    yield as_strided(np.zeros(30), (4, 3), (24, 48))


def apart():
    a = np.zeros((12, 12))
    yield from (a[:4, :3], a[::3, ::4], a[3::-1, :3], a.T[:4, :3], a[:4, 2::-1], a[:1, :3], a[:4, :1])
    yield as_strided(
        np.zeros(60), (2, 3), (24, 16)
    )  # neither axis steps over the other, and no place is met twice
    yield as_strided(np.zeros(1), (1, 1), (0, 0))
    yield as_strided(np.zeros(9), (0, 3), (0, 0))


@DEVICES
def test_what_overlaps_itself_is_not_written(device):
    for _ in range(3):  # with and without the entry
        for array in apart():
            fill(array, ndrange=array.shape, device=device)
            wanted = np.add.outer(10.0 * np.arange(array.shape[0]), np.arange(array.shape[1]))
            np.testing.assert_array_equal(array, wanted)
        for array in overlapping():
            before = array.copy()
            with pytest.raises(pk.LaunchError, match="several positions at one place"):
                fill(array, ndrange=array.shape, device=device)
            np.testing.assert_array_equal(array, before)
            if device != "python":
                with pytest.raises(pk.LaunchError, match="several positions at one place"):
                    update(array, device=device)
                np.testing.assert_array_equal(array, before)
            with pytest.raises(pk.LaunchError, match="several positions at one place"):
                doubled(np.zeros(array.shape), out=array, device=device)
            np.testing.assert_array_equal(doubled(array, device=device), 2 * before)  # reading is fine


def test_which_arrays_overlap_themselves(rng):
    for _ in range(500):
        rank = int(rng.integers(1, 4))
        shape = tuple(int(n) for n in rng.integers(0, 5, rank))
        strides = tuple(int(s) for s in rng.integers(-12, 13, rank))
        buffer = np.zeros(400, np.uint8)
        array = as_strided(buffer[200:].view(np.uint16), shape, strides)
        places: list[int] = []
        for index in itertools.product(*map(range, shape)):
            first = sum(i * s for i, s in zip(index, strides, strict=True))
            places += [first, first + 1]
        assert overlaps_itself(array) == (len(set(places)) < len(places)), (shape, strides)
