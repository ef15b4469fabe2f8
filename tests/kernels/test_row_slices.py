"""Slices of rows in kernels: parts that are read, computed with and written, on values and shapes of all kinds."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk
from pykern import errors
from tests.cases.row_kernels import check, of_lines

DEVICES = ["cpu", "python", "opencl", "vulkan", "cuda:emulated"]

READ = [
    "o[i] = x[i, :2].sum() + x[i, 1:] @ y[i, 1:]",
    "o[i] = x[i, 1:].max() - x[i, :-1].min() + x[i, -2:].sum() + len(x[i, 1:-1])",
    "a, b = x[i, :2]\no[i] = a - 2 * b",
    "o[i] = (x[i, ::2] * 2).sum() + x[i, ::-1][0] + x[i, ::-2].sum() + x[i, 3:0:-1] @ y[i, 1:4]",
    "o[i] = x[:, 1].sum() + x[1:, i].mean() + x[..., 0].max()",
    "k = i % 3\no[i] = x[i, k : k + 2] @ y[i, k + 1 : k + 3] + x[i, k:].sum() + x[i, :k].sum()",
    "w = x[i, 1:4]\no[i] = w[1:].sum() + w[-1] + (w - y[i, :3])[0] + w[::-1] @ w",
    "o[i] = np.sum(x[i : i + 1]) + x[0:2, 1:3].sum() + (x[0:2, 1:3] * y[1:3, :2]).max()",
    "d = x[i] - y[i]\no[i] = d[1:].sum() + d[:2] @ d[-2:] + d[::-1][0]",
    "o[i] = 0.0\nfor v in x[i, 1:3]:\n    o[i] += v * v",
    "o[i] = np.where(x[i, :3] < y[i, :3], x[i, :3], 1.0).prod() + (abs(x[i, 2:]) > 0.5).any()",
]


@pytest.mark.parametrize("text", READ)
@pytest.mark.parametrize("shape", [(4, 5), (5, 7)])
def test_parts_are_read(rng, text, shape, tmp_path):
    o, x, y = np.zeros(shape[0]), rng.standard_normal(shape), rng.standard_normal(shape)
    check(text, shape[0], tmp_path, ("cpu", "python"), o=o, x=x, y=y)


WRITTEN = [
    "o[i, :2] = x[i, 1:3]",
    "o[i, 1:] = 2.0\no[i, :-1] += x[i, 1:]",
    "o[i, ::-1] = x[i]\no[i, :3] *= y[i, :3]",
    "o[i, 1:4] = o[i, 3:0:-1] + 1",
    "k = i % 3\no[i, k : k + 2] = (1.0, 2.0)\no[i, k + 1 : k + 3] += x[i, :2]",
    "w = o[i, 1:4]\nw[0] = 5\nw += x[i, :3]\nw[1:] = 7.0\nw[-1] -= 1",
    "o[:, i] = x[i, 0]\no[1:, i] += x[1:, i]",
    "t = np.zeros(5)\nt[1:4] = x[i, :3]\nt[:-1] += t[1:]\nt[::2] *= 3\no[i, :5] = t",
    "m = np.zeros((2, 3))\nm[:, 1] = x[i, :2]\nm[1, 1:] = 4\nm[0] += y[i, :3]\n"
    "o[i, :3] = m[0] + m[1]\no[i, 3:5] = m[:, 1]",
]


@pytest.mark.parametrize("text", WRITTEN)
def test_parts_are_written(rng, text, tmp_path):
    o, x, y = (rng.standard_normal((5, 6)) for _ in range(3))
    check(text, 5, tmp_path, ("cpu", "python"), o=o, x=x, y=y)


@pk.kernel
def windows(o, x, w):
    i, j = pk.index()
    o[i, j] = (x[i - 1 : i + 2, j - 1 : j + 2] * w).sum()


@pk.kernel
def flat(o, x):
    i = pk.index()
    v = x[3 * i : 3 * i + 3]
    o[3 * i : 3 * (i + 1)] = v / np.sqrt(v @ v)


@pytest.mark.parametrize("device", DEVICES, indirect=True)
def test_windows_and_flat_rows(rng, device):
    x, w = rng.standard_normal((7, 9)), rng.standard_normal((3, 3))
    o, on, weights = (pk.array(a, device=device) for a in (np.zeros((7, 9)), x, w))
    windows(o, on, weights, ndrange=(range(1, 6), range(1, 8)))
    expected = sum(w[a, b] * x[a : a + 5, b : b + 7] for a in range(3) for b in range(3))
    np.testing.assert_allclose(o.numpy()[1:-1, 1:-1], expected, rtol=1e-12, atol=1e-12)
    v = rng.standard_normal((5, 3)).astype(np.float32)
    o, on = (pk.array(a, device=device) for a in (np.zeros(15, np.float32), v.ravel()))
    flat(o, on, ndrange=5)
    norms = np.sqrt((v * v).sum(1))[:, None]
    np.testing.assert_allclose(o.numpy().reshape(5, 3), v / norms, rtol=1e-5, atol=1e-6)


REFUSED = {
    "o[i, 1:] = o[i, :-1]": "read at other places than it is written",
    "o[i] = x[i, ::i]": "the step of a slice is a constant",
    "o[i] = x[i, :2.0]": "a bound of a slice must be an integer",
    "t = np.zeros(3)\no[i] = t[1:5]": "the bound 5 is outside",
    "o[i] = x[i, 1:, 0]": "has 2 dimensions",
}


@pytest.mark.parametrize("text", REFUSED)
@pytest.mark.parametrize("device", ["cpu", "python"])
def test_what_slices_refuse(text, device, tmp_path):
    k = of_lines(text, tmp_path, "o, x")
    with pytest.raises(errors.KernelTypeError, match=REFUSED[text]):
        k(np.zeros((3, 20)), np.ones((3, 20)), ndrange=3, device=device)


@pytest.mark.parametrize("device", ["cpu", "python"])
@pytest.mark.parametrize(
    "text", ["o[i] = x[i, :4].sum()", "o[i] = x[i, -4:].sum()", "o[i] = x[i : i + 2, 0].sum()"]
)
def test_a_slice_outside_is_found(text, device, tmp_path):
    with pytest.raises(errors.OutOfBounds):
        of_lines(text, tmp_path, "o, x")(np.zeros(3), np.ones((3, 3)), ndrange=3, device=device)


def test_gradients_of_slices(rng):
    @pk.kernel
    def energy(e, x):
        i = pk.index()
        d = x[i, 1:] - x[i, :-1]
        e[i] = (d * d).sum() + x[i, :2] @ x[i, -2:]

    def value(x):
        d = x[:, 1:] - x[:, :-1]
        return (d * d).sum(1) + (x[:, :2] * x[:, -2:]).sum(1)

    x, weights = rng.standard_normal((4, 5)), rng.random(4)
    dx = np.zeros_like(x)
    pk.autodiff(energy)(pk.Dup(np.zeros(4), weights.copy()), pk.Dup(x, dx), ndrange=4)
    for place in np.ndindex(x.shape):
        moved = [x.copy(), x.copy()]
        moved[0][place] += 1e-6
        moved[1][place] -= 1e-6
        slope = ((value(moved[0]) - value(moved[1])) * weights).sum() / 2e-6
        np.testing.assert_allclose(dx[place], slope, rtol=1e-6, atol=1e-8)
