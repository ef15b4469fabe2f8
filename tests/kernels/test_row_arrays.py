"""Rows that functions make in kernels, reductions along an axis, and loops over several rows, as NumPy has them."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk
from tests.cases.row_kernels import check, of_lines

DEVICES = ["cpu", "python", "opencl", "vulkan", "cuda:emulated"]

MADE = [
    "M = np.array([x[i], y[i], x[0]])\no[i] = M[1] + M[:, 2] + M @ x[i]",
    "o[i] = np.stack([x[i], y[i]])[i % 2] + np.array(x[i])",
    "o[i] = np.concatenate([x[i, :1], y[i, 1:3]])",
    "A[i] = np.diag(x[i])\no[i] = np.diag(A[0]) + np.diag(A[i] + 1)",
    "d = np.zeros_like(x[i, :3])\nd[1] = 4\ne = np.full_like(d, 2)\no[i] = d + e * np.ones_like(e)",
    "o[i] = x[i] + [1, 2, 3]\no[i] += [0.5, 0, 1] * y[i]",
    "o[i] = np.fmin(x[i], y[i]) - np.fmax(x[i], 0.1)",
    "o[i] = np.sort(x[i, :3]) + np.median(x[i, :3]) - np.median(y[i, :2])",
    "w = np.copy(x[i])\nw2 = x[i].copy()\no[i] = w + w2",
]
REDUCED = [
    "o[i] = A[i].sum(axis=0) + np.sum(A[i], axis=1)",
    "o[i] = A[i].max(0) - np.min(A[i], axis=-1) + np.mean(A[i], axis=0) * A[i].std(axis=1)",
    "o[i] = np.linalg.norm(A[i], axis=1) + np.linalg.norm(A[i]) + np.linalg.norm(x[i], axis=0)",
    "o[i] = A[i].argmax(axis=0) + np.argmin(A[i], axis=1) + x[i].sum(axis=0)",
    "o[i] = (A[i] - A[0]).prod(axis=1)[::-1] + (A[i] > 0).any(axis=0)",
]
LOOPS = [
    "for k, v in enumerate(x[i]):\n    o[i, k] = v * k",
    "for k, v in enumerate(x[i] + np.zeros(3), 1):\n    o[i, k - 1] = v * k",
    "s = 0.0\nfor a, b in zip(x[i], y[i]):\n    s += a * b\no[i] = s",
    "s = 1.0\nfor v in reversed(x[i]):\n    s = s * v + 1\n    if s > 3:\n        break\no[i] = s",
    "for k, (a, b) in enumerate(zip(x[i, :3], (1.0, 2.0, 3.0))):\n    o[i, k] = a * b",
    "for row, other in zip(A[i], A[0]):\n    o[i] += row * other",
    "for a, k in zip(x[i], range(1, 9)):\n    o[i, k - 1] = a * k",
]


@pytest.mark.parametrize("text", [*MADE, *REDUCED, *LOOPS])
def test_as_numpy_does(rng, text, tmp_path):
    a, x, y = (rng.standard_normal(shape) for shape in ((4, 3, 3), (4, 3), (4, 3)))
    check(text, 4, tmp_path, ("cpu", "python"), o=np.zeros((4, 3)), x=x, y=y, A=a)


@pk.kernel
def filtered(o, x):
    i, j = pk.index()
    w = x[i - 1 : i + 2, j - 1 : j + 2]
    o[i, j] = np.median(np.concatenate([w[0], w[1], w[2]])) + w.max(axis=0).sum()


@pytest.mark.parametrize("device", DEVICES, indirect=True)
def test_a_median_filter(rng, device):
    x = rng.standard_normal((7, 6)).astype(np.float32)
    x[3, 3] = np.nan
    on = [pk.array(a, device=device) for a in (np.zeros((7, 6), np.float32), x)]
    filtered(*on, ndrange=(range(1, 6), range(1, 5)))
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3))
    with np.errstate(all="ignore"):
        expected = np.median(windows.reshape(5, 4, 9), axis=-1) + windows.max(axis=-2).sum(axis=-1)
    np.testing.assert_allclose(on[0].numpy()[1:-1, 1:-1], expected, rtol=1e-5, atol=1e-5)


REFUSED = {
    "o[i] = np.sort(x[i])": "takes up to 16 elements",
    "o[i] = np.zeros_like(x[i])": "takes a row of known lengths",
    "o[i] = x[i].sum(axis=1)": "there is no axis 1",
    "o[i] = np.asarray(x[i])": "takes a list of numbers",
    "o[i] = np.array([x[i], 1.0])[0]": "this list holds rows",
    "o[i] = np.concatenate([x[i], y[i]])": "short rows whose lengths are known",
    "for k, v in enumerate(i):\n    o[i] = v": "goes over rows, ranges and tuples",
    "o[i] = x[i].sum(0, np.float32)": "takes one axis, and nothing else",
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_refused(text, tmp_path):
    k = of_lines(text, tmp_path, "o, x, y")
    with pytest.raises(pk.KernelError, match=REFUSED[text]):
        k(np.zeros((2, 20)), np.ones((2, 20)), np.ones((2, 20)), ndrange=2)


def test_gradients_of_sorted_and_reduced_rows(rng):
    @pk.kernel
    def energy(e, x):
        i = pk.index()
        s = np.sort(x[i, :3])
        m = np.array([x[i], x[0]])
        e[i] = s[0] * s[2] + (m * m).sum(axis=0).max()

    def value(x):
        s = np.sort(x, 1)
        return s[:, 0] * s[:, 2] + (x * x + x[0] * x[0]).max(1)

    x, weights = rng.standard_normal((3, 3)), rng.random(3)
    dx = np.zeros_like(x)
    pk.autodiff(energy)(pk.Dup(np.zeros(3), weights.copy()), pk.Dup(x, dx), ndrange=3)
    for place in np.ndindex(x.shape):
        moved = [x.copy(), x.copy()]
        moved[0][place] += 1e-6
        moved[1][place] -= 1e-6
        slope = ((value(moved[0]) - value(moved[1])) * weights).sum() / 2e-6
        np.testing.assert_allclose(dx[place], slope, rtol=1e-5, atol=1e-6)
