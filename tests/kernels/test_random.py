"""pk.random: Philox's words by its definition in Python's integers, the same on every device and in every form."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk
from pykern.errors import KernelTypeError

DEVICES = ["cpu", "python", "opencl", "vulkan", "webgpu", "cuda:emulated", "metal:emulated"]
LOW = 0xFFFFFFFF


def philox(counter: tuple[int, int, int, int], key: int) -> tuple[int, int, int, int]:
    a, b, c, d, k, h = *counter, key & LOW, key >> 32 & LOW
    for _ in range(10):
        first, second = a * 0xD2511F53, c * 0xCD9E8D57
        a, b, c, d = second >> 32 ^ b ^ k, second & LOW, first >> 32 ^ d ^ h, first & LOW
        k, h = k + 0x9E3779B9 & LOW, h + 0xBB67AE85 & LOW
    return a, b, c, d


def test_the_reference_is_philox():
    """The known answers of Random123 for Philox4x32-10: all words zero, and all bits one."""
    assert philox((0, 0, 0, 0), 0) == (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)
    assert philox((LOW,) * 4, 2**64 - 1) == (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)


@pk.kernel
def draw(bits, numbers, seed, start):
    i = pk.index()
    bits[i] = pk.random_bits(seed, i + start)
    numbers[i] = pk.random(seed, i, start) + 0.0


@pytest.mark.parametrize("device", DEVICES, indirect=True)
@pytest.mark.parametrize("seed", [0, 2**40 + 5, -3])
def test_bits_and_numbers(device, seed):
    start = 2**33 - 2
    bits = pk.zeros(5, pk.u32, device=device)
    numbers = pk.zeros(5, pk.f32, device=device)
    draw(bits, numbers, np.int64(seed), np.int64(start), ndrange=5)
    key = seed & 2**64 - 1
    places = [i + start for i in range(5)]
    expected = [philox((p & LOW, p >> 32, 0, 0), key)[0] for p in places]
    np.testing.assert_array_equal(np.asarray(bits), expected)
    halves = [(philox((i, 0, start & LOW, start >> 32), key)[0] >> 8) / 2**24 for i in range(5)]
    np.testing.assert_array_equal(np.asarray(numbers), np.float32(halves))


@pytest.mark.parametrize(
    ("dtype", "bits"),
    [(pk.f16, 11), (pk.bf16, 8), (pk.f32, 24), (pk.f64, 53)],
    ids=lambda v: getattr(v, "name", ""),
)
def test_types_and_forms_agree(dtype, bits):
    @pk.kernel
    def kernel(o):
        i = pk.index()
        o[i] = pk.random(7, i, 1, 2, dtype=dtype)

    @pk.kernel
    def tiles(o):
        i = pk.tile()
        o[i] = pk.random(7, pk.positions(i), 1, 2, dtype=dtype)

    @pk.jit
    def program(n: pk.static):
        return pk.random(7, pk.arange(n), 1, 2, dtype=dtype)

    words = [philox((i, 1, 2, 0), 7) for i in range(50)]
    wide = [(w[0] >> 5) * 2**26 + (w[1] >> 6) if bits == 53 else w[0] >> 32 - bits for w in words]
    expected = np.array([w / 2**bits for w in wide]).astype(dtype.numpy)
    for run in (kernel, tiles):
        for device in ("cpu", "python"):
            o = np.zeros(50, dtype.numpy)
            run(o, ndrange=50, device=device)
            np.testing.assert_array_equal(o, expected)
    np.testing.assert_array_equal(program(50), expected)
    np.testing.assert_array_equal(pk.random(7, np.arange(50), 1, 2, dtype=dtype), expected)
    assert pk.random(7, 3, 1, 2, dtype=dtype) == expected[3]


@pytest.mark.parametrize("dtype", [pk.f32, pk.f64], ids=["f32", "f64"])
@pytest.mark.parametrize("device", ["cpu", "opencl"], indirect=True)
def test_normal_numbers(device, dtype):
    @pk.kernel
    def kernel(o, seed):
        i = pk.index()
        o[i] = pk.random_normal(seed, i, dtype=dtype)

    n = 40_000
    o = pk.zeros(n, dtype, device=device)
    kernel(o, 11, ndrange=n)
    values = np.asarray(o).astype(np.float64)
    np.testing.assert_allclose(values, pk.random_normal(11, np.arange(n), dtype=pk.f64 if dtype is pk.f64 else dtype),
                               atol=2e-5 if dtype is pk.f32 else 1e-12)  # fmt: skip
    assert abs(values.mean()) < 4 / n**0.5 and abs(values.std() - 1) < 4 / (2 * n) ** 0.5
    assert abs((values**3).mean()) < 4 * (15 / n) ** 0.5 and abs((values**4).mean() - 3) < 4 * (96 / n) ** 0.5


def test_uniform_numbers_fill_the_interval():
    values = np.sort(pk.jit(lambda: pk.random(5, pk.arange(100_000), dtype=pk.f64))())
    assert values[0] >= 0 and values[-1] < 1
    places = np.arange(1, values.size + 1) / values.size
    assert np.abs(values - places).max() < 1.95 / values.size**0.5  # Kolmogorov and Smirnov, 0.1 %


def test_pi(rng):
    @pk.kernel
    def hits(o, n, seed):
        i = pk.index()
        inside = 0
        for k in range(n):
            x, y = pk.random(seed, i, 2 * k), pk.random(seed, i, 2 * k + 1)
            if x * x + y * y < 1:
                inside += 1
        o[i] = 4 * inside / n

    o = np.zeros(400)
    hits(o, 500, 1, ndrange=400)
    assert abs(o.mean() - np.pi) < 4 * 1.65 / (400 * 500) ** 0.5


def test_derivatives_take_the_numbers_as_constants(rng):
    @pk.jit
    def loss(x, seed):
        return (x * x * pk.random_normal(seed, pk.arange(x.shape[0]), dtype=pk.f64)).sum()

    x = rng.random(9)
    expected = 2 * x * pk.random_normal(4, np.arange(9), dtype=pk.f64)
    np.testing.assert_allclose(pk.grad(loss)(x, 4), expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("expression", "said"),
    [("pk.random(1.5, i)", "integers, not"), ("pk.random(1)", "a seed, counters"),
     ("pk.random(1, i, dtype=pk.i32)", "gives floats"),
     ("pk.random(1, i, i, i, i, i)", "one to four counters"), ("pk.random(1, i, low=2)", "a seed, counters")],
)  # fmt: skip
def test_errors(expression, said, tmp_path):
    file = tmp_path / "kernels.py"
    file.write_text(f"def kernel(o):\n    i = pk.index()\n    o[i] = {expression}\n")
    scope = {"pk": pk}
    exec(compile(file.read_text(), file, "exec"), scope)
    with pytest.raises(KernelTypeError) as caught:
        pk.kernel(scope["kernel"])(np.zeros(3), ndrange=3)
    assert said in str(caught.value) and "line 3" in str(caught.value)
