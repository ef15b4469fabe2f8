"""Kernels differentiated work-item by work-item: known gradients, finite differences, forward against reverse."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk

random = np.random.default_rng(7)


def gradient(kernel, *args, ndrange, **launch):
    pk.autodiff(kernel, level="direct")(*args, ndrange=ndrange, **launch)


@pk.kernel
def dynamic_sum(out, x, s):
    i = pk.index()
    g = x[i] ** 2
    a = 0.0
    for j in range(s.shape[0]):
        a += s[j]
    out[i] = g * a


@pk.kernel
def repeated_product(out, x, n):
    i = pk.index()
    p = 1.0
    for _ in range(n[i]):
        p *= x[i]
    out[i] = p


@pk.kernel
def newton_root(out, x):
    i = pk.index()
    r = x[i]
    while abs(r * r - x[i]) > 1e-13 * x[i]:
        r = 0.5 * (r + x[i] / r)
    out[i] = r


@pk.kernel
def skip_some(out, c, x):
    i = pk.index()
    best = -1e30
    for j in range(c.shape[0]):
        if c[j] == 0:
            continue
        v = c[j] * x[i]
        if v > best:
            best = v
    out[i] = best


@pk.kernel
def in_place(y, x):
    i = pk.index()
    y[i] = y[i] * x[i] + pk.sin(y[i])


def test_sum_over_a_run_time_length():
    x, s = np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 3.0])
    dx, ds = np.zeros(3), np.zeros(3)
    gradient(dynamic_sum, pk.Dup(np.zeros(3), np.ones(3)), pk.Dup(x, dx), pk.Dup(s, ds), ndrange=3)
    np.testing.assert_allclose(dx, [12, 24, 36], rtol=1e-15)
    np.testing.assert_allclose(ds, [14, 14, 14], rtol=1e-15)


def test_product_in_a_run_time_loop():
    dx = np.zeros(3)
    x, n = np.array([2.0, 3.0, 5.0]), np.array([3, 3, 0])
    gradient(repeated_product, pk.Dup(np.zeros(3), np.ones(3)), pk.Dup(x, dx), n, ndrange=3)
    np.testing.assert_allclose(dx, [12, 27, 0], rtol=1e-15)


def test_while_loop():
    dx = np.zeros(2)
    gradient(newton_root, pk.Dup(np.zeros(2), np.ones(2)), pk.Dup(np.array([2.0, 9.0]), dx), ndrange=2)
    np.testing.assert_allclose(dx, 0.5 / np.sqrt([2.0, 9.0]), rtol=1e-9)


def test_maximum_with_continue():
    c, x = np.array([1.0, 0.0, -2.0, 0.5]), np.array([1.0, -1.0])
    dc, dx = np.zeros(4), np.zeros(2)
    gradient(skip_some, pk.Dup(np.zeros(2), np.ones(2)), pk.Dup(c, dc), pk.Dup(x, dx), ndrange=2)
    np.testing.assert_array_equal(dx, [1, -2])
    np.testing.assert_array_equal(dc, [1, 0, -1, 0])


def test_update_in_place():
    x, y = np.array([2.0, 3.0]), np.array([0.5, 1.0])
    dx, dy = np.zeros(2), np.ones(2)
    gradient(in_place, pk.Dup(y, dy), pk.Dup(x, dx), ndrange=2)
    np.testing.assert_allclose(dx, [0.5, 1.0])
    np.testing.assert_allclose(dy, x + np.cos([0.5, 1.0]), rtol=1e-15)
    np.testing.assert_array_equal(y, [0.5, 1.0])  # as it was


@pk.kernel
def scaled(a, s):
    i = pk.index()
    a[i] *= s


@pk.kernel
def squared(a):
    i = pk.index()
    a[i] *= a[i]


def test_scalar_argument_is_active():
    da, ds = np.ones(64), np.zeros(())
    gradient(scaled, pk.Dup(np.arange(1.0, 65.0), da), pk.Dup(1.2, ds), ndrange=64)
    np.testing.assert_allclose(da, 1.2)
    assert ds == 2080.0


@pytest.mark.parametrize("mode", ["reverse", "forward"])
def test_square_in_both_modes(mode):
    a, da = np.arange(1.0, 65.0), np.ones(64)
    pk.autodiff(squared, mode=mode)(pk.Dup(a, da), ndrange=64)
    np.testing.assert_array_equal(da, 2 * np.arange(1.0, 65.0))
    np.testing.assert_array_equal(a, np.arange(1.0, 65.0) ** (2 if mode == "forward" else 1))


@pk.kernel
def fluxes(rux, ruy, ux, uy):
    i, j = pk.index()
    if i < rux.shape[0] and j < rux.shape[1]:
        rux[i, j] = ux[i, j] ** 2 - 2 * ux[i + 1, j] ** 2 + ux[i + 2, j] ** 2 + 0.5 * uy[i + 1, j] ** 2
    if i < ruy.shape[0] and j < ruy.shape[1]:
        ruy[i, j] = uy[i, j] ** 2 - 2 * uy[i, j + 1] ** 2 + uy[i, j + 2] ** 2 + 0.5 * ux[i, j + 1] ** 2


def test_adjoint_of_tiny_kernels():
    """The exact adjoint of TinyKernels.jl's test, nx, ny = 10, 11."""
    nx, ny = 10, 11
    ux, uy = random.random((nx, ny)), random.random((nx, ny))
    dux, duy = np.zeros((nx, ny)), np.zeros((nx, ny))
    rx, ry = np.zeros((nx - 2, ny)), np.zeros((nx, ny - 2))
    gradient(
        fluxes,
        pk.Dup(rx, np.ones_like(rx)), pk.Dup(ry, np.ones_like(ry)), pk.Dup(ux, dux), pk.Dup(uy, duy),
        ndrange=(nx, ny),
    )  # fmt: skip
    inner = np.zeros((nx, ny))  # (row pattern) of x-differences plus the 0.5 ux^2 of the other flux
    inner[:-2] += 2 * ux[:-2]
    inner[1:-1] -= 4 * ux[1:-1]
    inner[2:] += 2 * ux[2:]
    inner[:, 1:-1] += ux[:, 1:-1]
    np.testing.assert_allclose(dux, inner, rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(dux[2:-2, 1:-1], ux[2:-2, 1:-1], rtol=1e-12)
    np.testing.assert_allclose(dux[[0, -1], 1:-1], 3 * ux[[0, -1], 1:-1], rtol=1e-12)
    np.testing.assert_allclose(dux[[1, -2], 1:-1], -ux[[1, -2], 1:-1], rtol=1e-12)
    np.testing.assert_allclose(dux[[0, 0, -1, -1], [0, -1, 0, -1]], 2 * ux[[0, 0, -1, -1], [0, -1, 0, -1]])
    np.testing.assert_allclose(dux[[1, -2], 0], -2 * ux[[1, -2], 0])
    np.testing.assert_allclose(dux[3:-3, 0], 0, atol=1e-14)


# -- any control flow, against finite differences ---------------------------------------------------


@pk.kernel
def nested_loops_with_break(out, x, w):
    i = pk.index()
    acc = x[i]
    for a in range(w.shape[0]):
        for b in range(a + 1):
            acc = acc * 0.9 + pk.sin(w[a] * w[b] * acc)
            if acc > 1.2:
                break
        if a == 3:
            continue
        acc += 0.01 * w[a] * acc
    out[i] = acc


@pk.kernel
def while_in_for(out, x, w):
    i = pk.index()
    total = 0.0
    for a in range(w.shape[0]):
        r = x[i] * w[a] + 2.0
        steps = 0
        while r > 1.0 and steps < 20:
            r = r * 0.7 - 0.01 * w[a]
            steps += 1
        total += r * r * x[i]
    out[i] = total


@pk.kernel
def early_return(out, x, w):
    i = pk.index()
    if i % 3 == 0:
        return
    s = 0.0
    for a in range(w.shape[0]):
        s += x[i] * w[a]
        if s > 1.5:
            out[i] = s * s
            return
    out[i] = pk.exp(s)


@pk.kernel
def recurrence_in_a_row(y, x, w):
    i = pk.index()
    for j in range(1, y.shape[1]):
        y[i, j] = y[i, j - 1] * x[i] + pk.tanh(y[i, j]) * w[j % w.shape[0]]


@pk.kernel
def private_stack(out, x, w):
    i = pk.index()
    p = pk.private(4, pk.f64)
    for k in range(4):
        p[k] = x[i] * k + 1.0
    for a in range(w.shape[0]):
        k = a % 4
        p[k] = p[k] * w[a] + p[(k + 1) % 4] ** 2 * 0.1
    out[i] = p[0] * p[1] + p[2] - p[3]


@pk.kernel
def overwritten(out, x, w):
    i = pk.index()
    out[i] = x[i] * w[0]
    out[i] = out[i] * out[i] + x[i]
    if x[i] > 0.5:
        out[i] = 3.0 * x[i]


@pk.kernel
def gathered(out, x, w, index):
    i = pk.index()
    k = index[i]
    pk.atomic_add(out, k, x[i] * w[k % w.shape[0]])


@pk.kernel
def branches(out, x, w):
    i = pk.index()
    if x[i] < 0.25:
        v = x[i] ** 2
    elif x[i] < 0.5:
        v = x[i] * w[0]
    elif x[i] < 0.75:
        v = pk.where(w[1] > 0.5, x[i], w[1] * x[i])
    else:
        v = 4.0 * x[i] if w[2] > 0 else -x[i]
    out[i] = v


CASES = {
    "nested loops with break": nested_loops_with_break,
    "while in for": while_in_for,
    "early return": early_return,
    "private memory": private_stack,
    "overwrites": overwritten,
    "branches": branches,
    "sum over a run-time length": dynamic_sum,
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("n", [1, 13])
def test_against_finite_differences(name, n):
    x, w = random.random(n), random.random(7)
    found = pk.check_grads(CASES[name], (np.zeros(n), x, w), ndrange=n, level="direct")
    assert found.dot < 1e-12


def test_recurrence_with_stores_that_are_read_again():
    y, x, w = random.random((5, 9)), random.random(5), random.random(3)
    pk.check_grads(recurrence_in_a_row, (y, x, w), ndrange=5, level="direct")


def test_indirect_atomic_add():
    index = random.integers(0, 4, 20)
    pk.check_grads(gathered, (np.zeros(4), random.random(20), random.random(3), index), ndrange=20)


def test_strided_arrays_and_shadows():
    x, w = random.random(26)[::2], random.random(7)
    dx, out, dout = np.zeros(39)[::3], np.zeros(13)[::-1], np.ones(13)
    gradient(branches, pk.Dup(out, dout), pk.Dup(x, dx), w, ndrange=13)
    dense = np.zeros(13)
    gradient(branches, pk.Dup(out.copy(), np.ones(13)), pk.Dup(x.copy(), dense), w.copy(), ndrange=13)
    np.testing.assert_array_equal(dx, dense)


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_small_floats(dtype):
    x = random.random(9).astype(dtype)
    dx, dout = np.zeros(9, dtype), np.ones(9, dtype)
    gradient(squared_into, pk.Dup(np.zeros(9, dtype), dout), pk.Dup(x, dx), ndrange=9)
    np.testing.assert_array_equal(dx, 2 * x)


@pk.kernel
def squared_into(out, x):
    i = pk.index()
    out[i] = x[i] * x[i]


def test_plain_arguments_are_constants():
    x, w, dx = random.random(5), random.random(7), np.zeros(5)
    gradient(dynamic_sum, pk.Dup(np.zeros(5), np.ones(5)), pk.Dup(x, dx), w, ndrange=5)
    np.testing.assert_allclose(dx, 2 * x * w.sum())


def test_second_derivative_forward_over_reverse():
    """d/dx of the gradient of sum x^3, along v: 6 x v."""
    x, v = random.random(6), random.random(6)
    reverse = pk.autodiff(cubed)
    hessian_v = np.zeros(6)
    flat = reverse._kernel((0, 1))
    pk.autodiff(flat, mode="forward")(
        np.zeros(6), np.ones(6), pk.Dup(x, v), pk.Dup(np.zeros(6), hessian_v), ndrange=6
    )
    np.testing.assert_allclose(hessian_v, 6 * x * v, rtol=1e-14)


@pk.kernel
def cubed(out, x):
    i = pk.index()
    p = 1.0
    for _ in range(3):
        p *= x[i]
    out[i] = p


@pk.kernel
def half_constant(out, x):
    i = pk.index()
    v = x[i] * x[i]
    for _ in range(2):
        v = v * pk.stop_gradient(v) + x[i]
    out[i] = v


@pytest.mark.parametrize("device", ["cpu", "python"])
def test_stop_gradient_is_the_value_itself(device):
    x, out = random.random(5), np.zeros(5)
    half_constant(out, x, ndrange=5, device=device)
    v = x * x
    for _ in range(2):
        v = v * v + x
    np.testing.assert_allclose(out, v, rtol=1e-14)


def test_nothing_flows_through_stop_gradient():
    x, dx = random.random(5), np.zeros(5)
    gradient(half_constant, pk.Dup(np.zeros(5), np.ones(5)), pk.Dup(x, dx), ndrange=5)
    v, dv = x * x, 2 * x
    for _ in range(2):
        v, dv = v * v + x, dv * v + 1
    np.testing.assert_allclose(dx, dv, rtol=1e-14)


@pk.kernel(fastmath=True)
def quick(out, x):
    i = pk.index()
    out[i] = pk.sqrt(x[i]) / x[i]


@pk.kernel(debug=True)
def window(out, x, taps: pk.static):
    i = pk.index()
    s = 0.0
    for k in range(taps):
        s += x[i + k] ** 2
    out[i] = s


def test_what_the_rules_emit_may_be_rewritten_as_the_kernel():
    args = [pk.Dup(np.zeros(4), np.ones(4)), pk.Dup(np.ones(4), np.zeros(4))]
    text = pk.autodiff(quick, level="direct").lower(*args, ndrange=4).as_text("kern-reverse-kernel")
    assert text.count("arith.divf") > 1
    assert all("reassoc" in line for line in text.splitlines() if "arith.divf" in line)


def test_bounds_are_checked_in_the_gradient():
    x, dx, out = np.ones(6), np.zeros(6), np.zeros(4)
    gradient(window, pk.Dup(out, np.ones(4)), pk.Dup(x, dx), 3, ndrange=4)
    np.testing.assert_array_equal(dx, 2 * np.convolve(np.ones(4), np.ones(3)))
    with pytest.raises(pk.OutOfBounds, match="index 6 is outside of `x`"):
        gradient(window, pk.Dup(out, np.ones(4)), pk.Dup(x, dx), 4, ndrange=4)


@pk.kernel
def shared_weights(out, x, w, k):
    i = pk.index()
    out[i] = pk.sin(x[i] * w[k[i]])


def test_deterministic_sums_have_one_order():
    n = 200_000
    x, k = random.random(n) * 10.0 ** random.integers(-8, 8, n), random.integers(0, 3, n)

    def weights():
        dw = np.zeros(3)
        pk.autodiff(shared_weights, level="direct", deterministic=True)(
            pk.Dup(np.zeros(n), np.ones(n)), x, pk.Dup(np.ones(3), dw), k, ndrange=n
        )
        return dw

    first = weights()
    expected = np.zeros(3)
    np.add.at(expected, k, np.cos(x) * x)  # in the order of the work-items
    np.testing.assert_allclose(first, expected, rtol=1e-9)
    for _ in range(5):
        np.testing.assert_array_equal(weights(), first)


@pk.kernel
def prefix_products(y, x):
    """One work-item reads what it wrote: with another beside it there would be no right derivative."""
    j = pk.index()
    for k in range(1, x.shape[0]):
        y[k] = y[k - 1] * x[k] + j


@pytest.mark.parametrize("ndrange", [1, (1,), range(1)])
@pytest.mark.parametrize("level", ["auto", "direct"])
def test_one_work_item_races_with_nobody(ndrange, level):
    x, y = random.random(6) + 0.5, random.random(6)
    pk.check_grads(prefix_products, (y, x), ndrange=ndrange, level=level)


def test_one_work_item_is_told_from_two():
    """Each launch is looked at by itself, also once the compiled entry is installed."""
    derivative, x, y = pk.autodiff(prefix_products, level="direct"), random.random(6), np.zeros(6)
    for _ in range(3):
        derivative(pk.Dup(y, np.ones(6)), pk.Dup(x, np.zeros(6)), ndrange=1)
    with pytest.raises(pk.NotDifferentiable, match="written in the same launch"):
        derivative(pk.Dup(y, np.ones(6)), pk.Dup(x, np.zeros(6)), ndrange=2)
    specs = [pk.Dup(pk.spec(None, pk.f64), pk.spec(None, pk.f64))] * 2
    assert derivative.lower(*specs, ndrange=1).level == "direct"
    with pytest.raises(pk.NotDifferentiable, match="written in the same launch"):
        derivative.lower(*specs, ndrange="n")
