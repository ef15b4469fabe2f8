"""Products by tensor cores and matrix cores, on emulated GPUs: programs, loops and tiles beside NumPy in f64."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import pykern as pk
from tests.programs.test_device_contractions import PROGRAMS, arguments, checked

AMD = [f"rocm:emulated:{chip}" for chip in ("gfx942", "gfx1100", "gfx1201", "gfx90a", "gfx950")]
over_gpus = pytest.mark.parametrize("device", ["cuda:emulated", "cuda:emulated:90", *AMD], indirect=True)
over_units = pytest.mark.parametrize(
    "device",
    ["cuda:emulated", *(pytest.param(chip, marks=pytest.mark.slow) for chip in AMD[:3])],
    indirect=True,
)
"""One of each way in which factors come into registers."""
over_types = pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16], ids=["f16", "bf16"])
SIZES = [(100, 90, 70), (33, 17, 19), (8, 8, 8), (64, 64, 64), (130, 257, 33), (72, 136, 200), (72, 135, 40)]
"""Rows, columns and terms; factors whose lines are multiples of 16 bytes are copied ahead, each for itself."""
SHORT = {np.float16: 2**-11, ml_dtypes.bfloat16: 2**-8}
"""Half of the distance from 1 to the next number."""


@pk.kernel
def tiles(c, a, b):
    i, j = pk.tile()
    total = pk.zeros((i, j), pk.f32)
    for k in pk.tiles(a.shape[1]):
        total += a[i, k] @ b[k, j]
    c[i, j] = total


@pk.kernel
def loops(c, a, b):
    i, j = pk.index()
    total = pk.f32(0)
    for k in range(a.shape[1]):
        total += pk.f32(a[i, k]) * pk.f32(b[k, j])
    c[i, j] = total


@pk.jit
def launched(c, a, b):
    loops(c, a, b, ndrange=c.shape)


@pk.jit
def product(a, b):
    return a @ b


def factors(rng, m, n, k, dtype):
    return rng.standard_normal((m, k)).astype(dtype), rng.standard_normal((k, n)).astype(dtype)


def wide(*arrays):
    return [each.astype(np.float64) for each in arrays]


def bound(a, b):
    """What sums of exact products may be off by in f32, in any order (Higham 2002, section 3.1)."""
    return (a.shape[-1] + 1) * 2**-23 * (np.abs(a) @ np.abs(b))


@over_gpus
@over_types
@pytest.mark.sweep("dtype", "device")
@pytest.mark.parametrize(("m", "n", "k"), SIZES)
def test_programs_loops_and_tiles_add_in_f32(rng, device, dtype, m, n, k):
    a, b = factors(rng, m, n, k, dtype)
    left, right = wide(a, b)
    given = [pk.asarray(v, device=device) for v in (a, b)]
    for write in (lambda c: tiles(c, *given, ndrange=(m, n)), lambda c: launched(c, *given)):
        c = pk.asarray(np.full((m, n), np.nan, np.float32), device=device)
        write(c)
        assert (np.abs(c.numpy() - left @ right) <= bound(left, right)).all()
    rounded = product(*given).numpy().astype(np.float64)
    size = np.abs(left @ right)
    assert (np.abs(rounded - left @ right) <= bound(left, right) + SHORT[dtype] * size + 2**-24).all()


@over_units
@over_types
@pytest.mark.sweep("dtype")
@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_before_and_after_products(rng, device, dtype, function):
    names = {
        n: v * 0.25 if isinstance(v, np.ndarray) else v for n, v in arguments(rng, 37, 41, 41, dtype).items()
    }
    names = {n: v.astype(dtype) if isinstance(v, np.ndarray) else v for n, v in names.items()}
    checked(function, device, names, dtype, 16 * SHORT[dtype])


@over_units
@pytest.mark.slow
@pytest.mark.parametrize("k", [72, 73])
@pytest.mark.parametrize("transposed", [False, True])
def test_the_largest_tiles(rng, device, k, transposed):
    """Of 128 rows and columns: there are 120 of them."""
    x = rng.standard_normal((120, 100, k)).astype(np.float16)
    y = rng.standard_normal((120, 104, k) if transposed else (120, k, 104)).astype(np.float16)

    @pk.jit
    def batches(x, y):
        return x @ (y.transpose(0, 2, 1) if transposed else y)

    have = batches(pk.asarray(x, device=device), pk.asarray(y, device=device)).numpy()
    left, right = wide(x, y.transpose(0, 2, 1) if transposed else y)
    np.testing.assert_allclose(have, left @ right, rtol=2e-3, atol=2e-3)


@over_units
@pytest.mark.parametrize(
    ("m", "n"), [(1160, 600), pytest.param(300, 1200, marks=pytest.mark.slow), (1024, 512)]
)
def test_bands_of_tiles_cover_the_result(rng, device, m, n):
    """Bands of eight tiles, the last one of fewer; each tile once."""
    a, b = factors(rng, m, n, 16, np.float16)
    have = product(pk.asarray(a, device=device), pk.asarray(b, device=device)).numpy()
    np.testing.assert_allclose(have, np.matmul(*wide(a, b)), rtol=2e-3, atol=2e-3)


@over_units
def test_parts_of_arrays_are_copied_where_they_are_aligned(rng, device):
    a, b = factors(rng, 72, 80, 88, np.float16)

    @pk.jit
    def inner(a, b):
        return a[3:40, 16:64] @ b[16:64, 8:72], a[:, 4:12] @ b[4:12]

    have = inner(pk.asarray(a, device=device), pk.asarray(b, device=device))
    left, right = wide(a, b)
    for each, want in zip(
        have, (left[3:40, 16:64] @ right[16:64, 8:72], left[:, 4:12] @ right[4:12]), strict=True
    ):
        np.testing.assert_allclose(each.numpy(), want, rtol=2e-3, atol=2e-3)


def transposed_left(a, b):
    return a.T @ b


def transposed_right(a, b):
    return a @ b.T


def strided(a, b):
    return a[::2, 1:] @ b[1:, ::-1]


def columns(a, b):
    return a[:, 3:20] @ b[3:20]


@over_units
@pytest.mark.parametrize("n", [40, 41])
@pytest.mark.parametrize(
    "function", [transposed_left, transposed_right, strided, columns], ids=lambda f: f.__name__
)
def test_factors_that_lie_another_way(rng, device, function, n):
    a, b = factors(rng, n, n, n, np.float16)
    have = pk.jit(function)(pk.asarray(a, device=device), pk.asarray(b, device=device)).numpy()
    np.testing.assert_allclose(have, function(*wide(a, b)), rtol=2e-3, atol=2e-3)


@over_units
@pytest.mark.parametrize(("m", "n", "k"), [(0, 9, 9), (9, 9, 0), (9, 0, 9)])
def test_empty(device, m, n, k):
    a, b = np.ones((m, k), np.float16), np.ones((k, n), np.float16)
    have = product(pk.asarray(a, device=device), pk.asarray(b, device=device)).numpy()
    np.testing.assert_array_equal(have, np.zeros((m, n), np.float16))


@over_units
@over_types
def test_what_is_no_number_stays_in_its_row_and_column(rng, device, dtype):
    """Zeros beyond the edges meet no infinity."""
    a, b = factors(rng, 35, 33, 37, dtype)
    a[34, 36], a[3, 5], b[36, 32], b[7, 9] = np.inf, np.nan, -np.inf, np.inf
    have = product(pk.asarray(a, device=device), pk.asarray(b, device=device)).numpy().astype(np.float64)
    with np.errstate(invalid="ignore"):
        want = np.matmul(*wide(a, b))
    np.testing.assert_array_equal(np.isnan(have), np.isnan(want))
    np.testing.assert_array_equal(have[np.isinf(want)], want[np.isinf(want)])


@over_units
@over_types
def test_gradients(rng, device, dtype):
    a, b = factors(rng, 37, 33, 41, dtype)
    weight = rng.standard_normal((37, 33)).astype(dtype)

    def loss(a, b, w):
        return ((a @ b) * w).astype(pk.f32).sum()

    gradient = pk.grad(pk.jit(loss), argnums=(0, 1))
    lowered = gradient.lower(a, b, weight, target="nvvm:sm_80")
    assert sum("uses tensor cores" in remark.text for remark in lowered.remarks) >= 1
    assert "mma.sync" in lowered.as_text("ptx")
    given = [pk.asarray(v, device=device) for v in (a, b, weight)]
    da, db = (np.asarray(g.numpy()).astype(np.float64) for g in gradient(*given))
    left, right, w = wide(a, b, weight)
    for have, want in ((da, w @ right.T), (db, left.T @ w)):
        np.testing.assert_allclose(have, want, rtol=0, atol=2 * SHORT[dtype] * np.abs(want).max())


@over_units
def test_sums_go_on_from_what_is_there(rng, device):
    a, b = factors(rng, 33, 35, 37, np.float16)
    c = rng.standard_normal((33, 35)).astype(np.float32)

    @pk.jit
    def more(c, a, b):
        c += a.astype(pk.f32) @ b.astype(pk.f32)
        return c

    have = more(*(pk.asarray(v.copy(), device=device) for v in (c, a, b))).numpy()
    np.testing.assert_allclose(have, c + np.matmul(*wide(a, b)), rtol=0, atol=1e-4)


@pk.kernel
def byte_tiles(c, a, b):
    i, j = pk.tile()
    total = pk.zeros((i, j), pk.i32)
    for k in pk.tiles(a.shape[1]):
        total += a[i, k] @ b[k, j]
    c[i, j] = total * 2 - 1


@pk.kernel
def byte_loops(c, a, b):
    """Its right factor is transposed: bytes are side by side in both."""
    i, j = pk.index()
    total = pk.i32(0)
    for k in range(a.shape[1]):
        total += pk.i32(a[i, k]) * pk.i32(b[j, k])
    c[i, j] = total


@pk.jit
def byte_launched(c, a, b):
    byte_loops(c, a, b, ndrange=c.shape)


@pytest.mark.parametrize("device", ["cuda:emulated", *AMD], indirect=True)
@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["f32", "f64"])
@pytest.mark.parametrize(("m", "n", "k"), [(33, 17, 19), (72, 136, 200), (130, 258, 36)])
def test_wide_floats(rng, device, dtype, m, n, k):
    """CDNA multiplies them by instructions of their own, NVIDIA f64 alone, other chips by multiply-adds."""
    a, b = factors(rng, m, n, k, dtype)
    want = a.astype(np.longdouble) @ b.astype(np.longdouble)
    for program, left, right in (
        (product, a, b),
        (pk.jit(transposed_left), np.ascontiguousarray(a.T), b),
        (pk.jit(transposed_right), a, np.ascontiguousarray(b.T)),
    ):
        have = program(pk.asarray(left, device=device), pk.asarray(right, device=device)).numpy()
        limit = (k + 1) * np.finfo(dtype).eps * (np.abs(a) @ np.abs(b))
        assert (np.abs(have - want) <= limit).all()


@pytest.mark.slow
@pytest.mark.parametrize("device", ["cuda:emulated", "rocm:emulated:gfx1100"], indirect=True)
def test_the_largest_tiles_of_multiply_adds(rng, device):
    """Of 128 rows and columns, of f32: a work-item has 8 x 8 cells."""
    x, y = rng.standard_normal((120, 100, 41), np.float32), rng.standard_normal((120, 41, 104), np.float32)
    have = product(pk.asarray(x, device=device), pk.asarray(y, device=device)).numpy()
    left, right = wide(x, y)
    assert (np.abs(have - left @ right) <= 42 * 2**-23 * (np.abs(left) @ np.abs(right))).all()


@pytest.mark.slow
def test_which_units_multiply_what():
    """As remarks and instructions of AMD's chips tell."""
    for chip, dtype, instruction in (
        ("gfx942", np.float16, "v_mfma_f32_16x16x16_f16"),
        ("gfx950", ml_dtypes.bfloat16, "v_mfma_f32_16x16x32_bf16"),
        ("gfx90a", np.float64, "v_mfma_f64_16x16x4f64"),
        ("gfx942", np.float32, "v_mfma_f32_16x16x4_f32"),
        ("gfx1100", np.float16, "v_wmma_f32_16x16x16_f16"),
        ("gfx1201", ml_dtypes.bfloat16, "v_wmma_f32_16x16x16_bf16"),
    ):
        given = np.zeros((64, 64), dtype)
        lowered = product.lower(given, given, target=f"rocdl:{chip}")
        assert instruction in lowered.stage("llvm-emit").text
    lowered = product.lower(np.zeros((64, 64)), np.zeros((64, 64)), target="rocdl:gfx1100")
    assert any("they multiply two of f16, two of bf16, or bytes" in remark.text for remark in lowered.remarks)


def byte_factors(rng, kinds, m, n, k):
    limits = [np.iinfo(kind) for kind in kinds]
    shapes = (m, k), (k, n)
    return [
        rng.integers(limit.min, limit.max, shape, kind, endpoint=True)
        for kind, limit, shape in zip(kinds, limits, shapes, strict=True)
    ]


@over_gpus
@pytest.mark.sweep("kinds", "device")
@pytest.mark.parametrize(
    ("m", "n", "k"), [(33, 17, 19), (72, 144, 208), pytest.param(130, 257, 70, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("kinds", [(np.int8, np.int8), (np.uint8, np.uint8), (np.int8, np.uint8)], ids=str)
def test_products_of_bytes_are_exact(rng, device, kinds, m, n, k):
    """Sums wrap in i32; in tiles both factors are of one type."""
    a, b = byte_factors(rng, kinds, m, n, k)
    want = a.astype(np.int64) @ b
    c = pk.asarray(np.zeros((m, n), np.int32), device=device)
    byte_launched(c, pk.asarray(a, device=device), pk.asarray(np.ascontiguousarray(b.T), device=device))
    np.testing.assert_array_equal(c.numpy(), want)
    assert "mma.sync" in byte_launched.lower(c.numpy(), a, b.T.copy(), target="nvvm:sm_80").as_text("ptx")
    if kinds[0] is kinds[1]:
        byte_tiles(c, pk.asarray(a, device=device), pk.asarray(b, device=device), ndrange=(m, n))
        np.testing.assert_array_equal(c.numpy(), 2 * want - 1)


@over_units
def test_sums_of_bytes_wrap(device):
    a, b = np.full((8, 140000), -128, np.int8), np.full((140000, 8), -128, np.int8)
    c = pk.asarray(np.zeros((8, 8), np.int32), device=device)
    byte_launched(c, pk.asarray(a, device=device), pk.asarray(b.T.copy(), device=device))
    np.testing.assert_array_equal(c.numpy(), np.full((8, 8), (140000 << 14) - (1 << 32)))


def relu_layer(a, b, bias):
    return pk.maximum(a @ b + bias, 0)


def with_prologue(a, b, bias):
    return (a * 2) @ b + bias


@over_units
@pytest.mark.parametrize(
    ("batches", "m", "n", "k"), [(1, 40, 36, 3001), pytest.param(3, 20, 24, 3104, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("function", [relu_layer, with_prologue], ids=lambda f: f.__name__)
def test_many_terms_of_few_cells_are_summed_in_parts(rng, device, function, batches, m, n, k):
    """The last part may be shorter. A second kernel adds the parts up, and does what follows."""
    a, b = (rng.standard_normal((batches, *s)).astype(np.float16) * np.float16(0.1) for s in ((m, k), (k, n)))
    bias = rng.standard_normal(n).astype(np.float16)
    program = pk.jit(function)
    lowered = program.lower(a, b, bias, target="nvvm:sm_80")
    assert any("its terms are summed in" in remark.text for remark in lowered.remarks)
    assert lowered.compile().resources["kernels"] == 2
    have = program(*(pk.asarray(v, device=device) for v in (a, b, bias))).numpy()
    left, right, wide_bias = wide(a, b, bias)
    want = np.maximum(left @ right + wide_bias, 0) if function is relu_layer else 2 * left @ right + wide_bias
    np.testing.assert_allclose(have, want, rtol=2e-3, atol=2e-3)


@over_units
def test_parts_go_on_from_what_is_there_and_give_the_same_bits(rng, device):
    a, b = factors(rng, 33, 35, 3200, np.float16)
    c = rng.standard_normal((33, 35)).astype(np.float32)

    @pk.jit
    def more(c, a, b):
        c += a.astype(pk.f32) @ b.astype(pk.f32)
        return c

    first, second = (
        more(*(pk.asarray(v.copy(), device=device) for v in (c, a, b))).numpy() for _ in range(2)
    )
    left, right = wide(a, b)
    assert (np.abs(first - (c + left @ right)) <= bound(left, right) + 1e-6).all()
    np.testing.assert_array_equal(first, second)
