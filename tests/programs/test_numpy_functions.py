"""NumPy's functions in array programs: the same function compiled, and as plain Python on NumPy's arrays."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk
from tests.cases.texts import load


def rolled(a, shift):
    return (
        np.roll(a, 2), np.roll(a, -1, 0), np.roll(a, (1, 2), (0, 1)), np.roll(a, 1, (0, 1)), np.roll(a, 7, 1),
        np.roll(a, shift, 1), np.roll(a, shift), np.diff(a), np.diff(a, n=2, axis=0), np.diff(a > 0.5),
    )  # fmt: skip


def repeated(a, v):
    return (
        np.repeat(a, 3), np.repeat(a, 2, axis=1), a.repeat(2, axis=0), np.repeat(v, 0), np.tile(v, 3),
        np.tile(a, (2, 3)), np.tile(a, (2, 1, 2)), np.tile(v, (2, 1)),
    )  # fmt: skip


def looked_up(a, v, i):
    return (
        np.take(a, i), np.take(a, i, axis=1), np.take(v, i[0]), np.take_along_axis(a, i, 1), v.take(i),
        np.take_along_axis(v, i[0], 0),
    )  # fmt: skip


def stacked(a, v):
    return (
        np.hstack((v, v)), np.hstack([a, a]), np.vstack((v, v)), np.column_stack((v, v)), np.dstack((a, a)),
        np.append(v, a), np.append(a, a, axis=0), np.atleast_2d(v), np.atleast_1d(v[0]),
        np.array([[v[0], v[1]], [v[2], 1.0]]), np.array([v, 2 * v]), np.array((1, 2, 3), dtype=np.float32),
    )  # fmt: skip


def split(a):
    x, y, z = np.split(a, (1, -1), axis=1)
    p, q = np.array_split(a, 2)
    return (
        x,
        y,
        z,
        p,
        q,
        np.hsplit(a, (2, 5))[1],
        np.vsplit(a, 5)[2],
        np.split(a, 5)[-1],
        np.split(a, (4, 2))[1],
    )


def axes(a, c):
    return (
        np.moveaxis(c, 0, -1), np.moveaxis(c, (0, 1), (2, 0)), np.fliplr(a), np.flipud(a), np.size(a), np.size(a, 1),
        np.ndim(c), np.shape(a)[1],
    )  # fmt: skip


def grids(v, w):
    x, y = np.meshgrid(v, w)
    p, q, r = np.meshgrid(v, w, v, indexing="ij")
    return x, y, p, q, r, np.identity(3), np.meshgrid(v)[0]


def diagonals(a, v, s):
    return (
        np.diagonal(a), np.diagonal(a, 1), np.diagonal(a, -2), np.diagonal(a, 9), np.diag(a), np.diag(v),
        np.diag(v, 2), np.diag(v, -1), np.trace(s), s.trace(), np.trace(a, 1), np.triu(a), np.tril(a, -1),
        np.triu(s, 2), a.diagonal(),
    )  # fmt: skip


def summed(a, v, i):
    return (
        np.count_nonzero(i), np.count_nonzero(i, axis=0), np.ptp(a, axis=1), np.average(a, weights=a),
        np.average(a, axis=1, weights=v), np.average(a, 0), np.isclose(a, a + 1e-9), np.allclose(a, a + 1e-3),
        np.array_equal(a, a), np.array_equal(a, v), np.linalg.norm(a), np.linalg.norm(a, axis=1),
        np.linalg.norm(v, 1), np.linalg.norm(v, np.inf), np.linalg.norm(v, 3), np.linalg.norm(i),
        np.linalg.norm(a, axis=0, keepdims=True), np.linalg.norm(i, 0, axis=1),
    )  # fmt: skip


def without_nan(m, special):
    return (
        np.nansum(m, 0), np.nanprod(m), np.nanmax(m, 1), np.nanmin(m), np.nanmean(m, axis=1), np.nan_to_num(special),
        np.nan_to_num(special, nan=3.0, posinf=4.0), np.fmax(m, 0.5), np.fmin(m, m[::-1]),
        np.heaviside(special, 0.5), np.isclose(special, special, equal_nan=True),
    )  # fmt: skip


def products(a, b, s, c, d):
    return (
        np.einsum("ij,jk->ik", a, b), np.einsum("ij,jk", a, b), np.einsum("ij,jk->ki", a, b),
        np.einsum("ij,jk->k", a, b), np.einsum("ii", s), np.einsum("ii->i", s), np.einsum("ij->ji", a),
        np.einsum("ij->", a), np.einsum("i,j->ij", a[0], b[0]), np.einsum("i,i", a[0], a[1]),
        np.einsum("ij,jk,kl->il", a, b, s), np.einsum("bij,bjk->bik", c, d), np.einsum("...ij,...jk->...ik", c, d),
        np.einsum("ij,ij->i", a, a), np.einsum("ijk,ikl->jl", c, d), np.einsum("i,ij,ij->j", a[:, 0], a, a),
        np.tensordot(a, b, 1), np.tensordot(c, d, axes=([0, 2], [0, 1])), np.inner(a, a), np.inner(a[0], a[1]),
        np.vdot(a, a), np.kron(a, s), np.cross(a[:, :3], a[:, 3:6]), np.tensordot(a, b, 0),
    )  # fmt: skip


def numerical(a, v, sorted_, values, start, stop):
    return (
        np.linspace(start, stop, 11), np.linspace(0, 1, 5, endpoint=False), np.linspace(start, stop, 1),
        np.gradient(v), np.gradient(a, 0.5, axis=1), np.gradient(a, 0.5, 2.0), np.trapezoid(a, dx=0.3),
        np.trapezoid(a, v), np.trapezoid(a, axis=0), np.searchsorted(sorted_, a), np.searchsorted(sorted_, start),
        np.searchsorted(sorted_, sorted_, side="right"), np.interp(a * 1.5 - 0.2, sorted_, values),
        np.interp(a, sorted_, values, left=-1.0, right=9.0), np.logaddexp(a, 1000 * a), np.sinc(a - v[0]),
        np.round(100 * a, 2), (10 * a).round(1), np.around(10 * a), np.round(100 * a, -1),
    )  # fmt: skip


def reduced(a, v, i, m):
    return (
        np.sum(i, dtype=np.int32), np.sum(i, axis=0, dtype=np.float32), np.prod(i[:2, :3], dtype=np.int16),
        np.sum(a, axis=1, initial=2.5), np.prod(a, 0, initial=3), np.max(a, axis=1, initial=0.5),
        np.min(i, initial=-20), np.sum(a, where=a > 0.5), np.sum(i, axis=1, where=v > 0.5),
        np.mean(a, axis=0, where=a > 0.2), np.mean(a, where=a > 0.9, axis=1, keepdims=True), np.mean(i, where=i > 0),
        np.any(i > 5, axis=0, where=a > 0.5), np.all(i > -9, axis=1, where=i > -9),
        np.max(a, axis=1, where=a < 0.3, initial=-1.0), a.sum(dtype=np.float32),
        np.min(a, where=m, initial=7.0), np.max(a[:0], axis=0, initial=1.0), np.mean(i, axis=1, dtype=np.float32),
        np.sum(i > 0, dtype=np.uint8), i.mean(where=a > 0.5), np.sum(a[:, :0], axis=1, initial=4.0),
    )  # fmt: skip


def padded(a, c, i):
    return (
        np.pad(a, 2, "edge"), np.pad(a, ((1, 0), (0, 9)), mode="wrap"), np.pad(a, (3, 2), mode="reflect"),
        np.pad(a, ((12, 11), (0, 15)), mode="symmetric"), np.pad(c, ((0, 0), (1, 1), (2, 2)), mode="edge"),
        np.pad(i, 1, constant_values=-7), np.pad(a[:1], ((3, 3), (0, 0)), mode="reflect"),
        np.pad(a, 1, mode="constant"),
        np.pad(a, ((0, 0), (17, 20)), mode="reflect"), np.pad(a, 1, constant_values=np.nan), np.pad(i > 0, 1, "edge"),
        np.pad(a[:, :0], ((1, 1), (0, 0)), mode="edge"),
    )  # fmt: skip


def blocks(a, s, v, c):
    return (
        np.rot90(a), np.rot90(a, 2), np.rot90(a, -1), np.rot90(a, 4), np.rot90(c, 1, axes=(2, 0)),
        np.rot90(c, k=3, axes=(-1, 1)), np.block([[a, a[:, :2]], [a[:1], a[:1, :2]]]), np.block([v, v]),
        np.block([[s, 1.0 + s], [2.0 * s, s]]), np.block([[v], [v]]), np.block(a),
    )  # fmt: skip


def chosen(a, v, i, special):
    return (
        np.select([a < 0.2, a < 0.6], [a, 2.0 * v]), np.select([i < 0, i < 4], [i, 7], default=-1),
        np.select((i > 0,), (a,), np.nan), np.isin(i, [1, -3, 5]), np.isin(a, a[0]), np.isin(i, i[0], invert=True),
        np.polyval([2.0, -1.0, 0.5], a), np.polyval(v, a), np.polyval([1, 2, 3], i), np.signbit(special),
        np.signbit(-special), np.signbit(i), np.fmax(special, 0.0), np.fmin(i, 2), np.isin(a, v[:0]),
    )  # fmt: skip


def ordered(a, c, i, special, m):
    s = a.copy()
    s.sort(axis=0)
    return (
        s, np.sort(a), np.sort(c, axis=1), np.sort(i, axis=None),
        np.argsort(a, kind="stable"), i.argsort(0, kind="stable"), np.sort(m),
        np.sort(special), np.argsort(special, stable=True), np.argsort(np.tile(special, 9), kind="stable"),
        np.sort(a.ravel()), np.argsort(-a.ravel()), np.sort(a > 0.5, axis=0), np.sort(a[:, :0]), np.sort(a[:1, :1]),
        np.partition(a, 2, axis=1)[:, 2], np.median(a), np.median(a, axis=0), np.median(m, axis=1, keepdims=True),
        np.median(i, axis=(0, 1)), np.median(c, axis=(2, 0)), np.quantile(a, 0.3),
        np.quantile(a, [0.0, 0.5, 1.0], axis=1),
        np.percentile(c, 25, axis=0), np.percentile(m, (10, 90), keepdims=True), np.quantile(i, 0.4, method="lower"),
        np.quantile(a, 0.4, axis=0, method="higher"), np.quantile(a, v_of(a), method="nearest"),
        np.quantile(i, 0.15, axis=1, method="midpoint"), np.quantile(a.astype(np.float32), 0.7, axis=0),
    )  # fmt: skip


def v_of(a):
    return a[0] / 2


def windowed(a, v, w, c, i):
    windows = np.lib.stride_tricks.sliding_window_view
    return (
        windows(v, 3), windows(a, (2, 3)), windows(c, 2, axis=1), windows(a, (3, 2), axis=(1, 0)).max(axis=(2, 3)),
        windows(w, 20).sum(axis=-1), windows(a, 3, axis=-1).mean(-1), windows(w, 19).var(-1), windows(w, 7) @ v,
        windows(windows(w, 9), 4, axis=0).min(axis=2), np.convolve(v, w), np.convolve(w, v, "same"),
        np.convolve(v, w, "valid"),
        np.convolve(i[0], i[1]), np.convolve(w, [1, 2, 1], mode="same"), np.correlate(w, v), np.correlate(v, w, "full"),
        np.correlate(v, w, "same"), np.correlate(i[0], v[:1]), np.convolve(w, v[:4], "same"),
    )  # fmt: skip


def binned(a, i, w, low):
    counts, edges = np.histogram(a)
    return (
        counts, edges, np.histogram(i, bins=4)[0], np.histogram(a, bins=7, range=(0.2, low))[0],
        np.histogram(i, bins=[-4, -1, 0, 5])[0], np.histogram(a, bins=3, density=True)[0],
        np.histogram(w, 5, weights=2.0 * w)[0], np.histogram(0.0 * w)[1], np.histogram(a.astype(np.float32), 6)[1],
        np.histogram(w[:0], 2)[0], np.digitize(a, [0.2, 0.5, 0.7]), np.digitize(i, np.array([4, 0, -3])),
        np.digitize(i, np.array([4, 0, -3]), right=True), np.digitize(i, [-3, 0, 4], right=True),
        np.linspace(a[0, 0].astype(np.float32), 2, 5), np.linspace(i[0, 0], 7, 4),
    )  # fmt: skip


def variables(a, v, i):
    return (
        np.cov(a), np.cov(a, rowvar=False), np.cov(v), np.cov(v, 2.0 * v + a[0]), np.cov(i, bias=True),
        np.cov(a, ddof=2),
        np.corrcoef(a), np.corrcoef(v, a[1]), np.corrcoef(a.astype(np.float32), rowvar=False), np.corrcoef(v),
    )  # fmt: skip


def operators(a, v, i):
    return (
        np.add(a, v), np.subtract(a, 1), np.multiply(2, a), np.true_divide(i, v), np.mod(i, 5), np.remainder(a, 0.3),
        np.floor_divide(i, 4), np.logical_and(i, i > 0), np.logical_or(i, a > 0.5), np.logical_xor(i > 0, a > 0.5),
        np.logical_not(i), np.invert(i), np.bitwise_and(i, 3), np.left_shift(i, 2), np.negative(a), np.reciprocal(a),
        np.less_equal(a, v), np.not_equal(i, 2), np.power(a, 2), np.positive(a),
    )  # fmt: skip


def ufunc_methods(a, v, i):
    return (
        np.add.reduce(a), np.add.reduce(a, axis=None), np.maximum.reduce(a, axis=1), np.logical_or.reduce(i > 8),
        np.maximum.accumulate(v), np.minimum.accumulate(a, axis=1), np.add.accumulate(a), np.multiply.accumulate(v),
        np.subtract.outer(v, v), np.multiply.outer(a, v), np.maximum.accumulate(i),
    )  # fmt: skip


def written_into(a, b, c):
    np.multiply(a, 2.0, out=c)
    np.exp(c, out=c)
    np.matmul(a, b, out=b)
    return c.sum()


def written_at(x, h, i, v):
    x[i] = v
    x[i[:2]] += 1.0
    np.add.at(x, i, v)
    np.maximum.at(x, i, 0.5)
    np.add.at(h, (i, i), 1.0)
    h[i, i[::-1]] = 7.0
    return x.sum()


A, B, S = (5, 7), (7, 4), (4, 4)
CASES = [
    (rolled, [A, np.int64(-3)]), (repeated, [A, 7]), (looked_up, [A, 7, "indices"]), (stacked, [A, 7]), (split, [A]),
    (axes, [A, (2, 3, 4)]), (grids, [4, 3]), (diagonals, [A, 5, S]), (summed, [A, 7, "integers"]),
    (without_nan, ["nan", "special"]), (products, [A, B, S, (3, 4, 5), (3, 5, 6)]),
    (numerical, [A, 7, "sorted", 13, 0.25, 3.5]), (operators, [A, 7, "integers"]),
    (reduced, [A, 7, "integers", "mask"]), (padded, [A, (2, 3, 4), "integers"]), (blocks, [A, S, 7, (2, 3, 4)]),
    (chosen, [A, 7, "integers", "special"]),
    (ordered, [A, (2, 3, 4), "integers", "special", "nan"]), (windowed, [A, 7, 61, (2, 3, 4), "integers"]),
    (binned, [A, "integers", 40, 0.9]), (variables, [A, 7, "integers"]),
    (ufunc_methods, [A, 7, "integers"]),
    (written_into, [(7, 7), (7, 7), (7, 7)]), (written_at, [7, (7, 7), "places", 3]),
]  # fmt: skip


def made(rng, what):
    if isinstance(what, float | np.generic):
        return what
    if what == "indices":
        return rng.integers(0, 7, A)
    if what == "integers":
        return rng.integers(-9, 9, A)
    if what == "mask":
        return rng.random(A) > 0.8
    if what == "places":
        return np.array([5, 1, 5])
    if what == "nan":
        return np.where(rng.random(A) > 0.6, np.nan, rng.random(A))
    if what == "special":
        return np.array([np.nan, np.inf, -np.inf, 1.5, 0.0, -2.0])
    if what == "sorted":
        return np.sort(rng.random(13))
    return rng.random(what)


def leaves(value):
    return [leaf for part in value for leaf in leaves(part)] if isinstance(value, tuple | list) else [value]


@pytest.mark.filterwarnings(
    "ignore:All-NaN", "ignore:Mean of empty", "ignore:divide by zero", "ignore:invalid value"
)
@pytest.mark.parametrize(("function", "arguments"), CASES, ids=[f.__name__ for f, _ in CASES])
def test_as_numpy(rng, function, arguments):
    given = [made(rng, what) for what in arguments]
    theirs = [x.copy() if isinstance(x, np.ndarray) else x for x in given]
    expected, found = leaves(function(*theirs)), leaves(pk.jit(function)(*given))
    assert len(found) == len(expected)
    for number, (have, want) in enumerate(zip(found, expected, strict=True)):
        have, want = np.asarray(have), np.asarray(want)
        assert have.shape == want.shape and have.dtype == want.dtype, number
        rtol = 2e-7 if want.dtype == np.float32 else 1e-12
        np.testing.assert_allclose(have, want, rtol=rtol, atol=rtol / 10, err_msg=str(number))
    for have, want in zip(given, theirs, strict=True):
        np.testing.assert_allclose(have, want, rtol=1e-12)


def test_derivatives(rng):
    def loss(x, w):
        y = np.roll(x, 1, 0) * np.roll(x, -2, 1) + np.tile(x[:1], (5, 1)) + np.triu(x)
        z = np.einsum("ij,ik->jk", y, w) + np.diag(x[0])
        return (
            (z * z).sum()
            + np.trapezoid(np.gradient(x, axis=1)).sum()
            + np.linalg.norm(x)
            + np.nansum(x / w)
            + (np.pad(x, 3, mode="reflect") * np.pad(w, 3, mode="wrap") ** 2).sum()
            + np.polyval(w[0], x).mean()
            + np.sum(x * w, where=x > 0.5)
            + np.max(x, initial=0.1)
            + np.select([x < 0.3], [x * w], w).sum()
            + (np.sort(x, axis=0) * w).sum()
            + (np.sort(x.ravel()) * w.ravel()[::-1]).sum()
            + np.median(x, axis=1).sum() * np.quantile(w, 0.3)
            + (np.convolve(x[0], w[1], "same") ** 2).sum()
            + np.corrcoef(x[2], w[2])[0, 1]
            + (np.lib.stride_tricks.sliding_window_view(x, (2, 3)).max(axis=(2, 3)) * w[1:, 2:]).sum()
            + (np.lib.stride_tricks.sliding_window_view(w, 4, axis=1).sum(-1) ** 2).sum()
        )

    x, w = rng.random((5, 7)), 1 + rng.random((5, 7))
    gradient = pk.grad(pk.jit(loss), argnums=(0, 1))(x, w)
    for found, number in zip(gradient, range(2), strict=True):
        for at in [(0, 0), (2, 3), (4, 6)]:
            moved = [[x.copy(), w.copy()] for _ in range(2)]
            for sign, pair in zip((1, -1), moved, strict=True):
                pair[number][at] += sign * 1e-6
            difference = (loss(*moved[0]) - loss(*moved[1])) / 2e-6
            np.testing.assert_allclose(found[at], difference, rtol=2e-6)


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("np.einsum('ij,jk->iz', x, x)", "is no subscript"), ("np.einsum('ijk->k', x)", "another number of axes"),
        ("np.einsum('ij,jk->ik', x, x)", "have 7 and 5 elements"), ("np.split(x, 3)", "no 3 equal parts"),
        ("np.roll(x, 1.5, 0)", "a shift is an integer"), ("np.repeat(x, -1)", "not negative"),
        ("np.gradient(x[:1])", "takes 2 elements"), ("np.add(x, x, out=x[0].copy())", "the result has the shape"),
        ("np.linspace(0, 1, x.sum())", "known when compiling"), ("np.take(x, x)", "indices are integers"),
        ("np.add(x, x, where=x > 0)", "with `where` alone"), ("np.unique(x)", "np.unique"),
        ("np.pad(x, 1, mode='mean')", "has no mode 'mean'"), ("np.max(x, where=x > 0)", "may choose none"),
        ("np.pad(x[:0], 1, mode='edge')", "no elements"), ("np.sum(x, where=x)", "takes bools"),
        ("np.mean(x, dtype=np.int32)", "a mean is a float"), ("np.rot90(x, axes=(0,))", "a plane of 2 axes"),
        ("np.partition(x, 9)", "no element 9 among 7"), ("np.quantile(x, 0.5, method='hazen')", "no method 'hazen'"),
        ("np.median(x[:0], axis=0)", "of no elements"), ("np.convolve(x, x)", "takes vectors"),
        ("np.lib.stride_tricks.sliding_window_view(x, 3)", "for 2 axes"), ("np.histogram(x, bins=0)", "1 bin at least"),
        ("np.lib.stride_tricks.sliding_window_view(x[0], 8)", "does not fit"),
        ("np.bincount(x[0] > 0)", "how many bins"),
        ("np.convolve(x[0] > 0, x[0] > 0)", "these are bools"), ("pk.bitcast(x, np.int32)", "has 64 bits"),
        ("np.block([x, [x]])", "not nested equally deep"), ("np.select([x > 0], [x, x])", "1 conditions"),
    ],
)  # fmt: skip
def test_errors_stand_at_the_call(rng, expression, said, tmp_path):
    file = tmp_path / "program.py"
    file.write_text(f"import numpy as np\nimport pykern as pk\n\ndef program(x):\n    return {expression}\n")
    scope: dict = {}
    exec(compile(file.read_text(), file, "exec"), scope)
    with pytest.raises(pk.KernelError) as caught:
        pk.jit(scope["program"])(rng.random((5, 7)))
    assert said in str(caught.value) and f'"{file}", line 5' in str(caught.value)


@pytest.mark.parametrize("device", ["cpu", "python", "opencl"], indirect=True)
def test_operators_in_kernels(rng, device):
    @pk.kernel
    def kernel(o, p, x, y):
        i = pk.index()
        o[i] = np.add(x[i], np.multiply(y[i], 2)) - np.mod(x[i], 3)
        p[i] = np.logical_and(np.less(x[i], y[i]), np.not_equal(x[i], 0)) + np.left_shift(p[i], 2)

    x, y = rng.integers(0, 9, 37).astype(np.float32), rng.integers(0, 9, 37).astype(np.float32)
    p = rng.integers(0, 9, 37).astype(np.int32)
    arrays = [pk.asarray(v.copy(), device=device) for v in (np.zeros_like(x), p, x, y)]
    kernel(*arrays, ndrange=37)
    np.testing.assert_array_equal(arrays[0].numpy(), x + 2 * y - x % 3)
    np.testing.assert_array_equal(arrays[1].numpy(), ((x < y) & (x != 0)) + (p << 2))


@pytest.mark.parametrize("device", ["cpu", "python", "opencl"], indirect=True)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32", "uint8"])
def test_extrema_without_nan_and_signs_in_kernels(device, dtype):
    @pk.kernel
    def kernel(most, least, negative, x, y):
        i = pk.index()
        most[i], least[i], negative[i] = np.fmax(x[i], y[i]), np.fmin(x[i], y[i]), np.signbit(x[i])

    special = [0.0, -0.0, 1.5, -2.0, np.inf, -np.inf, np.nan, -np.nan] if "float" in dtype else [0, 1, 7, 100]
    x, y = (v.ravel() for v in np.meshgrid(np.array(special, dtype), np.array(special, dtype)))
    made = [np.zeros(x.size, dtype), np.zeros(x.size, dtype), np.zeros(x.size, bool), x, y]
    arrays = [pk.asarray(v, device=device) for v in made]
    kernel(*arrays, ndrange=x.size)
    for found, expected in zip(arrays, (np.fmax(x, y), np.fmin(x, y), np.signbit(x)), strict=False):
        np.testing.assert_array_equal(found.numpy(), expected)


def test_windows_that_are_read_twice(rng):
    """By one operation, which reads the array they are windows of instead."""

    @pk.jit
    def program(x):
        w = np.lib.stride_tricks.sliding_window_view(x, 5)
        return (w * w).mean(axis=-1) - w.mean(axis=-1) ** 2, (w - w[:, ::-1] * w).sum(axis=-1)

    x = rng.random(103)
    w = np.lib.stride_tricks.sliding_window_view(x, 5)
    first, second = program(x)
    np.testing.assert_allclose(first, w.var(axis=-1), atol=1e-12)
    np.testing.assert_allclose(second, (w - w[:, ::-1] * w).sum(axis=-1), atol=1e-12)


def typed(i8, u8, u16, f32, b):
    np.subtract.at(i8, np.array([0, -1, 0]), 0.5)  # each update is rounded
    np.multiply.at(u16, np.array([1, 2, 1]), 1.5)
    return (
        np.rint(i8), np.rint(u16), np.rint(b), np.fmod(i8, u8 + 1), np.fmod(i8, -3), np.fmod(u16, u8 + 2),
        np.fmod(f32, 0.5), np.float_power(f32, 2), np.float_power(u8, u8), np.bitwise_count(i8), np.heaviside(i8, u8),
        np.heaviside(b, b), np.heaviside(i8, 0.5), np.heaviside(f32, i8), np.arctan2(u16, i8), np.arctan2(u8, i8),
        np.hypot(i8, 3), np.copysign(i8, 3.0), np.bitwise_count(u16[:2]), np.logaddexp(i8, u16),
        np.quantile(u16, 1), np.quantile(i8, [0, 1]), np.percentile(u16, 1),
    )  # fmt: skip


def test_types_of_small_integers(rng):
    """What NumPy computes in where the operands are integers of 8 or 16 bits."""
    given = [
        rng.integers(-9, 9, 5).astype(np.int8), rng.integers(0, 4, 5).astype(np.uint8),
        rng.integers(0, 9, 5).astype(np.uint16), rng.random(5).astype(np.float32), rng.random(5) > 0.5,
    ]  # fmt: skip
    theirs = [x.copy() for x in given]
    expected, found = typed(*theirs), pk.jit(typed)(*given)
    for number, (have, want) in enumerate(zip([*found, *given], [*expected, *theirs], strict=True)):
        assert have.dtype == want.dtype, number
        rtol = {"float16": 2e-3, "float32": 1e-6}.get(want.dtype.name, 1e-13)
        np.testing.assert_allclose(have, want, rtol=rtol, err_msg=str(number))


def test_counts_and_remainders_in_kernels(rng):
    @pk.kernel
    def kernel(o, p, x):
        i = pk.index()
        o[i] = np.bitwise_count(x[i]) + np.rint(x[i])
        p[i] = np.fmod(x[i], 4) / 2 + np.float_power(x[i], 2)

    x = rng.integers(-99, 99, 21).astype(np.int32)
    o, p = np.zeros(21), np.zeros(21)
    kernel(o, p, x, ndrange=21)
    np.testing.assert_array_equal(o, np.bitwise_count(x) + np.rint(x))
    np.testing.assert_array_equal(p, np.fmod(x, 4) / 2 + np.float_power(x, 2))


def clipped(a, i):
    return (
        np.clip(a, None, 0.5), np.clip(a, 0.25, None), a.clip(0.25), a.clip(max=0.5), np.clip(i, a_min=-1, a_max=2),
        np.clip(i, min=i[0], max=3), np.clip(i, -1.5, 2), np.concatenate((a, i), axis=None), np.clip(a, 0.2, a.max()),
        np.concatenate((a[0], i), axis=None),
    )  # fmt: skip


def test_bounds_that_there_are_not(rng):
    given = [rng.random((3, 4)), rng.integers(-5, 6, (2, 4))]
    for number, (have, want) in enumerate(zip(pk.jit(clipped)(*given), clipped(*given), strict=True)):
        assert have.dtype == want.dtype, number
        np.testing.assert_array_equal(have, want, err_msg=str(number))


def booleans(b, u8, u32, i64):
    return (
        b**2, np.square(b), np.round(b), b.round(), b**3, np.power(b, 2), np.reciprocal(i64), np.reciprocal(b | True),
        np.select([u32 > 4, b], [u32, b], 2), np.select([b], [u8], 1.5), np.sum((u32[0], u32[1])),
        np.sum([u8[0], u8[1]]), np.max((u8[0], u8[1])), sum((u8[0], u8[1])),
    )  # fmt: skip


def test_types_of_bools_and_of_few_numbers():
    given = [
        np.array([True, False, True]), np.array([200, 100, 3], np.uint8), np.array([2**32 - 1, 5, 3], np.uint32),
        np.array([1, -7, -1]),
    ]  # fmt: skip
    with np.errstate(over="ignore"):
        expected = booleans(*given)
    for number, (have, want) in enumerate(zip(pk.jit(booleans)(*given), expected, strict=True)):
        have, want = np.asarray(have), np.asarray(want)
        assert have.dtype == want.dtype, number
        np.testing.assert_array_equal(have, want, err_msg=str(number))


VIEWS = (
    "np.diag(x)", "np.diag(x, 1)", "x.diagonal()", "np.lib.stride_tricks.sliding_window_view(x, 2, axis=0)",
    "np.broadcast_to(x, (2, 4, 4))", "np.rot90(x)", "np.rot90(x, 0)", "np.asarray(x)", "np.einsum('ii->i', x)",
    "np.linalg.matrix_power(x, 1)", "np.flip(x, 0)", "np.ravel(x)", "np.split(x, 2)[1]", "np.diff(x, n=0)",
    "np.array(x, copy=False)",
)  # fmt: skip
COPIES = ("np.array(x)", "np.asarray(x, np.float32)", "x[[0, 1]]", "np.tile(x, 1)", "np.roll(x, 0)", "+x")


QUICK = ("np.diag(x)", "np.asarray(x)", "np.array(x)")
PROGRAMS = """
import numpy as np


def after(x):
    v = {0}
    x[...] = 2 * x + 1
    return v + 0


def through(x):
    v = {0}
    v[...] = 5
    return x + 0
"""


@pytest.mark.parametrize(
    "expression",
    [*QUICK, *(pytest.param(e, marks=pytest.mark.slow) for e in (*VIEWS, *COPIES) if e not in QUICK)],
)
def test_a_view_shows_what_is_written_or_is_refused(expression, tmp_path):
    """Never a copy where NumPy has a view, nor the other way round."""
    made = load(PROGRAMS.format(expression), tmp_path)
    for function in (made.after, made.through):
        x, y = np.arange(16.0).reshape(4, 4), np.arange(16.0).reshape(4, 4)
        try:
            expected = function(x)
        except ValueError:
            continue  # a view that NumPy does not let be written
        try:
            found = pk.jit(function)(y)
        except pk.KernelError:
            found = None
        if found is None:
            assert expression in VIEWS  # refused
            continue
        np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(y, x)
