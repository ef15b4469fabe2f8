"""fp8 as a type of memory: conversions as ml_dtypes makes them, arithmetic in f32, on every device."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import pykern as pk
from pykern.errors import KernelSyntaxError, KernelTypeError, OutOfBounds

E4M3, E5M2 = ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2
OTHERS = [np.bool_, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint64,
          np.float16, ml_dtypes.bfloat16, np.float32, np.float64]  # fmt: skip


@pytest.fixture(params=[E4M3, E5M2])
def small(request: pytest.FixtureRequest) -> type:
    return request.param


def codes(small: type) -> np.ndarray:
    return np.arange(256, dtype=np.uint8).view(small)


def assert_same(got: np.ndarray, expected: np.ndarray, what: str = "") -> None:
    """Bits, where it is a number: a NaN's sign is nobody's business."""
    assert got.dtype == expected.dtype, what
    np.testing.assert_array_equal(got.astype(np.float32), expected.astype(np.float32), what)
    numbers = ~np.isnan(expected.astype(np.float32))
    assert np.array_equal(got.view(np.uint8)[numbers], expected.view(np.uint8)[numbers]), what


@pk.kernel
def copy(y, x):
    i = pk.index()
    y[i] = x[i]


def test_types():
    assert (pk.f8e4m3.numpy, pk.f8e5m2.numpy) == (np.dtype(E4M3), np.dtype(E5M2))
    assert pk.f8e4m3.itemsize == 1 and pk.f8e4m3.is_float and pk.f8e4m3.loaded == pk.f32
    assert repr(pk.f8e5m2[:, 3]) == "f8e5m2[:, 3]"


def test_every_code(small, device):
    y = np.zeros(256, np.float32)
    copy(y, codes(small), ndrange=256, device=device)
    np.testing.assert_array_equal(y, codes(small).astype(np.float32))
    back = np.zeros(256, small)
    copy(back, codes(small), ndrange=256, device=device)
    assert_same(back, codes(small))


def test_rounding_overflow_nan_subnormals(small, device, rng):
    n = 3000 if device == "python" else 200_000
    x = np.ldexp(rng.uniform(-2, 2, n), rng.integers(-22, 20, n)).astype(np.float32)
    special = [np.nan, np.inf, -np.inf, 0, -0.0, 464, 465, 480, -1e9, 61440, 61439, 2.0**-10, 2.0**-17]
    x[: len(special)] = special
    y = np.zeros(n, small)
    copy(y, x, ndrange=n, device=device)
    with np.errstate(all="ignore"):
        assert_same(y, x.astype(small))


@pk.kernel
def copies(to_0, to_1, to_2, to_3, to_4, to_5, of_0, of_1, of_2, of_3, of_4, of_5):
    i = pk.index()
    to_0[i] = of_0[i]
    to_1[i] = of_1[i]
    to_2[i] = of_2[i]
    to_3[i] = of_3[i]
    to_4[i] = of_4[i]
    to_5[i] = of_5[i]


@pytest.mark.parametrize("others", [OTHERS[:6], OTHERS[6:]], ids=["first six", "last six"])
def test_from_and_to_every_type(small, others, device):
    """Six types in one kernel."""
    given = [np.array([0, 1, 2, 3, 5, 17, 77, 100, 1, 0]).astype(other) for other in others]
    found = [np.zeros(10, small) for _ in others]
    copies(*found, *given, ndrange=10, device=device)
    for x, y in zip(given, found, strict=True):
        assert_same(y, x.astype(np.float32).astype(small), f"from {x.dtype}")
    back = [np.zeros_like(x) for x in given]
    copies(*back, *found, ndrange=10, device=device)
    for x, y in zip(back, found, strict=True):
        np.testing.assert_array_equal(x, y.astype(np.float32).astype(x.dtype), f"to {x.dtype}")


def test_from_one_fp8_to_the_other(small, device):
    other = E5M2 if small is E4M3 else E4M3
    y = np.zeros(256, other)
    copy(y, codes(small), ndrange=256, device=device)
    with np.errstate(all="ignore"):
        assert_same(y, codes(small).astype(np.float32).astype(other))


@pk.kernel
def arithmetic(out, wide, x, y):
    i = pk.index()
    out[0, i] = x[i] + y[i]
    out[1, i] = x[i] * y[i]
    out[2, i] = x[i] / 3
    out[3, i] = max(x[i], y[i]) if x[i] > y[i] else pk.sqrt(abs(y[i]))
    wide[0, i] = x[i] * y[i]
    wide[1, i] = x[i] + pk.f16(0.1)
    out[4, i] += x[i]
    out[4, i] -= 0.25


def test_arithmetic_is_in_f32(small, device, rng):
    n = 300
    x, y = (rng.uniform(-20, 20, n).astype(small) for _ in range(2))
    out, wide = np.ones((5, n), small), np.zeros((2, n))
    arithmetic(out, wide, x, y, ndrange=n, device=device)
    a, b = x.astype(np.float32), y.astype(np.float32)
    once = (np.float32(1) + a).astype(small).astype(np.float32)
    expected = [a + b, a * b, a / np.float32(3), np.where(a > b, a, np.sqrt(np.abs(b))),
                once - np.float32(0.25)]  # fmt: skip
    for row, exact in zip(out, expected, strict=True):
        assert_same(row, exact.astype(small))
    np.testing.assert_array_equal(wide, np.array([a * b, a + np.float32(np.float16(0.1))], np.float64))


@pk.kernel
def rounded(y, x):
    i = pk.index()
    y[0, i] = pk.cast(x[i], pk.f8e4m3)
    y[1, i] = pk.f8e5m2(x[i]) + 1
    y[2, i] = E4M3(x[i])
    y[3, i] = pk.f8e4m3(3.3)


def test_a_cast_rounds_and_gives_f32(device, rng):
    x = rng.uniform(-30, 30, 100)
    y = np.zeros((4, 100))
    rounded(y, x, ndrange=100, device=device)
    narrow = x.astype(np.float32)
    np.testing.assert_array_equal(y[0], narrow.astype(E4M3).astype(np.float64))
    np.testing.assert_array_equal(y[1], narrow.astype(E5M2).astype(np.float32) + np.float32(1))
    np.testing.assert_array_equal(y[2], y[0])
    assert (y[3] == 3.25).all()


@pk.kernel(workgroup=16)
def reversed_groups(y: pk.Out[pk.f8e4m3[:, :]], x: pk.In[pk.f8e4m3[:, :]]):
    i, k = pk.index(), pk.local_index()
    cells, own = pk.shared(16, pk.f8e4m3), pk.private(2, pk.f8e5m2)
    cells[k] = x[0, i]
    own[0] = x[1, i]
    pk.barrier()
    y[0, i] = cells[15 - k]
    y[1, i] = own[0]


def test_shared_and_private_memory_and_strides(device):
    x = np.zeros((64, 2), E4M3).T  # strided
    x[...] = codes(E4M3)[:64].reshape(64).view(E4M3)
    y = np.zeros((64, 4), E4M3)[:, ::2].T
    reversed_groups(y, x, ndrange=64, device=device)
    row = codes(E4M3)[:64]
    assert_same(np.ascontiguousarray(y[0]), np.ascontiguousarray(row.reshape(4, 16)[:, ::-1]).reshape(64))
    through = row.astype(np.float32).astype(E5M2).astype(np.float32).astype(E4M3)
    assert_same(np.ascontiguousarray(y[1]), through)


def test_bounds_in_debug(device):
    @pk.kernel(debug=True)
    def beyond(y, x, n):
        y[0] = x[n]

    y, x = np.zeros(1, E5M2), codes(E5M2).copy()
    beyond(y, x, 64, ndrange=1, device=device)
    assert float(y[0]) == 2.0
    with pytest.raises(OutOfBounds):
        beyond(y, x, 256, ndrange=1, device=device)


def test_a_loop_that_carries_f32(small, device):
    @pk.kernel
    def total(out, x):
        sum_ = x[0]
        for k in range(1, len(x)):
            sum_ += x[k]
        out[0] = sum_

    x, out = np.full(100, 1.5, small), np.zeros(1, np.float32)
    total(out, x, ndrange=1, device=device)
    assert out[0] == 150.0  # in fp8 the sum would have stood still


def test_the_second_launch_takes_the_compiled_entry(small):
    @pk.kernel
    def halved(y, x):
        i = pk.index()
        y[i] = x[i] / 2

    y, x = np.zeros(256, small), codes(small)
    halved(y, x, ndrange=256)
    (variant,) = halved.launcher.cache.variants.values()
    assert variant.entry_address
    y[:] = 0
    halved(y, x, ndrange=256)
    assert_same(y, (x.astype(np.float32) / 2).astype(small))


# -- refused ------------------------------------------------------------------------------------


def test_atomics_are_refused():
    @pk.kernel
    def count(x):
        pk.atomic_add(x, 0, 1)

    with pytest.raises(KernelTypeError, match="not available for f8e4m3"):
        count(np.zeros(1, E4M3), ndrange=4)


def test_scalars_are_refused(device):
    @pk.kernel
    def annotated(x, a: pk.f8e4m3):
        x[0] = a

    with pytest.raises(KernelTypeError, match="fp8 is for arrays"):
        annotated(np.zeros(1, E4M3), 1.0, ndrange=1, device=device)
    with pytest.raises(KernelTypeError, match="fp8 is for arrays"):
        copy(np.zeros(1, E4M3), E4M3(1), ndrange=1, device=device)


def test_captured_scalars_are_refused():
    value = E4M3(1)

    @pk.kernel
    def captured(x):
        x[0] = value

    with pytest.raises((KernelSyntaxError, KernelTypeError), match="fp8 is for arrays"):
        captured(np.zeros(1, E4M3), ndrange=1)
