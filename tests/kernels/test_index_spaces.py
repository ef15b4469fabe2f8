"""Index spaces of one to four dimensions, with offset and stride, over dense and strided arrays."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk


@pk.kernel
def mark1(out):
    i = pk.index()
    out[i] += 1 + i


@pk.kernel
def mark2(out):
    i, j = pk.index()
    out[i, j] += 1 + 10 * i + j


@pk.kernel
def mark3(out):
    i, j, k = pk.index()
    out[i, j, k] += 1 + 100 * i + 10 * j + k


@pk.kernel
def mark4(out):
    i, j, k, l = pk.index()  # noqa: E741
    out[i, j, k, l] += 1 + 1000 * i + 100 * j + 10 * k + pk.index(3)


MARKS = {1: mark1, 2: mark2, 3: mark3, 4: mark4}
SPACES = [
    (range(3, 9),), (range(1, 9, 3),), (range(8, 0, -2),), (range(4, 4),), (7,),
    (range(2, 5), 4), (range(0, 9, 4), range(1, 8, 2)), (3, range(6, 1, -3)), (range(2, 2), 5),
    (2, range(1, 6, 2), range(3)), (range(1, 4), 0, 5), (range(5, 1, -2), 3, range(2, 7, 4)),
    (2, 3, range(1, 4), range(0, 5, 2)), (range(1, 3), 1, range(3, 0, -1), 4), (2, 2, 0, 3),
]  # fmt: skip


def expected(space: tuple) -> np.ndarray:
    rank = len(space)
    out = np.zeros((9, 9, 9, 9)[:rank], np.int64)
    ranges = [r if isinstance(r, range) else range(r) for r in space]
    for place in np.ndindex(*[len(r) for r in ranges]):
        index = tuple(r[p] for r, p in zip(ranges, place, strict=True))
        out[index] += 1 + sum(n * 10 ** (rank - 1 - d) for d, n in enumerate(index))
    return out


@pytest.mark.parametrize("space", SPACES, ids=str)
def test_every_index_once(space, device):
    out = np.zeros((9, 9, 9, 9)[: len(space)], np.int64)
    MARKS[len(space)](out, ndrange=space if len(space) > 1 else space[0], device=device)
    np.testing.assert_array_equal(out, expected(space))


@pytest.mark.parametrize(
    ("space", "group"),
    [((range(1, 8, 2),), 3), ((range(8, -1, -1),), 4), ((range(1, 6), 7), (2, 3)), ((5, range(0, 9, 4)), (4, 2)),
     ((3, range(1, 6, 2), 4), (2, 2, 3)), ((2, 3, 2, 5), (1, 2, 1, 3))],
)  # fmt: skip
def test_every_index_once_in_groups(space, group, device):
    out = np.zeros((9, 9, 9, 9)[: len(space)], np.int64)
    MARKS[len(space)](out, ndrange=space if len(space) > 1 else space[0], workgroup=group, device=device)
    np.testing.assert_array_equal(out, expected(space))


@pk.kernel(workgroup=(2, 3))
def coordinates(out):
    i, j = pk.index()
    li, lj = pk.local_index()
    gi, gj = pk.group_index()
    si, sj = pk.group_size()
    out[i, j, 0] = gi * si + li
    out[i, j, 1] = gj * sj + lj
    out[i, j, 2] = pk.ndrange(0) * 100 + pk.ndrange(1)
    out[i, j, 3] = pk.num_groups(0) * 100 + pk.num_groups(1)


@pytest.mark.parametrize("shape", [(4, 6), (5, 7), (1, 1), (3, 2)])
def test_local_and_group_make_global(shape, device):
    out = np.full((*shape, 4), -1)
    coordinates(out, ndrange=shape, device=device)
    i, j = np.indices(shape)
    np.testing.assert_array_equal(out[..., 0], i)
    np.testing.assert_array_equal(out[..., 1], j)
    assert (out[..., 2] == shape[0] * 100 + shape[1]).all()
    assert (out[..., 3] == -(-shape[0] // 2) * 100 + -(-shape[1] // 3)).all()


# -- views --------------------------------------------------------------------------------------


@pk.kernel
def combine(out, x, y):
    i, j = pk.index()
    out[i, j] = x[i, j] - 2 * y[j, i]


VIEWS = {
    "dense": lambda a: a[:6, :5].copy(),
    "part": lambda a: a[2:8, 3:8],
    "every second": lambda a: a[::2, ::2],
    "backwards": lambda a: a[5::-1, 4::-1],
    "backwards by two": lambda a: a[::-2, ::-2],
    "transposed": lambda a: a.T[:6, :5],
    "column order": lambda a: np.asfortranarray(a[:6, :5]),
}


@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.int64])
@pytest.mark.parametrize("of_out", VIEWS)
@pytest.mark.parametrize("of_x", ["dense", "part", "backwards by two", "transposed"])
def test_views(of_out, of_x, dtype, device, rng):
    backing = np.zeros((12, 10), dtype)
    out = VIEWS[of_out](backing)
    x = VIEWS[of_x](rng.integers(-20, 20, (12, 10)).astype(dtype))
    y = VIEWS[of_x](rng.integers(-20, 20, (12, 10)).astype(dtype)).T
    combine(out, x, y, ndrange=(6, 5), device=device)
    wanted = np.zeros((12, 10), dtype)
    view = VIEWS[of_out](wanted)
    view[...] = x - 2 * y.T
    np.testing.assert_array_equal(out, view)
    np.testing.assert_array_equal(backing, wanted)  # and nothing beside the view was written


@pk.kernel
def broadcast_sum(out, x):
    i, j = pk.index()
    out[i, j] = x[i, j] + x[0, j]


def test_a_view_that_repeats_its_elements(device, rng):
    row = rng.random(7)
    x, out = np.broadcast_to(row, (4, 7)), np.zeros((4, 7))
    broadcast_sum(out, x, ndrange=(4, 7), device=device)
    np.testing.assert_array_equal(out, 2 * x)


# -- zero dimensions, and arguments that may not be written ---------------------------------------


@pk.kernel
def total_of(total, x):
    pk.atomic_add(total, (), x[pk.index()])


def test_an_array_of_no_dimension(device):
    total, x = np.zeros(()), np.arange(9.0)
    total_of(total, x, ndrange=9, device=device)
    assert total == 36


def test_a_read_only_argument_is_refused(device):
    out, x = np.zeros((2, 2)), np.ones((2, 2))
    x.flags.writeable = False
    combine(out, x, x, ndrange=(2, 2), device=device)
    assert (out == -1).all()
    with pytest.raises(pk.LaunchError, match=r"`out` is read-only, and .* writes it"):
        combine(x, out, out, ndrange=(2, 2), device=device)


def test_a_list_of_lengths_is_no_tuple_of_dimensions():
    """As a list it would be launches in turn, of which the last one is seen."""

    @pk.kernel
    def fill(x):
        i, j = pk.index()
        x[i, j] = i + 10 * j

    x = np.zeros((3, 4))
    with pytest.raises(pk.LaunchError, match="is a list, which is for several launches") as caught:
        fill(x, ndrange=[3, 4])
    assert "write ndrange=(3, 4)" in str(caught.value)
    fill(x, ndrange=(3, 4))
    np.testing.assert_array_equal(x, np.add.outer(np.arange(3), 10 * np.arange(4)))


@pk.kernel
def spread(out, x):
    i, j = pk.index()
    out[i, j] = x[i - 1, j] + x[i + 1, j] + x[i, j - 1] + x[i, j + 1]


@pytest.mark.parametrize("shape", [(2, 2), (3, 3), (9, 4), (5, 40), (64, 131), (1100, 1030)], ids=str)
@pytest.mark.parametrize("strided", [False, True])
def test_ranges_of_step_one_write_the_inside_alone(shape, strided, rng):
    n, m = shape
    x = rng.random((n, 2 * m), np.float32)[:, ::2] if strided else rng.random(shape, np.float32)
    memory = np.full(n * m + 64, 7, np.float32)
    out = memory[32:-32].reshape(shape)
    expected = np.full(shape, 7, np.float32)
    spread(out, x, ndrange=(range(1, n - 1), range(1, m - 1)))
    inside = x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:]
    expected[1:-1, 1:-1] = inside
    np.testing.assert_array_equal(out, expected)
    assert (memory[:32] == 7).all() and (memory[-32:] == 7).all()


def test_one_kernel_takes_plain_ranges_ranges_of_step_one_and_others_in_turn():
    for start, stop, step in [
        (0, 9, 1),
        (2, 7, 1),
        (1, 8, 3),
        (3, 3, 1),
        (8, 2, -1),
        (0, 5, 1),
        (4, 9, 1),
    ] * 2:
        out = np.zeros(9, np.int64)
        mark1(out, ndrange=range(start, stop, step))
        np.testing.assert_array_equal(out, expected((range(start, stop, step),)))


def test_negative_coordinates():
    out = np.zeros(9, np.int64)

    @pk.kernel
    def shifted(out):
        i = pk.index()
        out[i + 4] = i

    shifted(out, ndrange=range(-4, 5))
    np.testing.assert_array_equal(out, np.arange(-4, 5))


@pytest.mark.parametrize("last", [2**63 - 1, 2**63])
def test_a_range_of_step_one_ends_within_64_bits(last):
    out = np.zeros(9, np.int64)
    with pytest.raises(pk.LaunchError, match="64 bits"):
        mark1(out, ndrange=range(last - 3, last + 1))
