"""Reductions along tiles of the launch, put together by atomics, and what loops over tiles may carry on."""

import numpy as np
import pytest

import pykern as pk
from pykern.errors import KernelTypeError

DEVICES = [
    "cpu",
    "python",
    *(pytest.param(d, marks=pytest.mark.slow) for d in ("opencl:0", "cuda:emulated", "rocm:emulated")),
]
each_device = pytest.mark.parametrize("device", DEVICES, indirect=True)


@pk.kernel
def norm_gradients(dweight, dbias, x, dy):
    i = pk.tile()
    pk.atomic_add(dweight, ..., (x[i] * dy[i]).sum(0))
    pk.atomic_add(dbias, ..., dy[i].sum(0))


@pk.kernel
def summary(found, x):
    i, j = pk.tile()
    pk.atomic_add(found, 0, (x[i, j] * x[i, j]).sum() / x.shape[0])
    pk.atomic_max(found, 1, x[i, j].max())
    pk.atomic_min(found, 2, x[i, j].min())
    pk.atomic_sub(found, 3, -2 * x[i, j].sum(0).sum())


@pk.kernel
def of_rows_and_columns(rows, columns, x):
    i, j = pk.tile()
    pk.atomic_add(rows, i, x[i, j].sum(1))
    pk.atomic_max(columns, j, x[i, j].max(0))


@pk.kernel
def product_in_parts(c, a, b):
    i, j, k = pk.tile()
    pk.atomic_add(c, (i, j), a[i, k] @ b[k, j])


@pk.kernel
def by_segment(sums, x, segment):
    i = pk.tile()
    pk.atomic_add(sums, segment[i], x[i])


@each_device
@pytest.mark.parametrize("shape", [(37, 13), (1, 5), (64, 32), (0, 4)])
def test_reductions_are_put_together(device, shape, rng):
    x, dy = rng.standard_normal((2, *shape)).astype(np.float32)
    dweight, dbias = rng.random((2, shape[1]), np.float32)
    expected = dweight + (x * dy).sum(0), dbias + dy.sum(0)
    norm_gradients(dweight, dbias, x, dy, ndrange=shape[0], device=device)
    np.testing.assert_allclose((dweight, dbias), expected, rtol=1e-4, atol=1e-4)


@each_device
def test_one_number_of_all(device, rng):
    x = rng.standard_normal((37, 29)).astype(np.float32)
    found = np.array([1, -9, 9, 0], np.float32)
    summary(found, x, ndrange=x.shape, device=device)
    np.testing.assert_allclose(
        found, [1 + (x * x).sum() / 37, x.max(), x.min(), 2 * x.sum()], rtol=1e-4, atol=1e-3
    )


@each_device
def test_of_some_dimensions(device, rng):
    x = rng.standard_normal((37, 29)).astype(np.float32)
    rows, columns = np.zeros(37, np.float32), np.full(29, 0.5, np.float32)
    of_rows_and_columns(rows, columns, x[:, ::-1], ndrange=x.shape, device=device)
    np.testing.assert_allclose(rows, x.sum(1), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(columns, np.maximum(x[:, ::-1].max(0), 0.5))


@each_device
@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_terms_of_a_product_in_parts(device, dtype, rng):
    a, b = (rng.integers(-9, 9, shape).astype(dtype) for shape in ((20, 70), (70, 15)))
    c = np.ones((20, 15), dtype)
    product_in_parts(c, a, b, ndrange=(20, 15, 70), device=device)
    np.testing.assert_array_equal(c, 1 + a @ b)


@each_device
def test_rows_at_indices(device, rng):
    x, segment = rng.random((40, 3)), rng.integers(0, 6, 40)
    sums, expected = np.zeros((6, 3)), np.zeros((6, 3))
    np.add.at(expected, segment, x)
    by_segment(sums, x, segment, ndrange=40, device=device)
    np.testing.assert_allclose(sums, expected)


def test_gradient(rng):
    x, dy = rng.random((2, 6, 4))
    dweight, dbias = np.zeros((2, 4))
    seeds, found = rng.random((2, 4)), np.zeros((2, 6, 4))
    pk.autodiff(norm_gradients)(
        pk.Dup(dweight, seeds[0].copy()), pk.Dup(dbias, seeds[1].copy()), pk.Dup(x, found[0]), pk.Dup(dy, found[1]),
        ndrange=6,
    )  # fmt: skip
    np.testing.assert_allclose(found, [seeds[0] * dy, seeds[0] * x + seeds[1]])


def test_fixed_size_is_a_part_of_the_meaning(rng):
    @pk.kernel
    def norms(total, count, x):
        i = pk.tile(4)
        pk.atomic_add(total, 0, pk.sqrt((x[i] * x[i]).sum()))
        pk.atomic_add(count, 0, 1)

    x, total, count = rng.random(10), np.zeros(1), np.zeros(1, np.int32)
    norms(total, count, x, ndrange=10)
    np.testing.assert_allclose(total, sum(np.sqrt((x[k : k + 4] ** 2).sum()) for k in (0, 4, 8)))
    assert count[0] == 3


# -- what would depend on the size of tiles -------------------------------------------------------------------------


def refusal(function, *args, ndrange):
    """The message, which is the same on the reference device."""
    kernel = pk.kernel(function)
    with pytest.raises(KernelTypeError, match="depend on how large the tiles are") as caught:
        kernel(*args, ndrange=ndrange)
    with pytest.raises(KernelTypeError, match="depend on how large the tiles are"):
        kernel(*args, ndrange=ndrange, device="python")
    return str(caught.value)


def root_of_sum(o, x):
    i = pk.tile()
    pk.atomic_add(o, 0, pk.sqrt(x[i].sum()))


def maximum_of_sums(o, x):
    i = pk.tile()
    pk.atomic_max(o, 0, x[i].sum())


def one_more(o, x):
    i = pk.tile()
    pk.atomic_add(o, 0, x[i].sum() + 1)


def also_stored(o, x):
    i = pk.tile()
    total = x[i].sum()
    pk.atomic_add(o, 0, total)
    x[i] = x[i] / total


def times_its_own_row(o, x):
    i = pk.tile()
    pk.atomic_add(o, i, x[i, 0] * x[i].sum())


def decides(o, x):
    i = pk.tile()
    if x[i].max() > 0:
        pk.atomic_add(o, i, x[i, 0])


@pytest.mark.parametrize(
    "function", [root_of_sum, maximum_of_sums, one_more, also_stored, times_its_own_row, decides]
)
def test_other_uses_of_a_reduction(function):
    text = refusal(function, np.zeros(37), np.ones((37, 5)), ndrange=37)
    assert "goes along the axis of the tile `i`" in text and "put together what all tiles give" in text


def constant(o, x):
    i = pk.tile()  # noqa: F841
    pk.atomic_add(o, 0, 1.0)


def without_j(o, x):
    i, j = pk.tile()  # noqa: RUF059
    pk.atomic_add(o, i, x[i, 0])


def in_a_loop(o, x):
    i = pk.tile()
    for _ in pk.tiles(x.shape[1]):
        pk.atomic_add(o, i, x[i, 0])


@pytest.mark.parametrize(
    ("function", "tile", "ndrange"),
    [(constant, "i", 37), (without_j, "j", (37, 5)), (in_a_loop, "pk.tiles(5)", 37)],
)
def test_once_for_each_tile(function, tile, ndrange):
    text = refusal(function, np.zeros(37), np.ones((37, 5)), ndrange=ndrange)
    assert f"this takes part once for each tile of `{tile}`" in text


def test_what_changes_nothing_the_second_time_may_be_repeated():
    @pk.kernel
    def seen(o, x):
        i, j = pk.tile()  # noqa: RUF059
        pk.atomic_max(o, i, x[i, 0])

    for device in DEVICES[:2]:
        o, x = np.zeros(37), np.arange(37 * 5.0).reshape(37, 5)
        seen(o, x, ndrange=x.shape, device=device)
        np.testing.assert_array_equal(o, x[:, 0])


# -- loops over tiles -----------------------------------------------------------------------------------------------


def counted(o, x):
    i = pk.tile()
    n = 0
    for _ in pk.tiles(x.shape[1]):
        n += 1
    o[i] = n


def decayed(o, x):
    i = pk.tile()
    s = pk.zeros((i,), pk.f64)
    for k in pk.tiles(x.shape[1]):
        s = 0.5 * s + x[i, k].sum(1)
    o[i] = s


def greatest_sum(o, x):
    i = pk.tile()
    m = pk.full((i,), -pk.inf, pk.f64)
    for k in pk.tiles(x.shape[1]):
        m = pk.maximum(m, x[i, k].sum(1))
    o[i] = m


def sum_of_functions(o, x):
    i = pk.tile()
    s = pk.zeros((i,), pk.f64)
    for k in pk.tiles(x.shape[1]):
        s += pk.exp(x[i, k].max(1))
    o[i] = s


def last_one(o, x):
    i = pk.tile()
    for k in pk.tiles(x.shape[1]):
        o[i] = x[i, k].sum(1)


def from_the_last(o, x):
    i = pk.tile()
    before, s = x[i, 0], pk.zeros((i,), pk.f64)
    for k in pk.tiles(x.shape[1]):
        s += x[i, k].sum(1) * before
        before = x[i, k].sum(1)
    o[i] = s


def unscaled(o, x):
    i = pk.tile()
    m, s = pk.full((i, 1), -pk.inf, pk.f64), pk.zeros((i,), pk.f64)
    for k in pk.tiles(x.shape[1]):
        m = pk.maximum(m, x[i, k].max(1, keepdims=True))
        s += pk.exp(x[i, k] - m).sum(1)
    o[i] = s


@pytest.mark.parametrize(
    ("function", "why"),
    [
        (counted, "`n` changes by the same amount for each tile"),
        (decayed, "`s` is multiplied by the same factor for each tile"),
        (greatest_sum, "`m` accumulates what is not reduced along the tile by the same operator"),
        (sum_of_functions, "`s` accumulates what is not reduced along the tile by the same operator"),
        (last_one, "`o` gets what the last tile of the loop gives"),
        (from_the_last, "`before` gets what the last tile of the loop gives"),
        (unscaled, "`s` accumulates a reduction that depends on what other tiles gave"),
    ],
)
def test_loops_that_count_tiles(function, why, rng):
    text = refusal(function, np.zeros(37), rng.random((37, 20)), ndrange=37)
    assert why in text and "accumulate with one operator" in text


def test_what_the_last_tile_gives_is_not_known_behind_the_loop(rng):
    @pk.kernel
    def reads_it(o, x):
        i = pk.tile()
        for k in pk.tiles(x.shape[1]):
            part = x[i, k]
        o[i] = part.sum(1)

    with pytest.raises(KernelTypeError, match="what the last tile of a loop gives"):
        reads_it(np.zeros(37), rng.random((37, 20)), ndrange=37)


@pk.kernel
def accumulated(o, x, w):
    """Forms of accumulation that are independent of the size of tiles."""
    i = pk.tile()
    s, squares = pk.zeros((i,), pk.f64), pk.zeros((i,), pk.f64)
    low, high = pk.full((i, 1), pk.inf, pk.f64), pk.full((i, 1), -pk.inf, pk.f64)
    weight, some, where = pk.ones((i,), pk.f64), pk.zeros((i,), pk.bool_), pk.zeros((i,), pk.i64)
    o[i, 5] = 0.0
    for k in pk.tiles(x.shape[1]):
        part = x[i, k]
        s += w[i] * (part.sum(1) / 3) + part.sum(1)
        squares -= -(part * part).sum(1) * 2.0
        largest = part.max(1, keepdims=True)
        where = pk.where(
            largest[:, 0] > high[:, 0], pk.where(part == largest, pk.positions(k), 1 << 40).min(1), where
        )
        high = pk.maximum(high, largest)
        low = pk.minimum(low, part.min(1, keepdims=True))
        weight = weight * (1 + part / 100).prod(1)
        some |= (part > 0.9).any(1)
        o[i, 5] += part.sum(1)
    o[i, 0], o[i, 1], o[i, 2], o[i, 3], o[i, 4] = s, squares, high[:, 0] - low[:, 0], weight, where
    o[i, 6] = some


@each_device
def test_accumulations(device, rng):
    x, w = rng.random((11, 20)), rng.random(11)
    o = np.full((11, 7), 9.0)
    accumulated(o, x, w, ndrange=11, device=device)
    total = x.sum(1)
    expected = [
        w * total / 3 + total, 2 * (x * x).sum(1), np.ptp(x, 1), (1 + x / 100).prod(1), x.argmax(1), total,
        (x > 0.9).any(1),
    ]  # fmt: skip
    np.testing.assert_allclose(o, np.transpose(expected), rtol=1e-12)


@pk.kernel
def guarded_softmax(o, x, length):
    """Rows of which nothing is left, base 2, sums in two steps."""
    i = pk.tile()
    m, d = pk.full((i, 1), -pk.inf, pk.f64), pk.zeros((i, 1), pk.f64)
    acc = pk.zeros((i, 3), pk.f64)
    for k in pk.tiles(x.shape[1]):
        s = pk.where(pk.positions(k) < length[i][:, None], x[i, k], -pk.inf)
        new = pk.maximum(m, s.max(1, keepdims=True))
        safe = pk.where(new == -pk.inf, 0.0, new)
        scale, p = pk.exp2(m - safe), pk.exp2(s - safe)
        d *= scale
        d += p.sum(1, keepdims=True)
        acc *= scale
        acc += p @ x[k, :3]
        m = new
    o[i] = acc / pk.where(d == 0, 1.0, d)


@each_device
def test_running_softmax(device, rng):
    x, length = rng.standard_normal((13, 13)), rng.integers(0, 14, 13)
    o = np.full((13, 3), 9.0)
    guarded_softmax(o, x, length, ndrange=13, device=device)
    e = np.where(np.arange(13) < length[:, None], 2.0**x, 0)
    np.testing.assert_allclose(o, e @ x[:, :3] / np.maximum(e.sum(1, keepdims=True), 1e-300), rtol=1e-12)
