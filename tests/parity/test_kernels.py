"""Cases of work-item kernel systems (KernelAbstractions.jl, TinyKernels.jl), on every device."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk

RTOL32 = np.sqrt(np.finfo(np.float32).eps)
RTOL64 = np.sqrt(np.finfo(np.float64).eps)


# -- triad over inner and boundary ranges -------------------------------------------------------


@pk.kernel
def triad1(a, b, c, s):
    i = pk.index()
    a[i] = b[i] + s * c[i]


@pk.kernel
def triad2(a, b, c, s):
    i, j = pk.index()
    a[i, j] = b[i, j] + s * c[i, j]


@pk.kernel
def triad3(a, b, c, s):
    i, j, k = pk.index()
    a[i, j, k] = b[i, j, k] + s * c[i, j, k]


def boundary(shape: tuple[int, ...], width: int) -> tuple[tuple, list[tuple]]:
    """The inner range, and ranges that cover the rest once each."""
    inner = tuple(range(width, n - width) for n in shape)
    sides = []
    for d, n in enumerate(shape):
        for part in (range(width), range(n - width, n)):
            sides.append((*inner[:d], part, *(range(m) for m in shape[d + 1 :])))
    return inner, sides


@pytest.mark.parametrize(("kernel", "shape"), [(triad1, (10,)), (triad2, (10, 11)), (triad3, (10, 11, 12))])
def test_triad_inner_then_boundary(kernel, shape: tuple[int, ...], device: str) -> None:
    a, b, c = np.zeros(shape), np.full(shape, 1.0), np.full(shape, 2.0)
    inner, sides = boundary(shape, 3)
    kernel(a, b, c, -1.0, ndrange=inner, device=device).wait()
    middle = tuple(slice(3, n - 3) for n in shape)
    assert (a[middle] == -1.0).all()
    assert np.count_nonzero(a) == a[middle].size
    pk.wait([kernel(a, b, c, -1.0, ndrange=side, device=device) for side in sides])
    assert (a == -1.0).all()


def test_a_list_of_ranges_is_a_launch_each(device: str) -> None:
    a = np.zeros((10, 11))
    _, sides = boundary(a.shape, 3)
    count2(a, ndrange=sides, device=device)
    expected = np.ones_like(a)
    expected[3:-3, 3:-3] = 0
    np.testing.assert_array_equal(a, expected)


@pk.kernel
def count2(a):
    i, j = pk.index()
    a[i, j] += 1


@pytest.mark.parametrize("extent", [range(4, 17, 3), range(16, 3, -3), range(5, 5), range(1, 19)])
def test_ranges_with_offset_and_stride(extent: range, device: str) -> None:
    a = np.zeros(20)
    fill(a, 1.0, ndrange=extent, device=device)
    expected = np.zeros(20)
    expected[list(extent)] = 1
    np.testing.assert_array_equal(a, expected)


@pk.kernel
def fill(a, v):
    i = pk.index()
    a[i] = v


# -- partition ----------------------------------------------------------------------------------


@pk.kernel(workgroup=64)
def groups_of_64(group, local):
    i = pk.index()
    group[i] = pk.group_index()
    local[i] = pk.local_index()


@pk.kernel(ndrange=128)
def exactly_128(a):
    i = pk.index()
    a[i] = 1


@pytest.mark.parametrize("n", [128, 129])
def test_partition(n: int, device: str) -> None:
    group, local = np.full(n, -1), np.full(n, -1)
    groups_of_64(group, local, ndrange=n, device=device)
    np.testing.assert_array_equal(group, np.arange(n) // 64)
    np.testing.assert_array_equal(local, np.arange(n) % 64)
    assert group.max() + 1 == pk.cdiv(n, 64)


def test_static_sizes_refuse_others(device: str) -> None:
    a = np.zeros(129, np.int64)
    with pytest.raises(pk.LaunchError, match="static workgroup 64"):
        groups_of_64(a, a.copy(), ndrange=128, workgroup=65, device=device)
    with pytest.raises(pk.LaunchError, match="static ndrange 128"):
        exactly_128(a, ndrange=129, device=device)
    exactly_128(a, ndrange=128, device=device)
    assert a.sum() == 128
    exactly_128(a, device=device)


# -- index --------------------------------------------------------------------------------------


@pk.kernel
def linear_index(a):
    i, j = pk.index()
    a[i, j] = i * pk.ndrange(1) + j


@pk.kernel
def local_of(a):
    i = pk.index()
    a[i] = pk.local_index()


@pk.kernel
def local_of_2(a):
    i, j = pk.index()
    a[i, j] = pk.local_index(0) * pk.group_size(1) + pk.local_index(1)


@pytest.mark.parametrize("shape", [(16, 16), (7, 7), (1, 5), (9, 2)])
def test_global_index(shape: tuple[int, int], device: str) -> None:
    a = np.zeros(shape, np.int64)
    linear_index(a, ndrange=shape, workgroup=8, device=device)
    np.testing.assert_array_equal(a, np.arange(a.size).reshape(shape))


@pytest.mark.parametrize("n", [8, 16, 5])
def test_local_index(n: int, device: str) -> None:
    a = np.zeros(n, np.int64)
    local_of(a, ndrange=n, workgroup=8, device=device)
    np.testing.assert_array_equal(a, np.arange(n) % 8)


def test_local_index_2d(device: str) -> None:
    a = np.zeros((8, 8), np.int64)
    local_of_2(a, ndrange=a.shape, workgroup=(8, 2), device=device)
    np.testing.assert_array_equal(a, np.arange(8)[:, None] * 2 + np.arange(8) % 2)


# -- early return, empty ------------------------------------------------------------------------


@pk.kernel
def first_half(a):
    i = pk.index()
    if i >= a.shape[0] // 2:
        return
    a[i] = i + 1


def test_early_return(device: str) -> None:
    a = np.zeros(1024)
    first_half(a, ndrange=1024, device=device)
    np.testing.assert_array_equal(a[:512], np.arange(1, 513))
    assert not a[512:].any()


@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 9)])
def test_empty(shape: tuple[int, ...], device: str) -> None:
    a = np.zeros(shape)
    (fill if len(shape) == 1 else linear_index)(
        *((a, 1.0) if len(shape) == 1 else (a,)), ndrange=shape, device=device
    )


def test_nothing_runs_in_an_empty_ndrange(device: str) -> None:
    a = np.zeros((3, 3), np.int64)
    linear_index(a, ndrange=(3, 0), device=device)
    linear_index(a, ndrange=(0, 3), device=device)
    assert not a.any()


# -- accumulation -------------------------------------------------------------------------------


@pk.kernel
def accumulate_in_memory(out, a):
    i, j = pk.index()
    for k in range(j, a.shape[1]):
        out[i, j] += a[i, k]


@pk.kernel
def accumulate_locally(out, a):
    i, j = pk.index()
    total = 0.0
    for k in range(j, a.shape[1]):
        total += a[i, k]
    out[i, j] = total


@pytest.mark.parametrize("kernel", [accumulate_in_memory, accumulate_locally])
def test_unaliased_accumulate(kernel, device: str) -> None:
    a = np.arange(40.0).reshape(5, 8)
    out = np.zeros_like(a)
    kernel(out, a, ndrange=a.shape, device=device)
    np.testing.assert_array_equal(out, np.cumsum(a[:, ::-1], axis=1)[:, ::-1])


# -- shared and private memory ------------------------------------------------------------------


@pk.kernel(workgroup=16)
def reverse_groups(a):
    i, here = pk.index(), pk.local_index()
    tile = pk.shared(16, pk.i64)
    tile[here] = a[i]
    pk.barrier()
    a[i] = tile[15 - here]


@pk.kernel(workgroup=16)
def reverse_in_a_loop(a):
    i, here = pk.index(), pk.local_index()
    tile = pk.shared(16, pk.i64)
    for _ in range(3):
        tile[here] = a[i]
        pk.barrier()
        a[i] = tile[15 - here]
        pk.barrier()


@pk.kernel(workgroup=16)
def reverse_with_two_buffers(a):
    i, here = pk.index(), pk.local_index()
    one = pk.shared(16, pk.i64)
    two = pk.shared((16,), pk.i64)
    one[here] = a[i]
    pk.barrier()
    two[here] = one[15 - here]
    pk.barrier()
    a[i] = two[here]


@pytest.mark.parametrize("kernel", [reverse_groups, reverse_in_a_loop, reverse_with_two_buffers])
def test_local_memory(kernel, device: str) -> None:
    a = np.arange(64)
    kernel(a, ndrange=64, device=device)
    np.testing.assert_array_equal(a, np.arange(64).reshape(4, 16)[:, ::-1].ravel())


@pk.kernel(workgroup=16)
def guarded_reverse(a, n):
    i, here = pk.index(), pk.local_index()
    tile = pk.shared(16, pk.i64)
    if i >= n:
        return
    tile[here] = a[i]
    pk.barrier()
    a[i] = tile[15 - here] if i - here + 15 < n else -1


def test_barrier_after_an_early_return(device: str) -> None:
    a = np.arange(64)
    guarded_reverse(a, 40, ndrange=64, device=device)
    np.testing.assert_array_equal(a[:32], np.arange(32).reshape(2, 16)[:, ::-1].ravel())
    assert (a[32:40] == -1).all()
    np.testing.assert_array_equal(a[40:], np.arange(40, 64))


@pk.kernel(workgroup=8)
def private_survives(out, a):
    i = pk.index()
    mine = pk.private(3, pk.f64)
    for k in range(3):
        mine[k] = a[i, k]
    pk.barrier()
    total = 0.0
    for k in range(3):
        total += mine[k]
    out[i] = total


def test_private_memory_survives_a_barrier(device: str) -> None:
    out = np.zeros(64)
    private_survives(out, np.ones((64, 3)), ndrange=64, device=device)
    assert (out == 3.0).all()


@pk.kernel(workgroup=4)
def many_barriers(out):
    i = pk.index()
    cells = pk.private(64, pk.i64)
    for k in pk.unroll(range(64)):
        cells[k] = i + k
        pk.barrier()
    total = 0
    for k in pk.unroll(range(64)):
        total += cells[k]
    out[i] = total


def test_64_privates_and_64_barriers(device: str) -> None:
    out = np.zeros(8, np.int64)
    many_barriers(out, ndrange=8, device=device)
    np.testing.assert_array_equal(out, np.arange(8) * 64 + 63 * 32)


@pk.kernel(workgroup=4)
def nested_unroll(out):
    i = pk.index()
    total = 0
    for a in pk.unroll(range(3)):
        for b in pk.unroll(range(2)):
            pk.barrier()
            total += a * 10 + b
    out[i] = total


def test_nested_unroll_with_a_barrier(device: str) -> None:
    out = np.zeros(8, np.int64)
    nested_unroll(out, ndrange=8, device=device)
    assert (out == 63).all()


# -- convert, special functions -----------------------------------------------------------------

INTEGERS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]


@pk.kernel
def convert(up, down, near, x):
    i = pk.index()
    up[i] = pk.ceil(x[i])
    down[i] = pk.floor(x[i])
    near[i] = pk.round(x[i])


@pytest.mark.parametrize("dtype", INTEGERS)
def test_convert(dtype: type, device: str) -> None:
    x = np.random.default_rng(7).uniform(0, 3, 32)
    up, down, near = (np.zeros(32, dtype) for _ in range(3))
    convert(up, down, near, x, ndrange=32, device=device)
    np.testing.assert_array_equal(up, np.ceil(x).astype(dtype))
    np.testing.assert_array_equal(down, np.floor(x).astype(dtype))
    np.testing.assert_array_equal(near, np.rint(x).astype(dtype))


@pk.kernel
def special(out, x):
    i = pk.index()
    out[0, i] = pk.gamma(x[i])
    out[1, i] = pk.erf(x[i])
    out[2, i] = pk.erfc(x[i])


def test_special_functions(device: str) -> None:
    import math

    x = np.array([1, 2, 3, 5.5, -0.5, -1e-3, 1e-3], np.float32)
    out = np.zeros((3, x.size), np.float32)
    special(out, x, ndrange=x.size, device=device)
    for row, function in enumerate((math.gamma, math.erf, math.erfc)):
        np.testing.assert_allclose(out[row], [function(float(v)) for v in x], rtol=1e-6)


# -- nd iteration -------------------------------------------------------------------------------


@pk.kernel
def add_index(a):
    i, j = pk.index()
    a[i, j] += i * 1000 + j


@pytest.mark.parametrize("group", [(32, 32), (32, 1), (1, 32)])
def test_nd_iteration(group: tuple[int, int], device: str) -> None:
    n = 256 if device == "cpu" else 64
    a = np.zeros((n, n), np.int64)
    add_index(a, ndrange=a.shape, workgroup=group, device=device)
    np.testing.assert_array_equal(a, np.arange(n)[:, None] * 1000 + np.arange(n))


@pk.kernel
def four(a):
    i, j, k, m = pk.index()
    a[i, j, k, m] = ((i * 10 + j) * 10 + k) * 10 + m


def test_four_dimensions(device: str) -> None:
    a = np.zeros((2, 3, 4, 5), np.int64)
    four(a, ndrange=a.shape, device=device)
    expected = [
        [[[((i * 10 + j) * 10 + k) * 10 + m for m in range(5)] for k in range(4)] for j in range(3)]
        for i in range(2)
    ]
    np.testing.assert_array_equal(a, expected)


# -- histogram, matmul, transpose ---------------------------------------------------------------


def histogram_kernel(group: int, bins: int):
    @pk.kernel(workgroup=group)
    def histogram(counts, values):
        i, here = pk.index(), pk.local_index()
        local = pk.shared(bins, pk.i64)
        for b in range(here, bins, group):
            local[b] = 0
        pk.barrier()
        if i < values.shape[0]:
            pk.atomic_add(local, values[i] - 1, 1)
        pk.barrier()
        for b in range(here, bins, group):
            pk.atomic_add(counts, b, local[b])

    return histogram


@pytest.mark.parametrize("case", ["random", "each", "twos"])
def test_histogram(case: str, device: str) -> None:
    group, values = {
        "random": (6, np.random.default_rng(1).integers(1, 129, 1000)),
        "each": (64, np.arange(1, 1025)),
        "twos": (256, np.full(512, 2)),
    }[case]
    bins = int(values.max())
    counts = np.zeros(bins, np.int64)
    n = pk.cdiv(values.size, group) * group
    histogram_kernel(group, bins)(counts, values, ndrange=n, device=device)
    np.testing.assert_array_equal(counts, np.bincount(values, minlength=bins + 1)[1:])


@pk.kernel
def matmul(c, a, b):
    i, j = pk.index()
    total = 0.0
    for k in range(a.shape[1]):
        total += a[i, k] * b[k, j]
    c[i, j] = total


def test_matmul_naive(device: str) -> None:
    m, k, n = (256, 123, 45) if device == "cpu" else (12, 9, 7)
    rng = np.random.default_rng(2)
    a, b = rng.random((m, k), np.float32), rng.random((k, n), np.float32)
    c = np.zeros((m, n), np.float32)
    matmul(c, a, b, ndrange=c.shape, device=device)
    np.testing.assert_allclose(c, a @ b, rtol=RTOL32)


TILE = 16


@pk.kernel(workgroup=(TILE, TILE))
def tiled_matmul(c, a, b):
    i, j = pk.index()
    row, column = pk.local_index()
    left = pk.shared((TILE, TILE + 1), pk.f32)
    right = pk.shared((TILE, TILE + 1), pk.f32)
    total = 0.0
    for start in range(0, a.shape[1], TILE):
        left[row, column] = a[i, start + column]
        right[row, column] = b[start + row, j]
        pk.barrier()
        for k in range(TILE):
            total += left[row, k] * right[k, column]
        pk.barrier()
    c[i, j] = total


def test_matmul_tiled(device: str) -> None:
    m, k, n = (256, 512, 128) if device == "cpu" else (32, 32, 16)
    rng = np.random.default_rng(3)
    a, b = rng.random((m, k), np.float32), rng.random((k, n), np.float32)
    c = np.zeros((m, n), np.float32)
    tiled_matmul(c, a, b, ndrange=c.shape, device=device)
    np.testing.assert_allclose(c, a @ b, rtol=RTOL32)


@pk.kernel
def transpose(out, a):
    i, j = pk.index()
    out[j, i] = a[i, j]


def test_transpose(device: str) -> None:
    n = 1024 if device == "cpu" else 64
    a = np.random.default_rng(4).random((n, n))
    out = np.zeros_like(a)
    transpose(out, a, ndrange=a.shape, device=device)
    np.testing.assert_array_equal(out, a.T)


# -- subgroups and group reductions -------------------------------------------------------------


@pk.kernel(workgroup=64)
def collectives(out, x):
    i = pk.index()
    out[0, i] = pk.group_reduce(x[i], "add")
    out[1, i] = pk.subgroup_reduce(x[i], "max")
    out[2, i] = pk.subgroup_scan(x[i], "add")
    out[3, i] = pk.subgroup_scan(x[i], "add", exclusive=True)
    out[4, i] = pk.subgroup_broadcast(x[i], 3)
    out[5, i] = pk.subgroup_shuffle(x[i], pk.subgroup_size() - 1 - pk.lane_index())
    out[6, i] = pk.subgroup_index()
    out[7, i] = pk.subgroup_size()


@pytest.mark.parametrize("n", [128, 160])
def test_collectives(n: int, device: str) -> None:
    x = np.random.default_rng(5).integers(0, 100, n)
    out = np.zeros((8, n), np.int64)
    collectives(out, x, ndrange=n, device=device)
    for start in range(0, n, 64):
        assert (out[0, start : start + 64] == x[start : start + 64].sum()).all()
    width = 64 if pk.device(device).info.subgroup_size == 64 else 32  # CDNA has waves of 64 lanes
    for start in range(0, n, width):
        lanes, part = x[start : start + width], slice(start, min(start + width, n))
        assert (out[1, part] == lanes.max()).all()
        np.testing.assert_array_equal(out[2, part], np.cumsum(lanes))
        np.testing.assert_array_equal(out[3, part], np.cumsum(lanes) - lanes)
        assert (out[4, part] == lanes[3]).all()
        if len(lanes) == width:  # the last lane is not there otherwise
            np.testing.assert_array_equal(out[5, part], lanes[::-1])
    np.testing.assert_array_equal(out[6], np.arange(n) % 64 // width)
    assert (out[7] == width).all()


@pk.kernel(workgroup=64)
def tree_sum(out, x):
    i, here = pk.index(), pk.local_index()
    cells = pk.shared(64, pk.f64)
    cells[here] = x[i]
    pk.barrier()
    step = 32
    while step > 0:
        if here < step:
            cells[here] += cells[here + step]
        pk.barrier()
        step //= 2
    if here == 0:
        out[pk.group_index()] = cells[0]


def test_tree_reduction_with_a_barrier_in_while(device: str) -> None:
    x = np.random.default_rng(6).random(256)
    out = np.zeros(4)
    tree_sum(out, x, ndrange=256, device=device)
    np.testing.assert_allclose(out, x.reshape(4, 64).sum(1), rtol=1e-12)


# -- atomics ------------------------------------------------------------------------------------


@pk.kernel
def atomic_each(x, old, v):
    old[0] = pk.atomic_add(x, 0, v)
    old[1] = pk.atomic_sub(x, 1, v)
    old[2] = pk.atomic_min(x, 2, v)
    old[3] = pk.atomic_max(x, 3, v)
    old[4] = pk.atomic_exchange(x, 4, v)
    old[5] = pk.atomic_compare_exchange(x, 5, 9, v)
    old[6] = pk.atomic_compare_exchange(x, 6, 8, v)


@pytest.mark.parametrize("dtype", [*INTEGERS, np.float16, np.float32, np.float64])
def test_atomics_on_every_dtype(dtype: type, device: str) -> None:
    x, old = np.full(7, 9, dtype), np.zeros(7, dtype)
    atomic_each(x, old, 5, ndrange=1, device=device)
    assert x.tolist() == [14, 4, 5, 9, 5, 5, 9]
    assert (old == 9).all()


@pk.kernel
def atomic_bits(x, old):
    old[0] = pk.atomic_and_(x, 0, 12)
    old[1] = pk.atomic_or_(x, 1, 12)
    old[2] = pk.atomic_xor(x, 2, 12)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_atomic_bits(dtype: type, device: str) -> None:
    x, old = np.full(3, 10, dtype), np.zeros(3, dtype)
    atomic_bits(x, old, ndrange=1, device=device)
    assert x.tolist() == [8, 14, 6]
    assert (old == 10).all()


@pk.kernel
def all_into_one(total, largest, x):
    i = pk.index()
    pk.atomic_add(total, 0, x[i])
    pk.atomic_max(largest, 0, x[i])


@pytest.mark.parametrize("dtype", [np.int32, np.float32, np.float64])
def test_atomics_from_all_threads(dtype: type) -> None:
    x = np.arange(200_000).astype(dtype) % 97
    total, largest = np.zeros(1, dtype), np.zeros(1, dtype)
    all_into_one(total, largest, x, ndrange=x.size)
    assert total[0] == x.astype(np.int64).sum()
    assert largest[0] == 96
