"""Lists, comprehensions and generators in kernels, against what Python makes of them."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk
from pykern import errors
from tests.cases.row_kernels import check

SUMS = [
    "o[i] = sum(x[i, k] * y[k] for k in range(x.shape[1]))",
    "o[i] = sum([x[i, k] for k in range(3)]) + sum(v * w for v, w in zip(x[i], y) if v > 0.5)",
    "k = 5.0\no[i] = sum((sum(x[j, k] for k in range(j % 3)) for j in range(x.shape[0]) if j != i), k) + k",
    "o[i] = y[0] + (sum(x[i, k] for k in range(3)) if i > 3 else 0)",
    "if sum(v for v in x[i]) > 3 and sum(x[i, k] for k in range(2)) > 1:\n    o[i] = 1\nelse:\n    o[i] = 2",
    "t = 0.0\nwhile t + sum(x[i, k] for k in range(2)) < 3:\n    t += 1\no[i] = t",
    "for j in range(sum(1 for v in x[i] if v > 0.5)):\n    o[i] += y[j]",
]
CHOICES = [
    "if any(v > 0.9 for v in x[i]):\n    o[i] = 1\nelif all(v < 0.8 for v in x[i]):\n    o[i] = 2\nelse:\n    o[i] = 3",
    "o[i] = 1 if any(x[i, k] * x[j, k] > 0.9 for j in range(i) for k in range(x.shape[1])) else 0",
    "o[i] = all(k == 0 or x[i, k] != x[i, k - 1] for k in range(x.shape[1])) + 2 * any(())",
    "n = x.shape[1]\no[i] = any(k == n or x[i, k] > 0.5 for k in range(n + 1))",
]
LISTS = [
    "w = [x[i, k] ** 2 for k in range(4)]\n"
    "o[i] = sum(w) + max(w) + w[0] * len(w) + max(x[i, k] for k in range(4))",
    "t = [1.0, 2.0, y[0]]\ns = 0\nfor v in t:\n    s += v * x[i, 0]\np, q = [x[i, 0], x[i, 1]]\n"
    "o[i] = s + p * q + sum(t, 0.5)",
    "w = [1.0] * 3 + [x[i, 0]]\nfor k in range(4):\n    o[i] += w[k] * x[i, k]",
    "w = [a * b for a, b in zip((x[i, 0], 2.0), (y[0], y[1])) for c in range(2) if c]\no[i] = w[0] - w[1]",
    "fx = x[i, :2] - 0.5\nw = [0.5 * fx**2, 1 - fx, fx]\nfor a in range(3):\n    for b in range(3):\n"
    "        o[i] += w[a][0] * w[b][1]",
]


@pytest.mark.parametrize("shape", [(20, 7), (1, 5), (33, 9)], ids=str)
@pytest.mark.parametrize("text", [*SUMS, *CHOICES, *LISTS])
@pytest.mark.sweep("shape")
def test_as_python_does(rng, text, shape, tmp_path):
    n, m = shape
    check(
        text, n, tmp_path, ("cpu", "python"), None, 1e-12, 1e-12,
        o=np.zeros(n), x=rng.random((n, m)), y=rng.random(m),
    )  # fmt: skip


@pytest.mark.parametrize("text", [SUMS[0], CHOICES[0], LISTS[0]])
@pytest.mark.parametrize("where", ["opencl", "vulkan", "cuda:emulated"])
def test_on_devices(rng, where, text, need_device, tmp_path):
    need_device(where)
    x, y = rng.random((9, 5)).astype("f4"), rng.random(5).astype("f4")
    check(text, 9, tmp_path, (where,), None, 1e-5, 1e-5, o=np.zeros(9, "f4"), x=x, y=y)


def test_own_functions_of_these_names(rng):
    @pk.func
    def sum(x):
        return 2 * x

    @pk.kernel
    def twice(o, x):
        i = pk.index()
        o[i] = sum(x[i])

    x, o = rng.random(5), np.zeros(5)
    twice(o, x, ndrange=5)
    np.testing.assert_array_equal(o, 2 * x)


def test_names_of_a_generator_are_its_own(rng):
    @pk.kernel
    def count(o, x):
        i = pk.index()
        v = 7.0
        o[i, 0] = sum(1 for v in x[i] if v > 0.5)
        o[i, 1] = v

    x, o = rng.random((6, 4)), np.zeros((6, 2))
    count(o, x, ndrange=6)
    np.testing.assert_array_equal(o, np.stack([(x > 0.5).sum(1), np.full(6, 7.0)], 1))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("w = [x[i, 0]]\nw.append(3.0)", "lengths are fixed"),
        ("w = [x[i, 0], 1]\nw[0] = 3.0", "cannot be changed"),
        ("o[i] = max(x[i, k] for k in range(x.shape[0]))", "is known only when this runs"),
        ("w = [x[i, k % 3] for k in range(100000)]", "more than 4096 copies"),
        ("w = [x[i, k] for k in range(3) if x[i, k] > 0]", "must be known at compile time"),
    ],
)
def test_refused(text, said, tmp_path):
    with pytest.raises(errors.KernelError, match=said):
        check(text, 20, tmp_path, ("cpu",), None, 0, 0, o=np.zeros(20), x=np.zeros((20, 20)))
