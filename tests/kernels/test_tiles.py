"""Kernels whose index is a tile, on every device, against NumPy."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import pykern as pk
from pykern.pytest_plugin import need_package

DEVICES = [
    "python", "cpu", "opencl:0", "vulkan:0", "webgpu:0", "cuda:emulated", "rocm:emulated", "metal:emulated:0",
]  # fmt: skip
TOLERANCE = {"float64": 1e-12, "float32": 2e-5, "float16": 4e-3, "bfloat16": 4e-2}
each_device = pytest.mark.parametrize("device", DEVICES, indirect=True)


@pk.kernel
def softmax(o, x):
    i = pk.tile()
    e = pk.exp(x[i] - x[i].max(-1, keepdims=True))
    o[i] = e / e.sum(-1, keepdims=True)


@pk.kernel
def matmul(c, a, b):
    i, j = pk.tile()
    acc = pk.zeros((i, j), pk.f32)
    for k in pk.tiles(a.shape[1]):
        acc += a[i, k] @ b[k, j]
    c[i, j] = acc.astype(c.dtype)


@pk.kernel
def layernorm(o, x, gamma, beta, eps):
    i = pk.tile()
    mean = x[i].mean(-1, keepdims=True)
    centred = x[i] - mean
    variance = (centred * centred).mean(-1, keepdims=True)
    o[i] = centred / pk.sqrt(variance + eps) * gamma + beta


@pk.kernel
def attention(o, q, k, v, scale):
    b, h, i = pk.tile(1, 1, None)
    m = pk.full((i, 1), -pk.inf, pk.f32)
    total = pk.zeros((i, 1), pk.f32)
    acc = pk.zeros((i, v.shape[3]), pk.f32)
    for j in pk.tiles(k.shape[2]):
        s = q[b, h, i] @ k[b, h, j].T * scale
        s = pk.where(pk.positions(i)[:, None] >= pk.positions(j), s, -pk.inf)
        new = pk.maximum(m, s.max(-1, keepdims=True))
        p = pk.exp(s - new)
        rest = pk.exp(m - new)
        total = total * rest + p.sum(-1, keepdims=True)
        acc = acc * rest + p @ v[b, h, j]
        m = new
    o[b, h, i] = acc / total


@pk.kernel
def stencil(new, old):
    i, j = pk.tile()
    new[i, j] = 0.25 * (old[i - 1, j] + old[i + 1, j] + old[i, j - 1] + old[i, j + 1])


@pk.kernel
def row_sums(o, x):
    i = pk.tile()
    o[i] = x[i, :].sum(1)


@pk.kernel
def column_maxima(o, x):
    j = pk.tile()
    best = pk.full((j,), -pk.inf, x.dtype)
    for i in pk.tiles(x.shape[0]):
        best = pk.maximum(best, x[i, j].max(0))
    o[j] = best


@pk.kernel
def looked_up(o, table, index):
    i = pk.tile()
    o[i] = table[index[i]]


@pk.kernel
def transposed(o, x):
    i, j = pk.tile()
    o[j, i] += 2 * x[i, j].T


def softmax_of(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


@each_device
@pytest.mark.parametrize("shape", [(1, 1), (7, 5), (37, 19), (64, 130), (0, 4)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_softmax(device, shape, dtype, rng):
    if dtype == "float64" and device.startswith("vulkan"):
        pytest.skip("f64 has no exp there")
    x = rng.standard_normal(shape).astype(dtype)
    o = np.full_like(x, 9)
    softmax(o, x, ndrange=shape[0], device=device)
    np.testing.assert_allclose(o, softmax_of(x) if x.size else x, rtol=TOLERANCE[dtype])


@each_device
@pytest.mark.parametrize("shape", [(1, 1, 1), (37, 19, 23), (64, 48, 32), (5, 0, 3)])
def test_matmul(device, shape, rng):
    n, k, m = shape
    a, b = rng.standard_normal((n, k)).astype("f"), rng.standard_normal((k, m)).astype("f")
    c = np.full((n, m), 9, "f")
    matmul(c, a, b, ndrange=c.shape, device=device)
    np.testing.assert_allclose(c, a @ b, rtol=1e-4, atol=1e-5)


@each_device
@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_products_of_short_floats_add_up_in_f32(device, dtype, rng):
    a, b = rng.standard_normal((17, 70)).astype(dtype), rng.standard_normal((70, 9)).astype(dtype)
    c = np.zeros((17, 9), "f")
    matmul(c, a, b, ndrange=c.shape, device=device)
    np.testing.assert_allclose(c, a.astype("f") @ b.astype("f"), rtol=1e-4, atol=1e-4)
    short = np.zeros((17, 9), dtype)
    matmul(short, a, b, ndrange=c.shape, device=device)
    np.testing.assert_allclose(short.astype("f"), c, rtol=TOLERANCE[np.dtype(dtype).name])


@pk.kernel
def quantised(c, a, b):
    i, j = pk.tile()
    acc = pk.zeros((i, j), pk.i32)
    for k in pk.tiles(a.shape[1]):
        acc += a[i, k] @ b[k, j]
    c[i, j] = acc


@each_device
@pytest.mark.parametrize("dtype", ["int8", "uint8"])
def test_products_of_bytes_add_up_in_i32(device, dtype, rng):
    low, high = (-128, 128) if dtype == "int8" else (0, 256)
    a, b = rng.integers(low, high, (9, 33)).astype(dtype), rng.integers(low, high, (33, 7)).astype(dtype)
    c = np.zeros((9, 7), np.int32)
    quantised(c, a, b, ndrange=c.shape, device=device)
    np.testing.assert_array_equal(c, a.astype(np.int32) @ b.astype(np.int32))


@each_device
def test_layernorm(device, rng):
    x, gamma, beta = (
        rng.standard_normal((23, 31)).astype("f"),
        rng.random(31).astype("f"),
        rng.random(31).astype("f"),
    )
    o = np.empty_like(x)
    layernorm(o, x, gamma, beta, np.float32(1e-5), ndrange=23, device=device)
    expected = (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5) * gamma + beta
    np.testing.assert_allclose(o, expected, rtol=1e-4, atol=1e-5)


@each_device
@pytest.mark.parametrize("n", [1, 11, 40])
def test_online_softmax_attention(device, n, rng):
    q, k, v = (rng.standard_normal((2, 3, n, 16)).astype("f") for _ in range(3))
    o = np.empty_like(q)
    attention(o, q, k, v, np.float32(0.25), ndrange=(2, 3, n), device=device)
    s = np.where(np.tri(n) > 0, q @ k.swapaxes(-1, -2) * 0.25, -np.inf)
    np.testing.assert_allclose(o, softmax_of(s) @ v, rtol=1e-4, atol=1e-5)


@each_device
def test_a_stencil_by_tiles_beside_one_another(device, rng):
    old = rng.standard_normal((13, 18)).astype("f")
    new = old.copy()
    stencil(new, old, ndrange=(range(1, 12), range(1, 17)), device=device)
    expected = old.copy()
    expected[1:-1, 1:-1] = 0.25 * (old[:-2, 1:-1] + old[2:, 1:-1] + old[1:-1, :-2] + old[1:-1, 2:])
    np.testing.assert_allclose(new, expected, rtol=1e-6)


@each_device
def test_reductions_look_ups_and_transposes(device, rng):
    x = rng.standard_normal((14, 9)).astype("f")
    sums, maxima, taken, turned = (
        np.empty(14, "f"),
        np.empty(9, "f"),
        np.empty((6, 9), "f"),
        np.ones((9, 14), "f"),
    )
    row_sums(sums, x, ndrange=14, device=device)
    column_maxima(maxima, x, ndrange=9, device=device)
    index = rng.integers(0, 14, 6)
    looked_up(taken, x, index, ndrange=6, device=device)
    transposed(turned, x, ndrange=x.shape, device=device)
    np.testing.assert_allclose(sums, x.sum(1), rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(maxima, x.max(0))
    np.testing.assert_array_equal(taken, x[index])
    np.testing.assert_allclose(turned, 1 + 2 * x.T, rtol=1e-6)


@each_device
def test_nan_and_infinities_are_as_numpys(device):
    x = np.array([[1, np.nan, 2], [np.inf, 1, 2], [-np.inf, 0, 1], [-np.inf, -np.inf, -np.inf]], "f")
    o, sums, maxima = np.empty_like(x), np.empty(4, "f"), np.empty(3, "f")
    row_sums(sums, x, ndrange=4, device=device)
    column_maxima(maxima, x, ndrange=3, device=device)
    softmax(o, x, ndrange=4, device=device)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(sums, x.sum(1))
        np.testing.assert_array_equal(maxima, x.max(0))
        np.testing.assert_allclose(o, softmax_of(x), rtol=1e-6)


@each_device
def test_what_is_not_there_is_not_seen(device, rng):
    """The range is longer than the arrays: slices are clipped, and reductions are those of what is there."""
    x = -1 - rng.random((11, 6)).astype("f")
    o = np.zeros(11, "f")

    row_maxima_and_products(o, x, ndrange=16, device=device)
    np.testing.assert_allclose(o, x.max(1) + x.prod(1), rtol=1e-5)


@pk.kernel
def row_maxima_and_products(o, x):
    i = pk.tile()
    o[i] = x[i].max(1) + x[i].prod(1)


@each_device
def test_strided_arguments(device, rng):
    x = rng.standard_normal((20, 18)).astype("f")
    given, o = x[::2, ::-3], np.zeros((10, 12), "f")[:, ::2]
    softmax(o, given, ndrange=10, device=device)
    np.testing.assert_allclose(o, softmax_of(given), rtol=1e-5)


@each_device
def test_a_range_with_a_step_writes_what_it_names(device):
    x, o = np.arange(12, dtype="f"), np.zeros(12, "f")
    doubled(o, x, ndrange=range(1, 12, 3), device=device)
    expected = np.zeros(12, "f")
    expected[1::3] = 2 * x[1::3]
    np.testing.assert_array_equal(o, expected)


@pk.kernel
def doubled(o, x):
    i = pk.tile()
    o[i] = 2 * x[i]


# -- sizes --------------------------------------------------------------------------------------


@pk.kernel
def centred(o, x):
    i = pk.tile(4)
    o[i] = x[i] - x[i].mean()


@each_device
@pytest.mark.parametrize("n", [3, 8, 11])
def test_what_depends_on_a_fixed_size_is_computed_tile_by_tile(device, n, rng):
    x = rng.standard_normal(n).astype("f")
    o = np.empty_like(x)
    centred(o, x, ndrange=n, device=device)
    expected = np.concatenate([x[k : k + 4] - x[k : k + 4].mean() for k in range(0, n, 4)])
    np.testing.assert_allclose(o, expected, rtol=1e-5, atol=1e-6)


def test_sizes_of_the_launch_take_precedence(rng):
    x = rng.standard_normal(10)
    o = np.empty_like(x)
    centred(o, x, ndrange=10, tile=5)
    np.testing.assert_allclose(o, np.concatenate([x[k : k + 5] - x[k : k + 5].mean() for k in (0, 5)]))


def test_a_fixed_size_that_nothing_depends_on_costs_no_loop():
    spec = pk.spec((64, 64), pk.f32)
    text = matmul.lower(spec, spec, spec, ndrange=(64, 64), tile=(16, 16)).as_text("program")
    assert "scf.for" not in text and "linalg.matmul" in text


# -- in programs, and differentiated ---------------------------------------------------------------


def test_a_tile_kernel_in_a_program_is_differentiated_with_it(rng):
    x, w = rng.standard_normal((7, 5)), rng.standard_normal((7, 5))

    @pk.jit
    def loss(x, w):
        y = pk.zeros_like(x)
        softmax(y, x, ndrange=x.shape[0])
        return (y * w).sum()

    p = softmax_of(x)
    expected = p * (w - (p * w).sum(1, keepdims=True))
    np.testing.assert_allclose(pk.grad(loss)(x, w), expected, rtol=1e-10, atol=1e-12)
    with pk.device("python"):
        np.testing.assert_allclose(loss(x, w), (p * w).sum())


@pytest.mark.parametrize("device", ["cpu", "opencl:0", "cuda:emulated", "rocm:emulated"], indirect=True)
def test_the_derivative_of_a_product(device, rng):
    a, b, c = (rng.standard_normal(shape).astype("f") for shape in ((6, 4), (4, 5), (6, 5)))
    dc, da, db = c.copy(), np.zeros_like(a), np.zeros_like(b)
    pk.autodiff(matmul)(pk.Dup(c, dc), pk.Dup(a, da), pk.Dup(b, db), ndrange=c.shape, device=device)
    np.testing.assert_allclose(da, c @ b.T, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(db, a.T @ c, rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(dc, 0)


def test_the_derivative_of_attention_agrees_with_differences(rng):
    q, k, v = (rng.standard_normal((1, 2, 5, 4)).astype("f") for _ in range(3))
    do = rng.standard_normal(q.shape).astype("f")
    shadows = [np.zeros_like(x) for x in (q, k, v)]
    scale = np.float32(0.5)

    def value(*args):
        o = np.empty_like(q)
        attention(o, *args, scale, ndrange=(1, 2, 5))
        return float((o.astype("d") * do).sum())

    given = [pk.Dup(x, d) for x, d in zip((q, k, v), shadows, strict=True)]
    pk.autodiff(attention)(pk.Dup(np.empty_like(q), do.copy()), *given, scale, ndrange=(1, 2, 5))
    for n, shadow in enumerate(shadows):
        step = rng.standard_normal(q.shape).astype("f")
        args = [[x + sign * 1e-2 * step * (m == n) for m, x in enumerate((q, k, v))] for sign in (1, -1)]
        difference = (value(*args[0]) - value(*args[1])) / 2e-2
        np.testing.assert_allclose((shadow * step).sum(), difference, rtol=2e-2, atol=2e-2)


# -- calls --------------------------------------------------------------------------------------


def test_launches_as_those_of_work_items(rng):
    x = rng.standard_normal((6, 4))
    o = np.zeros_like(x)
    assert softmax(o, x, ndrange=0).wait() is None
    np.testing.assert_array_equal(o, 0)
    call: Any = softmax
    call(x=x, o=o, ndrange=[(3,), (range(3, 6),)])
    np.testing.assert_allclose(o, softmax_of(x))
    static: Any = pk.kernel(call.__wrapped__, ndrange=6)
    o[:] = 0
    static(o, x)
    np.testing.assert_allclose(o, softmax_of(x))


def test_arrays_of_devices(rng):
    x = rng.standard_normal((6, 4)).astype("f")
    there = pk.asarray(x, device="cpu")
    o = pk.zeros((6, 4), pk.f32, device="cpu")
    softmax(o, there, ndrange=6)
    np.testing.assert_allclose(np.asarray(o), softmax_of(x), rtol=1e-6)


def test_a_func_takes_tiles(rng):
    @pk.func
    def row(x, i):
        return x[i].sum(1)

    @pk.kernel
    def sums(o, x):
        i = pk.tile()
        o[i] = row(x, i)

    x = rng.standard_normal((6, 4))
    for device in ("cpu", "python"):
        o = np.zeros(6)
        sums(o, x, ndrange=6, device=device)
        np.testing.assert_allclose(o, x.sum(1))


def test_stages_and_other_frameworks(rng):
    spec = pk.spec((8, 5), pk.f32)
    assert "nvvm" in repr(softmax.lower(spec, spec, ndrange=8, target="nvvm:sm_80").compile())
    assert "from the start" in str(softmax.raised(spec, spec, ndrange=8).reason)
    with pytest.raises(pk.LaunchError, match="is said where it is made"):
        softmax.lower(spec, spec, ndrange=8, debug=True)


def test_primitives_of_jax(rng):
    jax = need_package("jax")
    import pykern.jax as pkj

    rows = pkj.primitive(softmax, out={"o": pkj.like("x")}, ndrange=lambda x: x.shape[0])
    x = rng.standard_normal((6, 5)).astype("f")
    np.testing.assert_allclose(jax.jit(rows)(x), softmax_of(x), rtol=1e-5)
    gradient = jax.grad(lambda x: (rows(x) ** 2).sum())(x)
    expected = jax.grad(lambda x: (jax.nn.softmax(x, -1) ** 2).sum())(x)
    np.testing.assert_allclose(gradient, expected, rtol=1e-4, atol=1e-6)


@pk.kernel
def scatter(o, k, x):
    i = pk.tile()
    o[k[i]] = x[i]


@pk.kernel
def binned(sums, largest, k, x):
    i, j = pk.tile()
    pk.atomic_add(sums, k[i, j], x[i, j])
    pk.atomic_max(largest, (k[i, j], k[i, j] % 3), x[i, j])


@each_device
@pytest.mark.parametrize("n", [1, 37, 1000])
def test_scatter(device, n, rng):
    k, x = rng.integers(-n, n, n), rng.random((n, 3)).astype(np.float32)
    o, expected = pk.zeros((n, 3), pk.f32, device=device), np.zeros((n, 3), np.float32)
    scatter(o, *(pk.asarray(v, device=device) for v in (k, x)), ndrange=n)
    expected[k] = x
    np.testing.assert_array_equal(np.asarray(o), expected)


@each_device
def test_atomics(device, rng):
    k, x = rng.integers(0, 10, (23, 17)), rng.random((23, 17)).astype(np.float32)
    sums, largest = pk.zeros(10, pk.f32, device=device), pk.zeros((10, 3), pk.f32, device=device)
    binned(sums, largest, *(pk.asarray(v, device=device) for v in (k, x)), ndrange=k.shape)
    expected = np.zeros((10, 3), np.float32)
    np.maximum.at(expected, (k, k % 3), x)
    np.testing.assert_allclose(np.asarray(sums), np.bincount(k.ravel(), x.ravel(), 10), rtol=1e-5)
    np.testing.assert_array_equal(np.asarray(largest), expected)


@pk.kernel
def until_large(o, x):
    i = pk.tile(16)
    total = pk.zeros((i,), pk.f64)
    for j in range(x.shape[1]):
        total += x[i, j]
        if (total > 2).all():
            break
    o[i] = total


@pytest.mark.parametrize("device", ["cpu", "opencl:0", "cuda:emulated", "rocm:emulated"], indirect=True)
def test_a_loop_that_ends_early(device, rng):
    """What leaves the loop is a part of one array or another."""
    x, expected = rng.random((37, 9)), np.zeros(37)
    for start in range(0, 37, 16):
        rows = x[start : start + 16]
        ends = [j for j in range(9) if (rows[:, : j + 1].sum(axis=1) > 2).all()]
        expected[start : start + 16] = rows[:, : (ends or [8])[0] + 1].sum(axis=1)
    o = pk.zeros(37, pk.f64, device=device)
    until_large(o, pk.asarray(x, device=device), ndrange=37)
    np.testing.assert_allclose(np.asarray(o), expected, rtol=1e-12)


@pk.kernel
def damped(o, counts, x, a, k):
    i = pk.tile()
    o[i] = pk.exp(a * x[i]) * x[i]
    counts[i] = k[i] + 1


@pk.kernel
def squared(x):
    i = pk.tile()
    x[i] = x[i] * x[i]


@pytest.mark.parametrize("device", ["cpu", "opencl:0", "cuda:emulated", "rocm:emulated"], indirect=True)
def test_forward_mode(device, rng):
    """Tangents flow with the values: also by a number, of an array that is updated in place, and of rows."""
    x, dx, k = rng.random(37), rng.random(37), np.arange(37)
    o, do, counts, ours, tangent, da, given = (
        pk.asarray(v.copy(), device=device)
        for v in (np.zeros(37), np.zeros(37), np.zeros(37, int), x, dx, np.array(0.5), k)
    )  # fmt: skip
    forward = pk.autodiff(damped, mode="forward")
    forward(pk.Dup(o, do), counts, pk.Dup(ours, tangent), pk.Dup(2.0, da), given, ndrange=37)
    np.testing.assert_allclose(do.numpy(), np.exp(2 * x) * (dx + 2 * x * dx + 0.5 * x * x), rtol=1e-12)
    np.testing.assert_allclose(o.numpy(), np.exp(2 * x) * x, rtol=1e-12)
    np.testing.assert_array_equal(counts.numpy(), k + 1)
    forward(pk.Dup(o, do), counts, pk.Dup(ours, tangent), 2.0, given, ndrange=37)
    np.testing.assert_allclose(do.numpy(), np.exp(2 * x) * (dx + 2 * x * dx), rtol=1e-12)
    pk.autodiff(squared, mode="forward")(pk.Dup(ours, tangent), ndrange=37)
    np.testing.assert_allclose(tangent.numpy(), 2 * x * dx, rtol=1e-12)
    np.testing.assert_allclose(ours.numpy(), x * x, rtol=1e-12)
    rows, drows = rng.random((7, 9)), rng.random((7, 9))
    out, dout, rows_, drows_ = (pk.asarray(v, device=device) for v in (0 * rows, 0 * rows, rows, drows))
    pk.autodiff(softmax, mode="forward")(pk.Dup(out, dout), pk.Dup(rows_, drows_), ndrange=7)
    s = np.exp(rows) / np.exp(rows).sum(-1, keepdims=True)
    np.testing.assert_allclose(dout.numpy(), s * (drows - (s * drows).sum(-1, keepdims=True)), atol=1e-14)


@pk.kernel
def doubled_into_out(out, donate):
    i = pk.tile()
    out[i] = 2 * donate[i]


@each_device
def test_names_that_calls_of_programs_use(device, rng):
    """A tile kernel has no results of its own, so its parameters may be called `out` and `donate`."""
    x = rng.random(37, np.float32)
    for by_name in (False, True):
        out = np.zeros_like(x)
        if by_name:
            named: dict[str, Any] = {"donate": x, "out": out}
            doubled_into_out(**named, ndrange=37, device=device)
        else:
            doubled_into_out(out, x, ndrange=37, device=device)
        np.testing.assert_array_equal(out, 2 * x)


def test_stages_and_derivatives_of_a_kernel_with_out(rng):
    x = pk.spec((37,), pk.f32)
    assert doubled_into_out.lower(out=x, donate=x, ndrange=37).stages
    dout, dx = rng.random(37), np.zeros(37)
    cotangent = dout.copy()
    pk.autodiff(doubled_into_out)(pk.Dup(np.zeros(37), dout), pk.Dup(np.ones(37), dx), ndrange=37)
    np.testing.assert_allclose(dx, 2 * cotangent)

    @pk.jit
    def quadrupled(x):
        y = pk.zeros_like(x)
        doubled_into_out(y, x, ndrange=37)
        return 2 * y

    np.testing.assert_allclose(quadrupled(cotangent), 4 * cotangent)


@pk.kernel
def sums_of_fours(o, x):
    i = pk.tile()
    o[i] = x[i].reshape(-1, 3, 4).sum(2)


@pk.kernel
def sum_until(o, x, limit):
    i = pk.tile(1)
    total = 0.0
    for k in range(x.shape[1]):
        total += x[i, k]
        if total > limit:
            break
    o[i] = total


@pytest.mark.parametrize("device", ["python", "cpu", "opencl:0", "vulkan:0", "webgpu:0"], indirect=True)
@pytest.mark.parametrize("n", [23, 0])
def test_the_length_that_is_left_out_may_be_the_tile_s(device, rng, n):
    x = rng.random((n, 12)).astype(np.float32)
    o = pk.zeros((n, 3), pk.f32, device=device)
    sums_of_fours(o, pk.asarray(x, device=device), ndrange=n)
    np.testing.assert_allclose(np.asarray(o), x.reshape(n, 3, 4).sum(2), rtol=1e-6)


@pytest.mark.parametrize("device", ["python", "cpu", "opencl:0"], indirect=True)
def test_an_integer_of_the_index_space_beside_a_known_one(device, rng):
    x, limit = rng.random((9, 31)).astype(np.float32), 3.0
    o = pk.zeros(9, pk.f32, device=device)
    sum_until(o, pk.asarray(x, device=device), limit, ndrange=9)
    running = np.cumsum(x, 1)
    ends = [next((k for k in range(31) if row[k] > limit), 30) for row in running]
    np.testing.assert_allclose(np.asarray(o), running[np.arange(9), ends], rtol=1e-5)


def test_one_range_on_several_devices_in_turn():
    """A range that was launched before goes to where the arrays lie, or to the device of a block."""
    x = np.arange(13, dtype=np.float32)
    doubled(np.zeros_like(x), x, ndrange=13)
    for place in ("python", "cuda:emulated", "cpu", "cuda:emulated", "python"):
        result = np.zeros_like(x)
        if place == "python":
            with pk.device(place):
                event = doubled(result, x, ndrange=13)
        elif place == "cpu":
            event = doubled(result, x, ndrange=13)
        else:
            there = pk.asarray(result, device=place), pk.asarray(x, device=place)
            event = doubled(*there, ndrange=13)
            event = doubled(*there, ndrange=13, stream=pk.Stream(place))
            event.wait()
            result = there[0].numpy()
        assert event.done
        np.testing.assert_array_equal(result, 2 * x)


def test_repeated_launches_are_not_described_anew(monkeypatch):
    """The second call with a stream finds its code by the kinds of its arguments, on a device, too."""
    from pykern.api import jit

    x = pk.asarray(np.arange(13, dtype=np.float32), device="cuda:emulated")
    o, stream = pk.zeros(13, pk.f32, device=x.device), pk.Stream(x.device)
    program: Any = pk.jit(lambda x: x * 2 + 1)
    for _ in range(2):
        doubled(o, x, ndrange=13, stream=stream)
        program(x, stream=stream)
    monkeypatch.setattr(jit, "describe", None)
    doubled(o, x, ndrange=13, stream=stream).wait()
    np.testing.assert_array_equal(o.numpy(), 2 * x.numpy())
    np.testing.assert_array_equal(program(x, stream=stream).numpy(), 2 * x.numpy() + 1)
    with pytest.raises(pk.LaunchError, match=r"no pk\.Stream"):
        program(x, stream=3)


@pk.kernel
def row_orders(ordered, median, top, x):
    i = pk.tile()
    ordered[i] = np.sort(x[i], axis=1)
    median[i] = np.median(x[i], axis=1)
    places = np.argsort(-x[i], axis=1)[:, :3]
    top[i] = np.take_along_axis(x[i], places, axis=1)


@pytest.mark.parametrize("device", ["cpu", "python"])
def test_rows_are_sorted_whatever_the_tiles(device, rng):
    """By a kernel for rows of some length; a single row, whose tile has one element, by a network."""
    for rows, n in ((6, 40), (1, 5)):
        x = rng.standard_normal((rows, n))
        ordered, median, top = np.zeros_like(x), np.zeros(rows), np.zeros((rows, 3))
        row_orders(ordered, median, top, x, ndrange=rows, device=device)
        np.testing.assert_array_equal(ordered, np.sort(x, 1))
        np.testing.assert_allclose(median, np.median(x, 1))
        np.testing.assert_array_equal(top, np.sort(x, 1)[:, ::-1][:, :3])


@pk.kernel
def rotated_pairs(o, shifted, x, cos, sin):
    i, k = pk.tile()
    a, b = x[i, 2 * k], x[i, k * 2 + 1]
    o[i, 2 * k] = a * cos[i, k] - b * sin[i, k]
    o[i, 2 * k + 1] = b * cos[i, k] + a * sin[i, k]
    shifted[i, k + 1] = a + pk.positions(2 * k)


@pytest.mark.parametrize("device", ["cpu", "python"])
def test_every_second_element_and_what_is_written_beside(device, rng):
    x, cos, sin = (rng.standard_normal((5, n)) for n in (12, 6, 6))
    o, shifted = np.zeros_like(x), np.zeros((5, 7))
    rotated_pairs(o, shifted, x, cos, sin, ndrange=(5, 6), device=device)
    a, b = x[:, ::2], x[:, 1::2]
    expected = np.stack([a * cos - b * sin, b * cos + a * sin], -1).reshape(5, 12)
    np.testing.assert_allclose(o, expected, rtol=1e-14)
    np.testing.assert_array_equal(shifted[:, 1:], a + np.arange(0, 12, 2))
    assert not shifted[:, 0].any()
