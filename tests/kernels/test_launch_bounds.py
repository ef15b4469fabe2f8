"""Launches that would go outside of their arrays are refused before they begin, and right ones never are."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

import pykern as pk
from pykern.errors import AssertionFailed, OutOfBounds
from pykern.runtime.launchable import SUPPORTED
from tests.cases.emulated import EMULATED
from tests.cases.texts import written

N = 8
DEVICES = pytest.mark.parametrize(
    "device", ["cpu", "opencl:0", "vulkan:0", "webgpu:0", *EMULATED], indirect=True
)


class Pair(NamedTuple):
    x: np.ndarray
    shift: int


def double(y, x):
    i = pk.index()
    y[i] = 2 * x[i]


def shifted(y, x):
    i = pk.index()
    y[i] = x[i + 1]


def before(y, x):
    i = pk.index()
    y[i] = x[i - 1]


def reverse(y, x):
    i = pk.index()
    y[x.shape[0] - 1 - i] = x[i]


def flat(y, x):
    i, j = pk.index()
    y[i * x.shape[0] // 2 + j] = x[j]


def rows(y, x):
    i = pk.index()
    for k in range(x.shape[0] + 1):
        y[i] += x[k]


def triangle(y, x):
    i = pk.index()
    for k in range(i):
        y[i] += x[i + k]


def guarded(y, x):
    i = pk.index()
    if i <= x.shape[0]:
        y[i] = x[i]


def accumulate(y, x):
    i = pk.index()
    pk.atomic_add(y, i, x[0])


def constant(y, x):
    i = pk.index()
    if i == 0:
        y[N] = x[-1]


def local(y, x):
    s = pk.shared(4, pk.f32)
    i, k = pk.index(), pk.local_index()
    s[k] = x[i]
    pk.barrier()
    y[i] = s[k]


WRONG = {
    "ndrange": (double, N + 1, {}),
    "far beyond": (double, 10**6, {}),
    "behind": (shifted, N, {}),
    "negative": (before, N, {}),
    "start": (double, (range(2, N + 2),), {}),
    "falling": (double, (range(N - 1, -2, -1),), {}),
    "reversed": (reverse, N + 1, {}),
    "flat": (flat, (2, N), {}),
    "loop": (rows, N, {}),
    "loop as long as the index": (triangle, N, {}),
    "guard that lets too much in": (guarded, 2 * N, {}),
    "atomic": (accumulate, N + 1, {}),
    "written as a constant": (constant, N, {}),
    "shared": (local, N, {"workgroup": N}),
}


def arrays(device: str):
    y, x = np.zeros(N, np.float32), np.arange(N, dtype=np.float32)
    return (y, x) if device in ("cpu", "python") else (pk.array(y, device=device), pk.array(x, device=device))


def on_host(array) -> np.ndarray:
    return array.numpy() if isinstance(array, pk.Array) else np.asarray(array)


@DEVICES
@pytest.mark.parametrize("case", WRONG)
def test_nothing_runs_that_would_go_outside(case, device):
    function, space, keywords = WRONG[case]
    y, x = arrays(device)
    for _ in range(3):  # through Python, and from compiled entries
        with pytest.raises(OutOfBounds, match="is outside of") as caught:
            pk.kernel(function)(y, x, ndrange=space, **keywords)
        assert not on_host(y).any(), "something has run"
    error = caught.value
    assert error.span is not None and error.span.function == function.__name__
    assert "[" in error.span.source_line()[error.span.column : error.span.end_column] or case == "atomic"
    if case not in ("shared", "written as a constant"):  # plain Python says so of the same line
        with pytest.raises(OutOfBounds) as plain:
            pk.kernel(function)(*arrays("python"), ndrange=space, device="python", **keywords)
        assert plain.value.span is not None and plain.value.span.line == error.span.line


@DEVICES
def test_each_launch_is_looked_at(device):
    """Also where the launch before was right, and a compiled entry takes the call."""
    kernel = pk.kernel(double)
    y, x = arrays(device)
    for _ in range(5):
        kernel(y, x, ndrange=N)
        np.testing.assert_array_equal(on_host(y), 2 * np.arange(N))
        with pytest.raises(OutOfBounds, match=f"index {N} is outside of `x`, whose shape is {N}"):
            kernel(y, x, ndrange=N + 1)


def test_the_message_says_what_and_where():
    kernel = pk.kernel(shifted)
    with pytest.raises(OutOfBounds) as caught:
        kernel(*arrays("cpu"), ndrange=N)
    text = str(caught.value)
    assert f"index {N} is outside of `x`, whose shape is {N}" in text
    assert "y[i] = x[i + 1]" in text and "^^^^^^^^" in text
    assert f"work-item {N - 1} would make this access" in text


RIGHT = {
    "guard": ("if i < x.shape[0]: y[i] = x[i]", 100),
    "guard by a scalar": ("if i < n: y[i] = x[i]", 100),
    "guards that meet": ("if i >= 3 and 2 * i < n: y[2 * i] = x[i - 3]", 100),
    "either": ("if not (i >= n or i < 1): y[i] = x[i - 1]", 100),
    "early return": ("if i >= n: return\n    y[i] = x[i]", 100),
    "short circuit": ("if i < n and x[i] >= 0: y[i] = x[i]", 100),
    "conditional expression": ("y[0] = x[i] if i < n else x[0]", 100),
    "index by a condition": ("y[i if i < n else 0] = 1", 100),
    "data": ("if x[0] > 1: y[i] = x[i]", 100),
    "index of data": ("y[int(x[i])] = x[i]", 8),
    "loop of no turns": ("for k in range(n, n): y[i] = x[i]", 100),
    "loop that rises too far for its bound": ("for k in range(i, n): y[k] = x[k]", 100),
    "loop that ends": ("for k in range(100):\n        if k >= n: break\n        y[k] = x[k]", 8),
    "while": ("k = i\n    while k < n:\n        y[k] = x[k]\n        k += 1", 100),
    "remainder": ("y[i % n] = x[i % x.shape[0]]", 100),
    "quotient": ("y[i // 100] = x[i // 13]", 100),
    "shift": ("y[i >> 4] = x[i & 7]", 100),
    "clamped": ("y[min(i, n - 1)] = x[max(0, min(n - 1, i - 5))]", 100),
    "no work-items": ("y[i] = x[i + 100]", 0),
    "never": ("if n < 0: y[i + 100] = x[i]", 8),
    "not equal": ("if i != 0: y[i - 1] = x[i]", 8),
    "uneven groups": ("y[i] = x[i] * pk.group_size()", 7),
    "local index": ("y[pk.local_index() // 16] = 1.0", 100),
    "group index": ("y[pk.group_index() // 16] = 1.0", 100),
}


@pytest.mark.filterwarnings("ignore:every work-item of:RuntimeWarning")
@pytest.mark.parametrize("case", RIGHT)
def test_what_is_right_is_never_refused(case, tmp_path):
    body, space = RIGHT[case]
    path = tmp_path / "right.py"
    names = written(
        path, f"import pykern as pk\n\n@pk.kernel\ndef k(y, x, n):\n    i = pk.index()\n    {body}\n"
    )
    kernel = names["k"]
    for _ in range(2):
        (y, x), (expected, _) = arrays("cpu"), arrays("python")
        kernel(y, x, N, ndrange=space)
        if case not in ("conditional expression", "clamped", "remainder", "quotient", "shift", "local index"):
            kernel(expected, x, N, ndrange=space, device="python")
            np.testing.assert_array_equal(y, expected)


def test_scalars_and_fields_count():
    @pk.kernel
    def k(y, p):
        i = pk.index()
        y[i] = p.x[i + p.shift]

    y, x = arrays("cpu")
    k(y, Pair(x, 2), ndrange=N - 2)
    np.testing.assert_array_equal(y[:-2], x[2:])
    with pytest.raises(OutOfBounds, match=r"index 8 is outside of `p.x`"):
        k(y, Pair(x, 3), ndrange=N - 2)


def test_lengths_of_views_count_not_those_of_their_memory():
    kernel = pk.kernel(double)
    memory, x = np.zeros(4 * N, np.float32), np.arange(N, dtype=np.float32)
    for _ in range(3):
        kernel(memory[:N], x, ndrange=N)
        kernel(memory[::4], x, ndrange=N)
        for view in (memory[: N - 1], memory[: 4 * N - 4 : 4]):
            with pytest.raises(OutOfBounds, match=f"index {N - 1} is outside of `y`, whose shape is {N - 1}"):
                kernel(view, x, ndrange=N)
    assert not memory[N : 4 * N : 4][1:].any() or memory[4:8].any()


def test_an_empty_array_has_no_elements():
    with pytest.raises(OutOfBounds):
        pk.kernel(double)(np.zeros(0), np.zeros(0), ndrange=1)
    pk.kernel(double)(np.zeros(0), np.zeros(0), ndrange=0)


@pytest.mark.skipif(not SUPPORTED, reason="calls go through Python in this build of CPython")
def test_static_index_spaces_and_groups():
    kernel = pk.kernel(double, ndrange=N + 1, workgroup=4)
    big = np.zeros(N + 1, np.float32)
    kernel(big, big.copy())
    for _ in range(3):
        with pytest.raises(OutOfBounds):
            kernel(*arrays("cpu"))


@pytest.mark.parametrize("level", ["auto", "direct"])
def test_derivatives_are_looked_at(level):
    gradient = pk.autodiff(pk.kernel(double), level=level)
    y, x = arrays("cpu")
    dy, dx = np.ones_like(y), np.zeros_like(x)
    gradient(pk.Dup(y, dy), pk.Dup(x, dx), ndrange=N)
    np.testing.assert_array_equal(dx, np.full(N, 2.0))
    for _ in range(2):
        with pytest.raises(OutOfBounds):
            gradient(pk.Dup(y, dy), pk.Dup(x, dx), ndrange=N + 1)


@pk.kernel
def launched(y, x):
    i = pk.index()
    y[i] = 2 * x[i]


@pk.jit
def program(x, c):
    y = pk.zeros(N)
    if c[0] > 0:
        launched(y, x, ndrange=N + 1)
    return y


@pk.jit
def moved(x):
    y = pk.zeros(N)
    launched(y, x, ndrange=(range(1, N + 1),))
    return pk.sum(y)


@DEVICES
def test_launches_of_programs(device):
    x, yes, no = (pk.array(np.array(v), device=device) for v in (np.ones(N), [1.0], [0.0]))
    np.testing.assert_array_equal(on_host(program(x, no)), np.zeros(N))  # it does not come by
    for _ in range(2):
        with pytest.raises(OutOfBounds, match=f"index {N} is outside of `x`, whose shape is {N}"):
            on_host(program(x, yes))  # devices tell when they are waited for
        with pytest.raises(OutOfBounds, match=f"index {N} is outside of `x`, whose shape is {N}"):
            on_host(moved(x))


def test_gradients_of_programs():
    with pytest.raises(OutOfBounds, match=f"index {N} is outside of `x`"):
        pk.grad(moved)(np.ones(N))


@DEVICES
def test_graphs(device):
    y, x = arrays(device)
    kernel = pk.kernel(double)
    with pytest.raises(OutOfBounds):  # noqa: PT012 - either where it is written down, or where it runs
        with pk.graph() as g:
            kernel(y, x, ndrange=N + 1)
        g.replay()
    assert not on_host(y).any()


def test_an_assert_that_comes_first_is_what_is_told():
    @pk.kernel
    def k(y, x):
        i = pk.index()
        assert i < x.shape[0], "too many work-items"
        y[i] = x[i]

    y, x = arrays("cpu")
    k(y, x, ndrange=N)
    np.testing.assert_array_equal(y, x)
    with pytest.raises(AssertionFailed, match="too many work-items"):
        k(y, x, ndrange=100_000)


def test_numbers_of_a_launch_that_wrap_are_not_taken_for_others():
    @pk.kernel
    def k(y, n):
        i = pk.index()
        y[i * n * 4] = 1.0

    y = np.zeros(N)
    k(y, 1 << 62, ndrange=2)  # 1 << 64 is 0
    np.testing.assert_array_equal(y, [1.0] + [0.0] * (N - 1))
