"""How far kernels look, and which part of a launch needs no halo."""

import numpy as np
import pytest

import pykern as pk
from pykern.api.reach import accesses, widest
from pykern.data.access_offsets import width
from pykern.mpi.blocks import block_of, partition
from pykern.mpi.stencils import split


@pk.func
def laplacian(x, i, j):
    return x[i - 1, j] + x[i + 1, j] + x[i, j - 1] + x[i, j + 1] - 4 * x[i, j]


@pk.kernel
def star(y, x):
    i, j = pk.index()
    n, m = x.shape
    if 0 < i < n - 1 and 0 < j < m - 1:
        y[i, j] = laplacian(x, i, j)


@pk.kernel
def looped(y, x):
    i, j = pk.index()
    total = 0.0
    if 3 <= i < x.shape[0] - 3:
        for k in range(-3, 4, 2):
            total += x[i + k, j]
        y[i, j] = total


@pk.kernel
def cut(y, x):
    i, j = pk.index()
    y[i, j] = x[max(i - 1, 0), min(j + 2, x.shape[1] - 1)]


@pk.kernel
def one_sided(y, x):
    i, j = pk.index()
    if i + 1 < x.shape[0]:
        y[i, j] = x[i + 1, j] - x[i, j]


@pk.kernel
def wrapped(y, x):
    i, j = pk.index()
    y[i, j] = x[(i + 1) % x.shape[0], j]


@pk.kernel
def transposed(y, x):
    i, j = pk.index()
    y[i, j] = x[j, i]


@pk.kernel
def of_the_index_space(y, x):
    i, j = pk.index()
    y[i, j] = x[i, j] * pk.ndrange(0)


@pk.kernel
def summed(y, x):
    i, j = pk.index()
    pk.atomic_add(y, (0, 0), x[i, j])


def found(kernel, shape=(20, 30)):
    values = [("y", np.zeros(shape)), ("x", np.ones(shape))]
    alone, arrays = accesses(kernel, values, 2)
    return alone, arrays[1]


@pytest.mark.parametrize(
    ("kernel", "wanted"),
    [
        (star, (1, 1)), (looped, (3, 0)), (cut, (1, 2)), (one_sided, (1, 0)), (wrapped, None), (transposed, None),
        (of_the_index_space, (0, 0)), (summed, (0, 0)),
    ],
)  # fmt: skip
def test_widths(kernel, wanted):
    alone, x = found(kernel)
    assert width(x.reads) == wanted
    assert x.writes == ()
    assert alone == (kernel not in (of_the_index_space, summed))


def test_auto_takes_the_widest_kernel():
    assert widest({"star": star, "looped": looped, "cut": cut, "n": 3}, 2) == (3, 2)
    assert widest({"star": star}, 1) == (1,)
    assert widest({}, 3) == (1, 1, 1)
    assert pk.mpi.Grid((40, 40)).halo == (3, 2)


def middle(halo, shape=(60, 60)):
    """The block in the middle of three times three."""
    return block_of(4, shape, (3, 3), (halo, halo), (False, False))


@pytest.mark.parametrize("kernel", [star, looped, cut, one_sided])
def test_both_parts_are_the_launch(kernel, rng):
    """Together they cover each work-item once, and the interior sees nothing of the halo."""
    block = middle(3)
    x = rng.random(block.local)
    wanted, y = np.zeros_like(x), np.zeros_like(x)
    kernel(wanted, x, ndrange=x.shape)
    parts = split(kernel, [("y", y), ("x", x)], x.shape, block, [x])
    assert parts is not None
    counted = np.zeros(x.shape, int)
    for space in (parts.interior, *parts.rim):
        counted[tuple(slice(r.start, r.stop) for r in space)] += 1
    assert (counted == 1).all()
    without = np.full_like(x, np.nan)
    without[block.owned((0, 0))] = x[block.owned((0, 0))]
    kernel(y, without, ndrange=parts.interior)
    assert not np.isnan(y).any()
    for space in parts.rim:
        kernel(y, x, ndrange=space)
    np.testing.assert_array_equal(y, wanted)


@pytest.mark.parametrize("kernel", [wrapped, transposed, of_the_index_space, summed])
def test_what_cannot_be_told_apart(kernel):
    block = block_of(4, (60, 60), (3, 3), (1, 1), (False, False))
    x = np.ones(block.local)
    assert split(kernel, [("y", np.zeros_like(x)), ("x", x)], x.shape, block, [x]) is None


def test_arrays_that_are_written_or_share_memory():
    block = middle(1)
    x = np.ones(block.local)
    assert split(star, [("y", x), ("x", np.ones_like(x))], x.shape, block, [x]) is None
    assert split(star, [("y", np.ones_like(x)), ("x", x[:])], x.shape, block, [x]) is None
    assert split(star, [("y", np.ones_like(x)), ("x", x)], (5, 5), block, [x]) is None


@pytest.mark.parametrize(
    ("size", "shape", "wanted"),
    [(1, (8, 8), (1, 1)), (2, (1024, 1024), (2, 1)), (4, (1024, 1024), (4, 1)), (64, (1024, 1024), (32, 2)),
     (8, (100, 100, 100), (4, 2, 1)), (6, (4, 1000), (1, 6)), (3, (90,), (3,))],
)  # fmt: skip
def test_how_ranks_stand(size, shape, wanted):
    assert partition(size, shape, (1,) * len(shape)) == wanted


def test_blocks_cover_the_grid():
    for size in (1, 2, 3, 5, 7):
        blocks = [block_of(rank, (23, 17), (size, 1), (2, 2), (False, True)) for rank in range(size)]
        counted = np.zeros((24, 17), int)
        for block in blocks:
            counted[block.owned_globally((1, 0))] += 1
        assert (counted == 1).all()
