"""Conditions that are linear in an id decide which work-items run, on every device, for every number in them."""

import itertools

import numpy as np
import pytest

import pykern as pk
from tests.cases.row_kernels import of_lines

OUTER = ("i <= n", "True")
INNER = ("i <= k", "i >= 0", "k - i >= 0", "k - i <= n", "-i <= k", "n - 2 * i >= k", "i - k > 0")


@pytest.mark.parametrize("outer", OUTER)
@pytest.mark.parametrize("inner", INNER)
def test_which_work_items_run(outer, inner, device, tmp_path):
    condition = f"{outer} and {inner}"
    marked = of_lines(f"if {condition}:\n    o[i] = 1", tmp_path, "o, n, k")
    for count, n, k in itertools.product((11, 300), (0, 5, 17), (-3, 0, 1, 300)):
        o = pk.zeros(320, pk.i32, device=device)
        marked(o, n, k, ndrange=count)
        i = np.arange(320)
        wanted = eval(f"({condition.replace(' and ', ') & (')})", {"i": i, "n": n, "k": k}) & (i < count)
        np.testing.assert_array_equal(o.numpy(), wanted, f"{condition}, {count}, {n}, {k}")


@pytest.mark.parametrize("n", [0, 3, 10, 14, 20])
def test_an_antidiagonal(n, device):
    """Each launch of an edit distance, or of a sweep, is one of these."""

    @pk.kernel
    def mark(d, k):
        i = pk.index()
        j = k - i
        if i < d.shape[0] and j >= 0 and j < d.shape[1]:
            d[i, j] = i + 1

    d = pk.zeros((11, 7), pk.i32, device=device)
    mark(d, n, ndrange=11)
    i, j = np.indices((11, 7))
    np.testing.assert_array_equal(d.numpy(), np.where(i + j == n, i + 1, 0))
