"""``x[i]`` of an array with more dimensions is a row of it: indexed, measured, passed on and written as an array."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk


@pk.func
def dot(a, b):
    total = 0.0
    for k in range(len(a)):
        total += a[k] * b[k]
    return total


@pk.kernel
def products(o, x, y):
    i, j = pk.index()
    o[i][j] = dot(x[i], y[j])


@pk.kernel
def sorted_rows(x):
    row = x[pk.index()]
    for k in range(1, row.shape[0]):
        m = k
        while m > 0 and row[m - 1] > row[m]:
            row[m - 1], row[m] = row[m], row[m - 1]
            m -= 1


@pk.kernel
def ends(o, c, h):
    i, j = pk.index()
    block = c[i]
    o[i, j] = block[j][-1] + block[j, 0] + c[i, j].shape[0] + block.ndim
    pk.atomic_add(h[i], j, 1.0)
    h[i][j] += 0.5


@pk.kernel
def summed(o, p, x, limit):
    i = pk.index()
    total = 0.0
    for value in x[i]:
        total += value
    o[i] = total
    p[i] = 0.0
    for row in x:
        for value in row:
            if value > limit:
                break
            p[i] += value * row[0]


@pk.kernel
def reduced(o, p, x):
    i = pk.index()
    row = x[i]
    o[i, 0] = row.sum()
    o[i, 1] = np.sum(x[i]) + sum(row)
    o[i, 2] = x[i].mean()
    o[i, 3] = max(row) - np.min(x[i])
    o[i, 4] = row.prod()
    p[i, 0] = np.argmax(row)
    p[i, 1] = row.argmin()
    p[i, 2] = pk.i32(row.any()) + 2 * pk.i32(np.all(x[i]))


DEVICES = ["cpu", "python", "opencl", "cuda:emulated"]


@pytest.mark.parametrize("device", DEVICES, indirect=True)
@pytest.mark.parametrize("shape", [(5, 7, 9), (1, 1, 1), (3, 4, 0)])
def test_functions_take_rows(rng, device, shape):
    n, m, k = shape
    x, y = rng.random((n, k)), rng.random((m, k))
    arrays = [pk.asarray(v, device=device) for v in (np.zeros((n, m)), x, y)]
    products(*arrays, ndrange=(n, m))
    np.testing.assert_allclose(arrays[0].numpy(), x @ y.T, rtol=1e-12)


@pytest.mark.parametrize("device", DEVICES, indirect=True)
def test_rows_are_written(rng, device):
    x = rng.random((13, 8))
    given = pk.asarray(x.copy(), device=device)
    sorted_rows(given, ndrange=13)
    np.testing.assert_array_equal(given.numpy(), np.sort(x, axis=1))


@pytest.mark.parametrize("device", DEVICES, indirect=True)
def test_parts_of_three_dimensions(rng, device):
    c = rng.random((3, 4, 5))
    o, h, x = (pk.asarray(v, device=device) for v in (np.zeros((3, 4)), np.zeros((3, 4)), c))
    ends(o, x, h, ndrange=(3, 4))
    np.testing.assert_allclose(o.numpy(), c[:, :, -1] + c[:, :, 0] + 5 + 2, rtol=1e-12)
    np.testing.assert_array_equal(h.numpy(), np.full((3, 4), 1.5))


@pytest.mark.parametrize("device", DEVICES, indirect=True)
@pytest.mark.parametrize("shape", [(6, 7), (1, 3), (4, 0)])
def test_loops_over_rows_and_elements(rng, device, shape):
    x = rng.random(shape)
    o, p, given = (pk.asarray(v, device=device) for v in (np.zeros(shape[0]), np.ones(shape[0]), x))
    summed(o, p, given, 0.9, ndrange=shape[0])
    np.testing.assert_allclose(o.numpy(), x.sum(1), rtol=1e-12)
    before = np.cumprod(x <= 0.9, axis=1)
    expected = (x * before * x[:, :1]).sum() if x.size else 0.0
    np.testing.assert_allclose(p.numpy(), np.full(shape[0], expected), rtol=1e-12)


def test_strided_rows(rng):
    x, y = rng.random((20, 9)), rng.random((9, 14))
    o = np.zeros((10, 7))
    products(o, x[::-2], y.T[::2], ndrange=o.shape)
    np.testing.assert_allclose(o, x[::-2] @ y.T[::2].T, rtol=1e-12)


def test_derivatives_of_rows(rng):
    x, y = rng.random((4, 6)), rng.random((3, 6))
    o, do, dx, dy = np.zeros((4, 3)), rng.random((4, 3)), np.zeros_like(x), np.zeros_like(y)
    given = do.copy()
    pk.autodiff(products)(pk.Dup(o, do), pk.Dup(x, dx), pk.Dup(y, dy), ndrange=(4, 3))
    np.testing.assert_allclose(dx, given @ y, rtol=1e-12)
    np.testing.assert_allclose(dy, given.T @ x, rtol=1e-12)


@pytest.mark.parametrize("device", ["cpu", "python"])
def test_bounds_of_rows(device):
    @pk.kernel(debug=True)
    def outside(x, n):
        row = x[pk.index()]
        row[n] = 1.0

    x = np.zeros((3, 4))
    with pytest.raises(pk.errors.OutOfBounds, match="4"):
        outside(x, 4, ndrange=3, device=device)
    assert not x.any()


@pytest.mark.parametrize(
    "text", ["x[0, 0] = x[i]", "x[0, 0] = x[i] + 1.0", "x[i, 0, 0] = 1.0", "x[:] = 1.0", "x += 1.0"]
)
def test_a_row_is_no_number(text, tmp_path):
    file = tmp_path / "kernel.py"
    file.write_text(f"def kernel(x):\n    i = pk.index()\n    {text}\n")
    scope: dict = {"pk": pk}
    exec(compile(file.read_text(), file, "exec"), scope)
    with pytest.raises(pk.errors.KernelTypeError) as caught:
        pk.kernel(scope["kernel"])(np.zeros((3, 4)), ndrange=3)
    assert f'"{file}", line 3' in str(caught.value)


@pytest.mark.parametrize("device", DEVICES, indirect=True)
@pytest.mark.parametrize(("kind", "n"), [("f8", 7), ("f4", 33), ("f2", 5), ("i4", 1), ("u1", 20), ("i8", 6)])
def test_reductions_of_rows(rng, device, kind, n):
    x = (
        (3 * rng.standard_normal((6, n))).astype(kind)
        if kind[0] != "u"
        else rng.integers(0, 200, (6, n), np.uint8)
    )
    x[3] = 0
    if kind[0] == "f":
        x[1, n // 2], x[2, n - 1] = np.nan, np.inf
    o, p = np.zeros((6, 5)), np.zeros((6, 3), np.int32)
    reduced(o, p, x, ndrange=6, device=device)
    wide = {"f2": np.float32}.get(kind)
    with np.errstate(all="ignore"):
        total, product = (
            f(x, axis=1, dtype=wide).astype(wide and kind).astype(float) for f in (np.sum, np.prod)
        )
        extent = x.max(1).astype(float) - x.min(1)
        expected = np.stack([total, 2 * total, x.mean(1, dtype=wide).astype(float), extent, product], axis=1)
    rtol = {"f4": 2e-5, "f2": 2e-3}.get(kind, 1e-12)
    np.testing.assert_allclose(o, expected, rtol=rtol, atol=rtol)
    flags = x.any(1) + 2 * x.all(1)
    np.testing.assert_array_equal(p, np.stack([x.argmax(1), x.argmin(1), flags], axis=1))


def test_derivatives_of_reductions(rng):
    @pk.kernel
    def kernel(o, x):
        i = pk.index()
        o[i] = x[i].sum() * x[i].mean() + np.max(x[i]) * x[i].prod()

    pk.check_grads(kernel, (np.zeros(4), rng.random((4, 5))), ndrange=4)


@pytest.mark.parametrize("device", ["cpu", "python"])
@pytest.mark.parametrize(
    ("expression", "said"),
    [("x.argmax()", "goes over one dimension"), ("x[i].sum(axis=1)", "there is no axis 1"),
     ("np.max(x[i], 0, o)", "nothing else"), ("np.std(x[i], 1)", "no axis 1")],
)  # fmt: skip
def test_reductions_that_are_refused(expression, said, device, tmp_path):
    file = tmp_path / "kernel.py"
    file.write_text(f"def kernel(o, x):\n    i = pk.index()\n    o[i] = {expression}\n")
    scope: dict = {"pk": pk, "np": np}
    exec(compile(file.read_text(), file, "exec"), scope)
    with pytest.raises(pk.errors.KernelTypeError, match=said) as caught:
        pk.kernel(scope["kernel"])(np.zeros(3), np.ones((3, 4)), ndrange=3, device=device)
    assert f'"{file}", line 3' in str(caught.value)
