"""Rows that branches and loops make: chosen, carried, kept and updated in place, as NumPy has it."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk
from pykern import errors
from tests.cases.row_kernels import check, of_lines

DEVICES = ["cpu", "python", "opencl", "vulkan", "cuda:emulated"]


@pk.func
def clipped(v, most):
    n = np.sqrt(v @ v)
    if n > most:
        return v * (most / n)
    return v


@pk.func
def first_above(x, limit):
    found = x[0]
    for k in range(len(x)):
        if x[k, 0] > limit:
            found = x[k]
            break
    return found


NAMES = {"clipped": clipped, "first_above": first_above}

CHOSEN = [
    "d = x[i] if x[i, 0] > 0 else y[i]\no[i] = d * 2 + d.sum()",
    "if x[i, 0] > 0:\n    d = x[i]\nelse:\n    d = y[i]\no[i] = d",
    "d = x[i - 1] if i > 0 else x[i]\no[i] = d - x[i]",
    "if x[i, 0] > 0:\n    d = x[i] - y[i]\n    s = 2.0\nelse:\n    s = x[i, 1]\n    d = x[i] * s\no[i] = d * s",
    "d = x[i]\nif y[i, 0] > 0:\n    if y[i, 1] > 0:\n        d = -d\n    else:\n        d = d[::-1]\no[i] = d + 1",
    "if x[i, 0] > 0:\n    d = x[i][::-1]\nelse:\n    d = x[i] - 1\no[i] = d + d.sum()",
    "d = x[i] * 2 if x[i, 0] > 0 else y[i, 1:]\no[i] = d.sum() + 10 * len(d) + d[-1]",
    "o[i] = clipped(x[i], 1.0) + clipped(x[i] - y[i], 0.5)",
    "o[i] = first_above(x, 0.3)",
    "best = x[0]\nfor k in range(1, len(x)):\n    if x[k, 0] > best[0]:\n        best = x[k]\no[i] = best",
    "d = x[i]\nk = 0\nwhile k < 3 and d[0] < 1:\n    d = x[k]\n    k += 1\no[i] = d",
]
SHORT = [
    "acc = np.zeros(3)\nfor k in range(len(x)):\n    acc = acc + x[k]\no[i] = acc",
    "acc = np.zeros(3)\nfor k in range(len(x)):\n    if x[k, 0] > 0:\n        acc = acc + x[k] * y[k]\n"
    "    else:\n        acc = acc * 0.5\no[i] = acc",
    "p = x[i] + np.zeros(3)\nv = np.ones(3)\nfor k in range(4):\n    v = v - 0.1 * p\n    p = p + 0.1 * v\no[i] = p",
    "p = np.array([1.0, 2.0, 3.0])\nk = 0\nwhile p @ p < 1000:\n    p = p * 1.5 + abs(x[i])\n    k += 1\no[i] = p + k",
    "d = np.zeros(3) if x[i, 0] > 0 else x[i]\no[i] = d + 1",
    "d = np.zeros(3)\nif x[i, 0] > 0:\n    d = d + x[i]\nd[0] = 7\nd[1:] += 1\no[i] = d",
    "d = x[i] + np.zeros(3)\nd[1] = 4\nd += y[i]\nd[:2] *= 3\nd[-1] -= d[0]\no[i] = d",
    "d = x[i] + np.zeros(3)\nfor k in range(3):\n    d[k] = d[k] * k + d[0]\no[i] = d",
    "d = x[i] + np.zeros(3)\nk = i % 3\nd[k] = 9\nd[(k + 1) % 3] += 1\no[i] = d",
    "d = x[i] + np.zeros(3)\nx[i] = 0\no[i] = d",
    "a = np.zeros(3)\nb = np.ones(3)\nfor k in range(i + 2):\n    a, b = b, a + b\no[i] = a",
    "m = np.zeros((2, 2))\nfor k in range(3):\n    m = m * 2 + 1\nm[0, 1] = x[i, 0]\nm[1] += y[i, :2]\n"
    "o[i, :2] = m[0] + m[1]",
    "acc = np.zeros(3)\nfor k in range(3):\n    e = x[k] - y[i] + np.zeros(3)\n    e[0] = 0\n    acc += e\no[i] = acc",
    "q = np.zeros(3)\nfor k in range(2):\n    for l in range(2):\n        q = q + x[k] * y[l]\n    q = -q\no[i] = q",
]


NAMED = [
    "a = x[i] + np.zeros(3)\nb = a\nc = b + 1\nb = b * 2\na += 1\no[i] = a + b + c",
    "a = x[i] + np.zeros(3)\nfor k in range(3):\n    b = a\n    a = a + 1\nb += 1\no[i] = a + b",
    "a = x[i] + np.zeros(3)\nb = a\nfor k in range(3):\n    a = a + 1\nb += 1\no[i] = a * b",
    "a = x[i] + np.zeros(3)\nb = y[i] + np.zeros(3)\nfor k in range(3):\n    a, b = b, a\na += 1\no[i] = a - b",
    "a = x[i] + np.zeros(3)\nif x[i, 0] > 0:\n    a[0] = 5\nelse:\n    a[1] = 6\n    a *= 2\no[i] = a",
    "a = x[i] + np.zeros(3)\nfor k in range(3):\n    if k == 1:\n        continue\n    a[k] += 1\n"
    "    if a[k] > 1:\n        break\no[i] = a",
    "v = x[i, :3]\nw = v + np.zeros(3)\nx[i, 0] = 7\no[i] = v + w",
    "m = np.zeros((2, 3)) + 1\nm[0] += x[i]\nm[:, 1] *= 2\nm[1, 2] = 4\no[i] = m[0] + m[1]",
    "a = np.zeros(3)\nfor k in range(i):\n    a[0] += 1\n    a = a * 2\no[i] = a",
    "a = np.array([1, 2, 3])\nfor k in range(2):\n    a = a + x[k]\no[i] = a",
    "a = np.array([1, 2, 3])\na[0] = 7.9\no[i] = a",
]


@pytest.mark.parametrize("text", [*CHOSEN, *SHORT, *NAMED])
def test_as_numpy_does(rng, text, tmp_path):
    o, x, y = np.zeros((5, 3)), rng.standard_normal((5, 3)), rng.standard_normal((5, 3))
    check(text, 5, tmp_path, ("cpu", "python"), NAMES, o=o, x=x, y=y)


@pytest.mark.parametrize("text", CHOSEN)
def test_of_other_lengths_and_types(rng, text, tmp_path):
    x, y = (rng.integers(-4, 5, (4, 24)).astype(np.float32) / 4 for _ in range(2))
    check(text, 4, tmp_path, ("cpu",), NAMES, 1e-5, 1e-5, o=np.zeros((4, 24), np.float32), x=x, y=y)


@pk.kernel
def walk(o, x, steps):
    i = pk.index()
    p, v = np.zeros(3, np.float32), np.ones(3, np.float32)
    nearest = x[0]
    for k in range(steps):
        d = x[k] - p
        nearest = x[k] if d @ d < (nearest - p) @ (nearest - p) else nearest
        v = v + (d * np.float32(0.5) if k % 2 == 0 else -d)
        p = p + np.float32(0.1) * v
    o[i] = p + nearest


@pytest.mark.parametrize("device", DEVICES, indirect=True)
def test_on_devices(rng, device):
    x = rng.standard_normal((6, 3)).astype(np.float32)
    p, v, nearest = np.zeros(3, np.float32), np.ones(3, np.float32), x[0]
    for k in range(6):
        d = x[k] - p
        nearest = x[k] if d @ d < (nearest - p) @ (nearest - p) else nearest
        v = v + (d * np.float32(0.5) if k % 2 == 0 else -d)
        p = p + np.float32(0.1) * v
    o = pk.array(np.zeros((4, 3), np.float32), device=device)
    walk(o, pk.array(x, device=device), 6, ndrange=4)
    np.testing.assert_allclose(o.numpy(), np.tile(p + nearest, (4, 1)), rtol=1e-5, atol=1e-5)


def test_rows_of_other_lengths_do_not_take_that_of_one_path(rng, tmp_path):
    k, x = (
        of_lines("d = x[i, :2] * 2 if k > 1 else x[i]\no[i] = d.sum()", tmp_path, "o, x, k"),
        rng.random((3, 4)),
    )
    o = np.zeros(3)
    k(o, x, 2, ndrange=3)
    np.testing.assert_allclose(o, 2 * x[:, :2].sum(axis=1))
    with pytest.raises(errors.KernelTypeError, match="rows of 2 and of 4 elements do not go together"):
        k(o, x, 1, ndrange=3)


REFUSED = {
    "d = x[i] + np.zeros(3)\ne = d\nd += 1\no[i] = e": "may have another name",
    "d = x[i] + np.zeros(3)\ne = d[1:]\nd[1] = 4\no[i, :2] = e": "may have another name",
    "d = x[i] + np.zeros(3)\ne = d[1:]\ne[0] = 4\no[i] = d": "is a part of a computed row",
    "d = x[i] + np.zeros(3)\ne = d\nif x[i, 0] > 0:\n    e = d * 2\ne += 1\no[i] = d": "may have another name",
    "d = x[i] if x[i, 0] > 5 else np.zeros(3)\nd += 1\no[i] = d": "may have another name",
    "v = x[i, :3]\nif y[i, 0] > 0:\n    v = v * 2\nx[i, 1] = 3\no[i] = v": "was written in between",
    "v = np.zeros(3)\nfor k in range(2):\n    v = x[k] if k > i else v\nx[i, 1] = 3\no[i] = v": "written in between",
    "d = x[i] + np.zeros(3)\nt = (d, 1.0)\nd += 1\no[i] = t[0]": "may have another name",
    "d = np.zeros(3)\nif x[i, 0] > 0:\n    d = np.zeros(4)\no[i] = d": "on one path",
}


@pytest.mark.parametrize("device", ["cpu", "python"])
@pytest.mark.parametrize("text", REFUSED)
def test_what_is_refused(text, device, tmp_path):
    k = of_lines(text, tmp_path, "o, x, y")
    with pytest.raises(errors.KernelTypeError, match=REFUSED[text]):
        k(np.zeros((3, 3)), np.ones((3, 3)), np.ones((3, 3)), ndrange=3, device=device)


REFUSED_WHEN_LONG = {
    "d = x[i] - y[i]\nd[0] = 1\no[i] = d": "is not kept in memory",
    "acc = x[0]\nfor k in range(1, 3):\n    acc = acc + x[k]\no[i] = acc": "before the loop",
}


@pytest.mark.parametrize("device", ["cpu", "python"])
@pytest.mark.parametrize("text", REFUSED_WHEN_LONG)
def test_rows_that_would_need_memory(rng, text, device, tmp_path):
    k = of_lines(text, tmp_path, "o, x, y")
    with pytest.raises(errors.KernelTypeError, match=REFUSED_WHEN_LONG[text]):
        k(np.zeros((3, 20)), np.ones((3, 20)), np.ones((3, 20)), ndrange=3, device=device)
    check(text, 3, tmp_path, (device,), o=np.zeros((3, 3)), x=rng.random((3, 3)), y=rng.random((3, 3)))


LENGTHS = [
    "a, b = x[i]\no[i, 0] = a + b",
    "o[i] = y[i]",
    "o[i] = x[i] + y[i]",
    "if i > 0:\n    o[i, 0] = (x[i] * y[i]).sum()",
    "for k in range(n):\n    o[i, 0] = x[k] @ y[k]",
    "d = x[i] if x[i, 0] > 0 else y[i]\no[i] = d",
]


@pytest.mark.parametrize("device", ["cpu", "opencl"], indirect=True)
@pytest.mark.parametrize("text", LENGTHS)
def test_lengths_that_differ_are_refused_before_the_launch(text, device, tmp_path):
    o = np.ones((3, 3))
    k = of_lines(text, tmp_path, "o, x, y, n")
    given = [pk.array(a, device=device) for a in (o, np.ones((3, 3)), np.ones((3, 4)))]
    with pytest.raises(errors.KernelTypeError, match=r"do not go together[\s\S]*refused before it began"):
        k(*given, 2, ndrange=3)
    np.testing.assert_array_equal(given[0].numpy(), 1)


@pytest.mark.parametrize("text", ["for k in range(n):\n    o[i, 0] = x[k] @ y[k]",
                                  "if n > 0:\n    o[i] = y[i]", "if y.shape[1] == 3:\n    o[i] = y[i]"])  # fmt: skip
def test_lines_that_do_not_run_refuse_nothing(text, tmp_path):
    o = np.ones((3, 3))
    of_lines(text, tmp_path, "o, x, y, n")(o, np.ones((3, 3)), np.ones((3, 4)), 0, ndrange=3)
    np.testing.assert_array_equal(o, 1)


def test_gradients_through_loops_and_branches(rng):
    @pk.kernel
    def energy(e, x):
        i = pk.index()
        p = np.zeros(3)
        for k in range(4):
            d = x[k] - p
            p = p + (d * 0.5 if d @ d > 1 else d * d)
        q = x[i] if x[i, 0] > 0 else p
        e[i] = p @ q

    def value(x):
        p = np.zeros(3)
        for k in range(4):
            d = x[k] - p
            p = p + (d * 0.5 if d @ d > 1 else d * d)
        return np.array([p @ (x[i] if x[i, 0] > 0 else p) for i in range(4)])

    x, weights, e = rng.standard_normal((4, 3)), rng.random(4), np.zeros(4)
    dx = np.zeros_like(x)
    energy(e, x, ndrange=4)
    np.testing.assert_allclose(e, value(x), rtol=1e-12)
    pk.autodiff(energy)(pk.Dup(np.zeros(4), weights.copy()), pk.Dup(x, dx), ndrange=4)
    for place in np.ndindex(x.shape):
        moved = [x.copy(), x.copy()]
        moved[0][place] += 1e-6
        moved[1][place] -= 1e-6
        slope = ((value(moved[0]) - value(moved[1])) * weights).sum() / 2e-6
        np.testing.assert_allclose(dx[place], slope, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("device", ["cpu", "python"])
@pytest.mark.parametrize(
    "text",
    ["o[i, 0] = d[i]", "d[i] = 4\no[i] = d", "o[i, 0] = d[::-1][i]", "w = d[i : i + 2]\no[i, 0] = w.sum()"],
)
def test_indices_outside_of_values_are_refused_before_the_launch(text, device, tmp_path):
    k = of_lines(f"d = x[i] + np.zeros(3)\n{text}", tmp_path, "o, x")
    with pytest.raises(errors.OutOfBounds):
        k(np.zeros((5, 3)), np.ones((5, 3)), ndrange=5, device=device)


def test_loops_over_short_rows(tmp_path):
    text = "o[i, 0] = 0\nfor v in x[i] + np.zeros(3):\n    if v > 3:\n        break\n    o[i, 0] += v"
    check(text, 3, tmp_path, ("cpu", "python"), o=np.zeros((3, 3)), x=np.arange(9.0).reshape(3, 3))


@pk.kernel
def nearest(o, x: pk.f64[:, 3], y: pk.In[pk.f64[:, 3]]):
    i = pk.index()
    best = x[i] - y[0]
    for k in range(1, len(y)):
        d = x[i] - y[k]
        if d @ d < best @ best:
            best = d
    best[0] += 1
    o[i] = best


@pytest.mark.parametrize("device", DEVICES, indirect=True)
def test_annotated_lengths_are_known(rng, device):
    x, y = rng.standard_normal((5, 3)), rng.standard_normal((7, 3))
    on = [pk.array(a, device=device) for a in (np.zeros((5, 3)), x, y)]
    for _ in range(2):
        nearest(*on, ndrange=5)
    d = x[:, None] - y
    expected = d[np.arange(5), (d * d).sum(-1).argmin(1)] + [1, 0, 0]
    np.testing.assert_allclose(on[0].numpy(), expected, rtol=1e-12)
    wide = pk.array(rng.standard_normal((7, 4)), device=device)
    with pytest.raises(errors.KernelTypeError, match=r"`y` is annotated (pk\.)?f64\[:, 3\]"):
        nearest(on[0], on[1], wide, ndrange=5)
    np.testing.assert_allclose(on[0].numpy(), expected, rtol=1e-12)
