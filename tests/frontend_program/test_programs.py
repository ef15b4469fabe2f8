"""Array programs against the same Python function run by NumPy."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pykern as pk
from tests.frontend_program.execute import run

TOLERANCE = {"f": {2: 4e-3, 4: 2e-5, 8: 1e-12}}


def compare(function: Callable, *args: Any, static: tuple[str, ...] = ()) -> Any:
    """Run the program and NumPy on copies of the arguments; results and arguments have to agree."""
    ours, theirs = copy.deepcopy(args), copy.deepcopy(args)
    got = run(function, *ours, static=static)
    with np.errstate(all="ignore"):
        expected = function(*theirs)
    close(got, expected)
    for mine, reference in zip(ours, theirs, strict=True):
        close(mine, reference)
    return got


def close(got: Any, expected: Any) -> None:
    """Same structure, types, shapes; numbers within rounding."""
    if isinstance(expected, tuple | list):
        assert len(got) == len(expected)
        for a, b in zip(got, expected, strict=True):
            close(a, b)
    elif isinstance(expected, dict):
        assert list(got) == list(expected)
        for key in expected:
            close(got[key], expected[key])
    elif isinstance(expected, np.ndarray | np.generic):
        assert got.dtype == expected.dtype, (got.dtype, expected.dtype)
        assert np.shape(got) == np.shape(expected)
        if expected.dtype.kind == "f":
            rtol = TOLERANCE["f"][expected.dtype.itemsize]
            np.testing.assert_allclose(got, expected, rtol=rtol, atol=rtol)
        else:
            np.testing.assert_array_equal(got, expected)
    elif isinstance(expected, float):
        assert type(got) is float
        assert got == pytest.approx(expected, nan_ok=True)
    else:
        assert got == expected


def arrays(rng: np.random.Generator, *shapes: tuple[int, ...], dtype: str = "f8") -> list[np.ndarray]:
    kind = np.dtype(dtype)
    if kind.kind == "f":
        return [rng.standard_normal(s).astype(kind) for s in shapes]
    if kind.kind == "b":
        return [rng.random(s) < 0.5 for s in shapes]
    info = np.iinfo(kind)
    return [rng.integers(info.min, info.max, s, dtype=kind, endpoint=True) for s in shapes]


# -- element by element ---------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", "i4", "u1", "i8"])
def test_operators(rng, dtype):
    def program(x, y, s, n):
        a = x + y * 2 - y / 3
        b = (x > y) & (x != 0) | ~(y <= x)
        c = x * s + n * y
        return a, b, c, -x, abs(x), x**2, x // 3, x % 5

    x, y = arrays(rng, (3, 7), (7,), dtype=dtype)
    compare(program, x, y, 2.5, 3)


@pytest.mark.parametrize(
    "shapes", [((3, 1), (1, 4)), ((5,), (2, 5)), ((2, 1, 3), (4, 1)), ((), (3,)), ((1,), (1, 1))]
)
def test_broadcasting(rng, shapes):
    def program(x, y):
        return x * y + x, np.where(x > y, x, y), np.maximum(x, y)

    x, y = (np.asarray(v) for v in arrays(rng, *shapes))
    compare(program, x, y)


def test_functions(rng):
    def program(x):
        y = np.abs(x) + 0.5
        return (np.exp(x), np.log(y), np.sqrt(y), np.tanh(x), np.sin(x), np.arctan2(x, y), np.floor(x),
                np.clip(x, -1, 1), np.isnan(x), np.sign(x), np.hypot(x, y), np.power(y, x),
                np.minimum(x, 0))  # fmt: skip

    compare(program, *arrays(rng, (4, 5)))
    compare(program, *arrays(rng, (9,), dtype="f4"))


@pytest.mark.parametrize(
    "pair", [("i1", "u1"), ("i4", "f4"), ("i2", "f2"), ("u4", "i4"), ("b", "i1"), ("f2", "f8"), ("u8", "i8")]
)
def test_promotion(rng, pair):
    def program(x, y):
        return x + y, x * y, np.where(x > y, x, y), x < y, x.astype(np.float32), y * 2, x * 1.5

    [x], [y] = (arrays(rng, (5,), dtype=d) for d in pair)
    compare(program, x, y)


def test_numpy_scalars_and_python_numbers(rng):
    def program(x, a, b, c, flag):
        return x * a, x + b, x * c, a * b, a + 1, x * (a > 0), np.where(flag, x, -x), c + 1, b * 2

    [x] = arrays(rng, (5,), dtype="f4")
    compare(program, x, np.float32(1.5), np.float64(2.5), 7, True)


def test_bools(rng):
    def program(p, q):
        return (
            p & q,
            p | q,
            p ^ q,
            ~p,
            p + q,
            p * q,
            p.sum(),
            p.any(axis=0),
            p.all(),
            p.astype(np.float32),
            p * 1.5,
        )

    compare(program, *arrays(rng, (3, 5), (3, 5), dtype="b"))


# -- reductions -----------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", "i4", "u1", "i8", "b"])
def test_reductions(rng, dtype):
    def program(x):
        return (x.sum(), x.sum(axis=0), np.sum(x, axis=(0, -1)), x.max(axis=1), x.min(), x.mean(axis=-1, keepdims=True),
                x.prod(axis=(0,)), np.any(x, axis=2), np.all(x), x.argmax(), x.argmax(axis=1),
                x.argmin(axis=0, keepdims=True), x.sum(keepdims=True), pk.max(x, axis=0))  # fmt: skip

    compare(program, *arrays(rng, (3, 4, 5), dtype=dtype))


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", "i4", "u1", "b"])
def test_variances(rng, dtype):
    def program(x):
        return (x.var(), x.var(axis=1), np.var(x, axis=(0, 2), ddof=1), pk.var(x, 0, keepdims=True), x.std(axis=-1),
                np.std(x, ddof=2), x.std(axis=1, ddof=3, keepdims=True))  # fmt: skip

    compare(program, *arrays(rng, (3, 4, 5), dtype=dtype))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy's
def test_variances_far_from_zero_and_of_little(rng):
    """The mean is taken away first: nothing is lost to its square. Without elements to count it is NumPy's NaN."""

    def program(x, y):
        return x.var(), x.std(axis=1), y.var(axis=0), y.var(axis=0, ddof=1)

    compare(program, 1e8 + rng.random((5, 33)), np.array([[1.5, np.nan, np.inf]]))


def test_gradient_of_a_variance(rng):
    x = rng.random((4, 7))

    @pk.jit
    def spread(x):
        return (x.var(axis=1, ddof=1) + x.std(axis=1)).sum()

    assert pk.check_grads(spread, (x,)).difference < 1e-6
    c = x - x.mean(axis=1, keepdims=True)
    by_hand = 2 * c / 6 + c / (7 * x.std(axis=1, keepdims=True))
    np.testing.assert_allclose(pk.grad(spread)(x), by_hand, rtol=1e-12, atol=1e-15)


def test_special_values_of_reductions():
    def program(x):
        return x.max(axis=1), x.min(axis=1), x.argmax(axis=1), x.argmin(axis=1), x.sum(axis=1)

    nan, inf = np.nan, np.inf
    compare(
        program, np.array([[1, nan, 3], [-inf, -inf, -inf], [nan, 1, nan], [inf, 2, inf], [-0.0, 0.0, -0.0]])
    )


# -- products -------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["f8", "f4", "i4", "f2"])
@pytest.mark.parametrize(
    "shapes",
    [((3, 4), (4, 5)), ((4,), (4, 5)), ((3, 4), (4,)), ((4,), (4,)), ((2, 3, 4), (2, 4, 5)), ((2, 3, 4), (4, 5)),
     ((2, 1, 3, 4), (5, 4, 2)), ((4,), (2, 4, 5)), ((2, 3, 4), (4,))],
)  # fmt: skip
def test_matmul(rng, dtype, shapes):
    def program(a, b):
        return a @ b

    a, b = (v % 7 if dtype == "i4" else v for v in arrays(rng, *shapes, dtype=dtype))
    compare(program, a, b)


def test_dot_and_outer(rng):
    def program(a, b, v):
        return (
            np.dot(a, b),
            np.dot(a, v),
            a.dot(v),
            np.outer(v, v),
            np.dot(v, v),
            np.dot(a, 2.0),
            pk.matmul(a, v),
        )

    compare(program, *arrays(rng, (2, 3, 4), (5, 4, 6), (4,)))


def test_mixed_product(rng):
    def program(a, b):
        return a @ b

    [a], [b] = arrays(rng, (3, 4), dtype="f4"), arrays(rng, (4, 2), dtype="f8")
    compare(program, a, b)


# -- shapes and parts -----------------------------------------------------------------------------


def test_shapes(rng):
    def program(x):
        return (x.T, np.transpose(x, (2, 0, 1)), x.reshape(6, -1), x.reshape((4, 6)), x.ravel(), x[None].squeeze(0),
                np.expand_dims(x, -1), np.broadcast_to(x[0], (3, 3, 4)), np.swapaxes(x, 0, 2), np.flip(x, 1),
                np.flip(x), x.flatten(), x.T.T, x.reshape(-1)[3])  # fmt: skip

    compare(program, *arrays(rng, (2, 3, 4)))


def test_static_facts(rng):
    def program(x):
        n, m = x.shape
        assert x.ndim == 2 and n == 3
        if x.dtype == np.float64:
            y = x * n
        else:
            y = x
        return y / len(x), x.size, x.ndim, x.shape, m

    compare(program, *arrays(rng, (3, 4)))


def test_parts(rng):
    def program(x):
        return (x[1], x[-1, 2], x[1:, ::2], x[::-1], x[3:0:-2, 1:-1], x[..., 0], x[:, None, 1:3], x[2:2], x[1, ...],
                x[None, ..., None], x[5:], x[-3:-1, -1::-3])  # fmt: skip

    compare(program, *arrays(rng, (4, 5)))


def test_run_time_index(rng):
    def program(x, i, j):
        y = x * 1
        y[i] = 7
        y[j, i] += 1
        return x[i], x[i, j], y, x[:, j]

    compare(program, *arrays(rng, (4, 5)), 2, -1)


def test_joining(rng):
    def program(x, y):
        return (np.concatenate((x, y)), np.concatenate([x, x * 2], axis=1), np.stack((x, x)),
                np.stack((x[0], y[0]), axis=-1), np.pad(x, 1), np.pad(x, (2, 0)),
                np.pad(x, ((1, 2), (0, 3))))  # fmt: skip

    compare(program, *arrays(rng, (2, 3), (4, 3)))


def test_making(rng):
    def program(x):
        a = np.zeros((2, 3))
        b = np.ones(4, dtype=np.float32)
        c = np.full((2, 2), 7)
        d = pk.zeros((2,), pk.i32) + pk.full(2, 1.5, pk.f32)
        return (a, b, c, d, np.zeros_like(x), np.ones_like(x, dtype=np.int32), np.full_like(x, 3), np.arange(5),
                np.arange(2, 10, 3), np.arange(0.0, 1.0, 0.25), np.eye(3), np.eye(2, 4, dtype=np.float32),
                pk.arange(7, dtype=pk.f32))  # fmt: skip

    got = run(program, *arrays(rng, (2, 3), dtype="f4"))
    [x] = arrays(rng, (2, 3), dtype="f4")
    close(got, program(x))


# -- writing in place -----------------------------------------------------------------------------


def test_writing_parts(rng):
    def program(x, y):
        x[1:-1, 1:-1] = y
        x[0] = 3
        x[::2, 0] += 1
        x[:, -1] *= y.sum()
        x[-1, ::-2] = np.arange(3)
        y[...] = y + 1
        y += 2
        return x.sum()

    compare(program, *arrays(rng, (4, 5), (2, 3)))


@pytest.mark.parametrize("dtype", ["f4", "i4", "u1", "b"])
def test_writing_converts(rng, dtype):
    def program(x, y):
        x[1:2] = y
        x[2] = 1

    [x], [y] = arrays(rng, (4,), dtype=dtype), arrays(rng, (1,), dtype="u1")
    compare(program, x, y % 2)


def test_one_array_under_two_names(rng):
    def program(x):
        y = x
        y[0] = 5
        z = y.copy()
        z[1] = 7
        return x, z

    compare(program, *arrays(rng, (3,)))


def test_return_forms(rng):
    def program(x):
        return {"a": x, "b": (x.sum(), None, 3, "word")}, x[0], (x, x)

    compare(program, *arrays(rng, (3,)))


# -- branches -------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [0, 3])
def test_branches(rng, n):
    def program(x, n):
        if n > 2:
            y = x * 2
            x[0] = 1
            s = 1
        elif n > 5:
            y = x
            s = 3
        else:
            y = x + 1
            s = 2.5
        z = y if x.sum() > 0 else -y
        return y, z, s, bool(n > 1 and x[0] > 0), (n > 1 or n < -1), not n

    compare(program, *arrays(rng, (3,)), n)


@pytest.mark.parametrize("n", [0, 1, 2])
def test_returns(rng, n):
    def program(x, n):
        if n == 0:
            return x
        y = x * 2
        if n == 1:
            return y + 1
        return y

    compare(program, *arrays(rng, (3,)), n)


# -- loops ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [0, 1, 4])
def test_loops(rng, n):
    def program(x, n):
        total = 0.0
        y = x * 1
        k = 0
        for i in pk.range(n):
            y = y * 2 + i
            x[0] += 1
            total += y.sum()
            k = i
        for j in pk.range(10, n, -3):
            y = y + j
        return y, float(total + 0.5), k

    [x] = arrays(rng, (3,))
    compare(program, x, n)


def test_nested_loops(rng):
    def program(x):
        for i in pk.range(3):
            for j in pk.range(2):
                x[i] = x[i] * x[j] + 1
            x += i
        return x

    compare(program, *arrays(rng, (4,)))


def test_unrolled_loops(rng):
    def program(x, y):
        total = x * 0
        for i in range(3):
            total = total + x[i]
        for k, (a, b) in enumerate(zip((x, y), (1, 2), strict=True)):
            total = total + a * b + k
        for row in y:
            total = total * row
        return total

    compare(program, *arrays(rng, (3,), (3,)))


@pytest.mark.parametrize("n", [0, 1, 2, 3])
@pytest.mark.parametrize("static", [(), ("n",)])
def test_names_that_change_places(rng, n, static):
    def program(a, b, n):
        for i in pk.range(n):
            b[...] = a * 2 + i
            a, b = b, a
        return a, b

    compare(program, *arrays(rng, (3,), (3,)), n, static=static)


@pytest.mark.parametrize("n", [0, 4, 5])
def test_three_names_that_change_places(rng, n):
    def program(x, n):
        a, b, c = x * 1, x * 2, x * 3
        for _ in pk.range(n):
            a[0] += b[1]
            a, b, c = b, c, a
        return a, b, c

    compare(program, *arrays(rng, (3,)), n)


@pytest.mark.parametrize("limit", [0.0, 5.0, 1e9])
def test_while_break_and_continue(rng, limit):
    def program(x, limit):
        n = 0
        while x.sum() < limit:
            x = x * 2 + 1
            n += 1
            if n == 7:
                break
        for i in pk.range(10):
            if i == 2:
                continue
            if i > 4:
                break
            x = x + i
        return x, n

    compare(program, np.abs(*arrays(rng, (3,))), limit)


def test_return_in_a_loop(rng):
    def find(x, limit):
        for i in pk.range(10):
            x = x * 2
            if x.sum() > limit:
                return x, i
        return x, -1

    def program(x):
        return find(x, 50.0), find(x, 1e12)

    compare(program, np.abs(*arrays(rng, (3,))))


# -- functions ------------------------------------------------------------------------------------


@pk.func
def smoothed(x, by=2.0):
    return (x[:-1] + x[1:]) / by


def plain(x, *, scale):
    x[0] = scale
    return smoothed(x) * scale


def test_functions_are_inlined(rng):
    def program(x):
        return plain(x, scale=3.0), smoothed(by=1.0, x=x)

    compare(program, *arrays(rng, (5,)))


def test_python_own_functions_mean_what_they_do_in_python(rng):
    """`sum` adds rows to a start, `min` and `max` choose among numbers; NumPy's of the name take axes."""
    x, y = rng.random((2, 3)), rng.random(3)

    @pk.jit
    def all_rows(x):
        return sum(x)

    @pk.jit
    def from_one(x):
        return sum(x, 1)

    @pk.jit
    def least(x):
        return min(x, -1)

    @pk.jit
    def elements(x, y):
        return sum(y), max(y), np.sum(x, 1), np.max(x, 0), sum((y, y)), max(y[0], y[1], 0.5)

    for program, given, told in (
        (all_rows, x, "x.sum"),
        (from_one, y, "adds the rows"),
        (least, x, "pk.minimum"),
    ):
        with pytest.raises(pk.KernelTypeError, match="Python's") as caught:
            program(given)
        assert told in str(caught.value)
    wanted = (y.sum(), y.max(), x.sum(1), x.max(0), y + y, max(y[0], y[1], 0.5))
    for a, b in zip(elements(x, y), wanted, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


def test_lists_as_indices(rng):
    """A list is an array of indices, as in NumPy; a tuple is one index an axis, unless it stands among others."""

    def chosen(x, y):
        pair = (1, 2)
        return (x[[1, 0]], x[[1, 0], [2, 3]], x[pair], x[pair, 3], x[:, [2, 0]], x[(0, 1), 2], y[[0, 1], :, [-1, 1]],
                x[[k * 2 for k in range(2)]], y[..., [3, 1]])  # fmt: skip

    x, y = rng.random((4, 5)), rng.random((2, 3, 4))
    for have, want in zip(pk.jit(chosen)(x, y), chosen(x, y), strict=True):
        assert np.shape(have) == np.shape(want)
        np.testing.assert_array_equal(have, want)
    with pytest.raises(pk.KernelTypeError, match="index 4 is outside of axis 0"):
        pk.jit(lambda x: x[[0, 4]])(x)
    with pytest.raises(pk.KernelTypeError, match="an index must be an integer"):
        pk.jit(lambda x: x[[0, 0.5]])(x)


def test_reductions_of_a_tuple_of_arrays(rng):
    """NumPy makes one array of them; Python's `sum` adds them."""

    def reduced(x, y):
        return (
            np.sum((x, y)),
            np.max([x, y], axis=0),
            np.mean((x, y), axis=1),
            np.cumsum((x, y), 1),
            sum((x, y)),
        )

    x, y = rng.random(5), rng.random(5)
    for have, want in zip(pk.jit(reduced)(x, y), reduced(x, y), strict=True):
        assert np.shape(have) == np.shape(want)
        np.testing.assert_allclose(have, want, rtol=1e-13)


def test_tuples_are_compared_item_by_item(rng):
    def compared(x, y, n):
        assert x.shape == (2, 3) and x.shape[1:] == y.shape != x.shape
        t = (y[0], n)
        return t == (y[0], 5), t != (y[0], 6), t == (1, 2, 3), (1, (2, n)) == (1, (2, 5)), x.shape == [2, 3]

    x, y = rng.random((2, 3)), rng.random(3)
    assert [bool(v) for v in pk.jit(compared)(x, y, 5)] == [bool(v) for v in compared(x, y, 5)]
    with pytest.raises(pk.KernelTypeError, match="`<` compares scalars"):
        pk.jit(lambda x: x.shape < (2, 4))(x)
