"""Arithmetic on rows in kernels, ``x[j] - x[i]``: as NumPy has it, on values, types and shapes of all kinds."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk
from pykern import errors
from tests.cases.row_kernels import check, of_lines

DEVICES = ["cpu", "python", "opencl", "vulkan", "cuda:emulated"]


@pk.func
def square(v):
    return (v * v).sum()


@pk.kernel
def attraction(f, x, m, n):
    i = pk.index()
    total = np.zeros(3, np.float32)
    for j in range(n):
        d = x[j] - x[i]
        r = square(d) + 0.01
        total += d * (m[j] / (r * np.sqrt(r)))
    f[i] = total


@pk.kernel
def move(x, v, f, dt):
    i = pk.index()
    v[i] += dt * f[i]
    x[i, :] += dt * v[i]


@pytest.mark.parametrize("device", DEVICES, indirect=True)
@pytest.mark.parametrize("n", [0, 1, 17])
def test_a_step_of_particles(rng, device, n):
    x, v = (rng.standard_normal((n, 3)).astype(np.float32) for _ in range(2))
    m, f, dt = rng.random(n).astype(np.float32), np.zeros((n, 3), np.float32), np.float32(0.25)
    d = x[None] - x[:, None]
    r = (d * d).sum(-1) + np.float32(0.01)
    expected = (d * (m / (r * np.sqrt(r)))[..., None]).sum(1)
    on = [pk.array(a, device=device) for a in (f, x, v, m)]
    attraction(on[0], on[1], on[3], n, ndrange=n)
    np.testing.assert_allclose(on[0].numpy(), expected, rtol=1e-4, atol=1e-4)
    move(on[1], on[2], on[0], dt, ndrange=n)
    v = v + dt * on[0].numpy()
    np.testing.assert_allclose(on[2].numpy(), v, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(on[1].numpy(), x + dt * v, rtol=1e-6, atol=1e-6)


EXPRESSIONS = [
    "x[i] - y[i]", "-x[i] * 2", "2 - x[i]", "x[i] * y[i] + w", "abs(x[i]) + w[0]", "np.maximum(x[i], y[i])",
    "np.minimum(x[i], 1)", "np.where(x[i] < y[i], x[i], w)", "x[i] * x[i].sum()", "x[i] + (y[i] == w)",
    "np.clip(x[i], 1, 3)", "x[i] // 2", "x[i] % 3", "x[i] ** 2", "np.add(x[i], w) - np.square(y[i])",
    "x[i] * (x[i] @ w)", "(x[i] + y[i])[0] + x[i]", "x[i] + len(x[i] + w)", "np.sign(x[i] - w)", "+x[i]",
    "(x[i] - w).max() - (y[i] * w).min() + x[i]", "x[i] + np.dot(x[i] - 1, y[i])", "y[i, :] + x[i, ...]",
    "pk.dot(x[i], w) + pk.sum(x[i]) * pk.abs(y[i]) - pk.max(x[i])",
]  # fmt: skip
FLOATS = [
    "x[i] / 2", "np.sqrt(abs(x[i])) + y[i]", "np.exp(x[i] - x[i].max())", "x[i] / np.linalg.norm(x[i] + 1)",
    "(x[i] - x[i].mean()) / 3", "np.hypot(x[i], y[i])", "x[i].astype(np.float32) * 2", "np.float32(x[i]) + w",
    "np.where(np.isnan(x[i] / (x[i] - x[i])), w, x[i])", "x[i] + 0.1 * y[i] - 0.3 * w",
    "np.rint(y[i] / 2) + np.fmod(x[i], 3) + np.float_power(w, 2)",
]  # fmt: skip


def expected_of(expressions, o, x, y, w):
    for number, expression in enumerate(expressions):
        for i in range(len(x)):
            with np.errstate(all="ignore"):
                found = eval(expression.replace("pk.", "np."), {"np": np, "x": x, "y": y, "w": w, "i": i})
                o[number, i] = np.asarray(found).astype(o.dtype)
    return o


@pytest.mark.parametrize("part", range(3))
@pytest.mark.parametrize("kind", ["f8", "f4", "i4", "i8"])
def test_expressions(rng, part, kind, tmp_path):
    expressions = [*EXPRESSIONS, *(FLOATS if kind[0] == "f" else [])][part::3]
    text = "\n".join(f"o[{number}, i] = {expression}" for number, expression in enumerate(expressions))
    k = of_lines(text, tmp_path, "o, x, y, w")
    for n, width in ((5, 3), (3, 1), (2, 19)):
        x, y = (rng.integers(-9, 10, (n, 2 * width)).astype(kind)[:, ::2] for _ in range(2))
        w = rng.integers(-5, 6, width).astype(kind)
        expected = expected_of(expressions, np.zeros((len(expressions), n, width), kind), x, y, w)
        for device in ("cpu", "python"):
            o = np.zeros_like(expected)
            k(o, x, y, w, ndrange=n, device=device)
            for number, expression in enumerate(expressions):
                said = f"{expression} on {device}, {n} rows of {width}"
                np.testing.assert_allclose(o[number], expected[number], rtol=2e-5, atol=2e-5, err_msg=said)


@pk.kernel
def kinds(o, p, t, x):
    i = pk.index()
    o[i] = x[i] + x[i]
    p[i] = (x[i] > 1) & ~(x[i] == 3)
    t[i, 0] = x[i].dot(x[i])
    t[i, 1] = (x[i] + x[i]).sum()
    t[i, 2] = np.prod(x[i] - x[i]) + (x[i] * 2).argmax() + (x[i] != 2).sum() + (x[i] > 0).any()


@pytest.mark.parametrize("device", DEVICES, indirect=True)
@pytest.mark.parametrize("kind", ["u1", "i1", "f2", "u2"])
def test_types_of_elements_are_numpys(rng, device, kind):
    x = rng.integers(0, 100, (4, 5)).astype(kind)
    o, p, t = np.zeros((4, 5), kind), np.zeros((4, 5), np.uint8), np.zeros((4, 3))
    k = [pk.array(a, device=device) for a in (o, p, t.astype(np.float32), x)]
    kinds(*k, ndrange=4)
    np.testing.assert_array_equal(k[0].numpy(), x + x)
    np.testing.assert_array_equal(k[1].numpy(), (x > 1) & ~(x == 3))
    dots = np.array([np.float64(row.dot(row)) for row in x])
    np.testing.assert_allclose(k[2].numpy()[:, 0], dots, rtol=2e-3)
    np.testing.assert_allclose(k[2].numpy()[:, 1], (x + x).sum(1), rtol=2e-3)
    last = np.prod(x - x, 1) + (x * x.dtype.type(2)).argmax(1) + (x != 2).sum(1) + (x > 0).any(1)
    np.testing.assert_array_equal(k[2].numpy()[:, 2], last.astype(np.float32))


@pk.kernel
def geometry(o, area, x, y):
    i = pk.index()
    a, b, c = x[i] - y[i]
    n = np.cross(x[i], y[i]) + np.array([0.0, 0.5, a])
    o[i] = n / np.sqrt(n @ n + 1)
    o[i] = np.cross((1.0, 0.0, 2.0), o[i]) * (1.0, b, c)
    o[i, 2] = 7
    area[i] = np.linalg.norm(n)


@pytest.mark.parametrize("device", DEVICES, indirect=True)
def test_products_and_rows_of_numbers(rng, device):
    x, y = rng.random((6, 3)), rng.random((6, 3))
    d = x - y
    n = np.cross(x, y) + np.stack([0 * d[:, 0], 0 * d[:, 0] + 0.5, d[:, 0]], 1)
    expected = n / np.sqrt((n * n).sum(1) + 1)[:, None]
    expected = np.cross([1.0, 0.0, 2.0], expected) * np.stack([d[:, 0] * 0 + 1, d[:, 1], d[:, 2]], 1)
    expected[:, 2] = 7
    k = [pk.array(a, device=device) for a in (np.zeros((6, 3)), np.zeros(6), x, y)]
    geometry(*k, ndrange=6)
    np.testing.assert_allclose(k[0].numpy(), expected, rtol=1e-12)
    np.testing.assert_allclose(k[1].numpy(), np.linalg.norm(n, axis=1), rtol=1e-12)


@pk.kernel
def blocks(o, x, w):
    i = pk.index()
    o[i] = 2
    o[i, 1] = (1, 2, 3)
    o[i] += x[i] * w
    m = np.full((2, 3), 0.5)
    m += w
    m[1] *= 3
    o[i, 0] = m[0] + m[1] + np.ones(3) + np.zeros(3, dtype=float)
    for row in x[i] - w:
        for v in row:
            o[i, 2, 0] += v


@pk.kernel
def blocks_reduced(o, x):
    i = pk.index()
    b = x[i]
    o[i] = [
        b.sum(),
        b.mean(),
        np.max(b),
        b.min(),
        (b * 2).prod(),
        np.var(b),
        b.std(),
        x[i, 0].std(),
        b.any() + b.all(),
    ]


@pytest.mark.parametrize("device", DEVICES, indirect=True)
@pytest.mark.parametrize(
    ("kind", "shape"), [("f4", (3, 2, 5)), ("i4", (2, 3, 1)), ("f2", (2, 2, 2)), ("f8", (1, 4, 7))]
)
def test_reductions_of_several_dimensions(rng, device, kind, shape):
    x = rng.integers(1, 4, shape).astype(kind)
    o = np.zeros((shape[0], 9), np.float32 if kind == "f2" else kind)
    expected = np.array([
        [b.sum(), b.mean(), b.max(), b.min(), (b * b.dtype.type(2)).prod(), b.var(), b.std(), b[0].std(), b.any() + 1]
        for b in x
    ])  # fmt: skip
    k = [pk.array(o, device=device), pk.array(x, device=device)]
    blocks_reduced(*k, ndrange=shape[0])
    expected = expected.astype(o.dtype)
    expected[:, 8] = 1  # of two truths the sum is their `or`
    np.testing.assert_allclose(k[0].numpy(), expected, rtol=2e-3 if kind == "f2" else 1e-5)


@pytest.mark.parametrize("device", DEVICES, indirect=True)
def test_rows_of_two_dimensions(rng, device):
    x, w = rng.random((5, 4, 3)), rng.random(3)
    expected = np.full((5, 4, 3), 2.0)
    expected[:, 1] = (1, 2, 3)
    expected += x * w
    expected[:, 0] = (0.5 + w) * 4 + 1
    expected[:, 2, 0] += (x - w).sum((1, 2))
    k = [pk.array(a, device=device) for a in (np.zeros((5, 4, 3)), x, w)]
    blocks(*k, ndrange=5)
    np.testing.assert_allclose(k[0].numpy(), expected, rtol=1e-12)


STALE = [
    "d = x[i] - y[i]\nx[i] = 0\ny[i] = d",
    "d = x[i] - y[i]\nx[i, 0] = 0.0\ny[i] = 2 * d",
    "d = x[i] - y[i]\ne = d * 2\npk.atomic_add(y, (i, 0), 1.0)\nx[i] = e",
    "d = x[i] + 1\nfor k in range(3):\n    y[i, k] = d[k]\n    x[i, k] = 0.0",
    "d = x[i] + 1\nfor k in range(3):\n    x[i] = d",
    "d = x[i] + 1\nk = 0\nwhile k < 3:\n    y[i] += d\n    x[i, k] = 2.0\n    k += 1",
    "d = x[i] + 1\nif i > 0:\n    x[i] = 3.0\ny[i] = d",
    "s = pk.shared((24,), pk.f64)\ns[i] = x[i, 0]\nd = s + 1\npk.barrier()\ny[i] = d",
]


@pytest.mark.parametrize("text", STALE)
def test_a_row_is_not_read_after_what_it_is_computed_from_was_written(text, tmp_path):
    with pytest.raises(errors.KernelTypeError, match="is computed where it is read"):
        of_lines(text, tmp_path)(np.ones((2, 20)), np.ones((2, 20)), ndrange=2)


@pytest.mark.parametrize("text", STALE[:-1])
def test_a_short_row_keeps_its_values(rng, text, tmp_path):
    check(text, 2, tmp_path, ("cpu", "python"), x=rng.random((2, 3)), y=rng.random((2, 3)))


FRESH = [
    "d = x[i] - y[i]\ny[i] = d\nx[i] = 0",
    "for k in range(3):\n    d = x[i] + k\n    x[i] = d",
    "x[i] = x[i] / x[i].sum()\nx[i] = x[i] - x[i] * 0.5",
    "d = x[i] - 1\nz = y[i] * 2\ny[i] = d\nx[i] += d",
    "x[i] -= x[i].mean()\nx[i] += y[i]\ny[i] = x[i] * y[i]",
]


@pytest.mark.parametrize("text", FRESH)
def test_what_was_not_written_is_read_as_numpy_does(rng, text, tmp_path):
    first, second = rng.random((4, 3)), rng.random((4, 3))
    x, y = first.copy(), second.copy()
    for i in range(4):
        exec(text, {"x": x, "y": y, "i": i})
    for device in ("cpu", "python"):
        a, b = first.copy(), second.copy()
        of_lines(text, tmp_path)(a, b, ndrange=4, device=device)
        np.testing.assert_allclose(a, x, rtol=1e-14)
        np.testing.assert_allclose(b, y, rtol=1e-14)


LENGTHS = [
    "x[i] = x[i] + y[i]",
    "x[i] = y[i]",
    "a, b = x[i]\nx[i] = a + b",
    "x[i] += y[i]",
    "x[i] = (1.0, 2.0)",
]


@pytest.mark.parametrize("device", ["cpu", "python"])
@pytest.mark.parametrize("text", LENGTHS)
def test_lengths_that_differ_are_found(text, device, tmp_path):
    k = of_lines(text, tmp_path, debug=True)
    with pytest.raises((pk.KernelError, ValueError), match=r"elements|unpack"):
        k(np.ones((2, 3)), np.ones((2, 4)), ndrange=2, device=device)


def test_gradients_of_rows(rng):
    x, m = rng.standard_normal((5, 3)), rng.random(5)

    @pk.kernel
    def energy(e, x, m, n):
        i = pk.index()
        total = np.zeros(3)
        for j in range(n):
            d = x[j] - x[i]
            total += d * (m[j] / np.sqrt(square(d) + 0.1))
        e[i] = total @ total

    def value(x):
        d = x[None] - x[:, None]
        total = (d * (m / np.sqrt((d * d).sum(-1) + 0.1))[..., None]).sum(1)
        return (total * total).sum(1)

    e, weights, dx = np.zeros(5), rng.random(5), np.zeros_like(x)
    energy(e, x, m, 5, ndrange=5)
    pk.autodiff(energy)(pk.Dup(np.zeros(5), weights.copy()), pk.Dup(x, dx), m, 5, ndrange=5)
    np.testing.assert_allclose(e, value(x), rtol=1e-12)
    step = 1e-6
    for place in np.ndindex(x.shape):
        moved = [x.copy(), x.copy()]
        moved[0][place] += step
        moved[1][place] -= step
        slope = ((value(moved[0]) - value(moved[1])) * weights).sum() / (2 * step)
        np.testing.assert_allclose(dx[place], slope, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize(
    "text", ["o[i] = x[i] + y[i]", "o[i] = y[i]", "o[i] += np.maximum(y[i], 0)", "o[i] = 0 * (x[i] @ y[i])"]
)
def test_a_launch_whose_rows_are_too_short_is_refused(text, tmp_path):
    o = np.ones((2, 3))
    with pytest.raises(errors.KernelTypeError, match=r"rows of 3 and of 2 [\s\S]*refused before it began"):
        of_lines(text, tmp_path, "o, x, y")(o, np.ones((2, 3)), np.ones((2, 2)), ndrange=2)
    np.testing.assert_array_equal(o, 1)


@pytest.mark.parametrize("device", ["cpu", "python"])
@pytest.mark.parametrize("text", ["x += 1", "x += y[i]", "x[:] = 2", "x[:] = y[i]"])
def test_a_whole_array_is_not_written_by_each_work_item(text, device, tmp_path):
    x = np.ones(3)
    with pytest.raises(errors.KernelTypeError, match="each work-item would write all"):
        of_lines(text, tmp_path)(x, np.ones((2, 3)), ndrange=2, device=device)
    np.testing.assert_array_equal(x, 1)
