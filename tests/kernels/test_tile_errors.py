"""What tile kernels refuse, and where the error points."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest

import pykern as pk

X = np.arange(12.0).reshape(4, 3)
BOTH = pytest.mark.parametrize("device", ["cpu", "python"])


@pk.kernel
def both(o, x):
    i = pk.tile()
    k = pk.index()
    o[i] = x[i] + k


@pk.kernel
def group_memory(o, x):
    i = pk.tile()
    s = pk.shared((4,), pk.f32)
    o[i] = x[i] + s[0]


@pk.kernel
def own_axis(o, x):
    i = pk.tile()
    o[i] = x[i] / x[i].sum()


@pk.kernel
def whole_beside(o, x):
    i = pk.tile()
    o[i] = x[i] + x


@pk.kernel
def two_tiles(o, x):
    i, j = pk.tile()
    o[i, j] = x[i, 0] + x[j, 0]


@pk.kernel
def same_rows(o, x):
    i, j = pk.tile()
    o[j] = x[i, j].sum(0)


@pk.kernel
def others(o, x):
    i = pk.tile()
    o[i] = x[i] + o[i + 1]


@pk.kernel
def whole_of_written(o, x):
    i = pk.tile()
    o[i] = x[i] + o.sum(0)


@pk.kernel
def beside(o, x):
    i = pk.tile()
    o[i] = x[i + 1]


@pk.kernel
def in_a_branch(o, x, n):
    if n > 2:
        i = pk.tile()
        o[i] = x[i]


@pk.kernel
def twice(o, x):
    i = pk.tile()
    j = pk.tile()
    o[i] = x[j]


@pk.kernel
def length(o, x):
    i = pk.tile()
    o[i] = x[i] * x[i].shape[0]


@pk.kernel
def returned(o, x):
    i = pk.tile()
    o[i] = x[i]
    return o[i]


@pk.kernel
def no_size(o, x):
    i = pk.tile(0)
    o[i] = x[i]


@pk.kernel
def plain(o, x):
    i = pk.tile()
    o[i] = x[i]


@pk.kernel
def scattered(o, x, k):
    i = pk.tile()
    o[k[i]] = x[i]
    x[i] = o[i]


@pk.kernel
def without_a_tile(o, x):
    for k in pk.tiles(x.shape[0]):
        o[k] = x[k]


@pk.kernel
def size_as_the_end(o, x):
    i = pk.tile()
    for k in pk.tiles(x.shape[1], 2):
        o[i, k] = x[i, k]


@pk.kernel
def jagged(o, x, ends):
    i = pk.tile(1)
    for k in pk.tiles(ends[i], ends[i + 1]):
        o[i] = x[k].sum(0)


@pk.kernel
def sorted_across(o, x):
    i = pk.tile()
    o[i] = np.sort(x[i], axis=0)


@pk.kernel
def pairs_of_others(o, x):
    i = pk.tile()
    o[2 * i] = x[i]
    o[i] = x[i]


@pk.kernel
def pairs_beyond(o, x):
    i = pk.tile()
    o[i] = x[2 * i]


REFUSED = [
    (both, (), 4, pk.KernelSyntaxError, "pk.index() is of work-items", "k = pk.index()"),
    (group_memory, (), 4, pk.KernelSyntaxError, "pk.shared() is of work-items", "s = pk.shared"),
    (own_axis, (), 4, pk.KernelTypeError, "how large the tiles are", "x[i].sum()"),
    (whole_beside, (), 4, pk.KernelTypeError, "the axis of the tile `i` is matched with a length of 4", "x[i] + x"),
    (two_tiles, (), (4, 4), pk.KernelTypeError, "the tile `i` is matched with the axis of the tile `j`", "x[i, 0]"),
    (same_rows, (), (4, 3), pk.KernelTypeError, "how large the tiles are", "o[j] = x[i, j].sum(0)"),
    (others, (), range(3), pk.KernelTypeError, "that other tiles write", "o[i + 1]"),
    (whole_of_written, (), 4, pk.KernelTypeError, "that other tiles write", "o.sum(0)"),
    (beside, (), 4, pk.KernelTypeError, "reaches outside of axis 0", "x[i + 1]"),
    (in_a_branch, (3,), 4, pk.KernelSyntaxError, "no statement of its own", "def in_a_branch"),
    (twice, (), 4, pk.KernelSyntaxError, "stands once", "j = pk.tile()"),
    (length, (), 4, pk.KernelTypeError, "the length of the tile `i`", "x[i].shape[0]"),
    (returned, (), 4, pk.KernelSyntaxError, "returns a value", "def returned"),
    (no_size, (), 4, pk.LaunchError, "the size of a tile is at least 1", "pk.tile(0)"),
    (plain, (), (range(3, -1, -1),), pk.KernelTypeError, "run forwards", "pk.tile()"),
    (without_a_tile, (), 1, pk.KernelSyntaxError, "no statement of its own", "def without_a_tile"),
    (size_as_the_end, (), 4, pk.KernelTypeError, "pk.tiles(3, 2) ends before it begins", "pk.tiles(x.shape[1], 2)"),
    (jagged, (np.arange(5),), 4, pk.KernelTypeError, "known when compiling, and this is", "pk.tiles(ends[i]"),
    (sorted_across, (), 4, pk.KernelTypeError, "this sorts along the axis of the tile `i`", "np.sort"),
    (pairs_of_others, (), 2, pk.KernelTypeError, "that other tiles write", "o[i] = x[i]"),
    (pairs_beyond, (), 4, pk.KernelTypeError, "the tile `i` reaches outside of axis 0", "x[2 * i]"),
    (scattered, (np.arange(4),), 4, pk.KernelTypeError, "of which tiles write what indices name", "x[i] = o[i]"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("kernel", "more", "ndrange", "kind", "reason", "line"),
    REFUSED,
    ids=lambda v: getattr(v, "__name__", None),
)
def test_what_the_compiler_refuses(kernel, more, ndrange, kind, reason, line):
    o = X.copy()
    with pytest.raises(kind) as refused:
        kernel(o, X, *more, ndrange=ndrange, device="cpu")
    assert reason in str(refused.value)
    assert line in refused.value.span.source_line()
    np.testing.assert_array_equal(o, X)


def test_plain_python_refuses_what_depends_on_sizes():
    """It has sizes of tiles of its own, so it would give other numbers."""
    for kernel, more, ndrange, kind, reason, line in REFUSED:
        if kind is pk.KernelTypeError:
            o = X.copy()
            with pytest.raises(kind) as refused:
                kernel(o, X, *more, ndrange=ndrange, device="python")
            assert reason in str(refused.value)
            assert refused.value.span is not None and line in refused.value.span.source_line()
            np.testing.assert_array_equal(o, X)


def test_all_tiles_write_the_same_elements():
    @pk.kernel
    def over_all(o, x):
        _i, j = pk.tile()
        o[0, j] = x[0, j]

    with pytest.raises(pk.KernelTypeError, match="all tiles of `_i` write the same elements"):
        over_all(X.copy(), X, ndrange=X.shape)
    o = np.zeros_like(X)
    over_all(o, X, ndrange=(1, 3))  # one tile, and no others
    np.testing.assert_array_equal(o[0], X[0])


@BOTH
def test_launches_that_do_not_fit(device):
    o, call = X.copy(), cast(Any, plain)
    for keywords, reason in (
        ({}, "without an ndrange"),
        ({"ndrange": 4, "workgroup": 2}, "workgroup= is for work-items"),
        ({"ndrange": 4, "shared_bytes": 2}, "shared_bytes= is for work-items"),
        ({"ndrange": 4, "tile": (2, 2)}, "tile= has 2 sizes, and the ndrange 1 dimension"),
        ({"ndrange": 4, "tile": 0}, "at least 1, and not 0"),
        ({"ndrange": 4, "tile": 2.5}, "sizes are integers"),
    ):
        with pytest.raises(pk.LaunchError, match=reason):
            call(o, X, device=device, **keywords)
    with pytest.raises(pk.KernelSyntaxError, match="of work-items"):
        both(o, X, ndrange=4, device=device)
    fixed = X.copy()
    fixed.flags.writeable = False
    with pytest.raises(pk.LaunchError, match="read-only"):
        plain(fixed, X, ndrange=4, device=device)


def test_memory_that_overlaps_is_refused():
    x = X.copy()
    with pytest.raises(pk.LaunchError, match="overlaps it"):
        plain(x[1:], x[:-1], ndrange=3)


def test_names_of_tiles_outside_of_kernels():
    for call in (pk.tile, lambda: pk.tiles(3)):
        with pytest.raises(pk.KernelError, match="only works inside a kernel"):
            call()

    @pk.jit
    def program(x):
        i = pk.tile()
        return x[i]

    with pytest.raises(pk.KernelSyntaxError, match="`tile` is not available in array programs"):
        program(X)


def test_derivatives_that_are_not_taken():
    do = np.ones_like(X)
    for mode in ("forward", "reverse"):
        made = pk.autodiff(plain, mode=mode, level="direct")
        with pytest.raises(pk.NotDifferentiable, match="on whole arrays"):
            made(pk.Dup(X.copy(), do), pk.Dup(X, np.zeros_like(X)), ndrange=4)


def test_only_some_checks_are_for_tiles():
    def copied(o, x):
        i = pk.tile()
        o[i] = x[i]

    for kernel in (pk.kernel(copied, timeout=1.0), pk.kernel(copied, debug="races")):
        with pytest.raises(pk.LaunchError, match="which is for work-items"):
            kernel(X.copy(), X, ndrange=4)
