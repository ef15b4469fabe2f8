"""Python's operators on every dtype against NumPy's, on random numbers and the special ones."""

from __future__ import annotations

import operator

import ml_dtypes
import numpy as np
import pytest

import pykern as pk

BF16 = ml_dtypes.bfloat16
SIGNED = [np.int8, np.int16, np.int32, np.int64]
UNSIGNED = [np.uint8, np.uint16, np.uint32, np.uint64]
INTEGERS = [*SIGNED, *UNSIGNED]
FLOATS = [np.float16, BF16, np.float32, np.float64]
MIXED = [
    (np.int8, np.uint8),
    (np.uint16, np.int32),
    (np.int32, np.uint32),
    (np.uint64, np.int64),
    (np.bool_, np.int16),
    (np.int8, np.float16),
    (np.int16, np.float32),
    (np.int32, np.float32),
    (np.float32, np.uint64),
    (np.float16, np.float32),
    (np.float16, BF16),
    (BF16, np.int8),
    (BF16, np.float64),
    (np.bool_, np.float32),
]
NO_TRAPS = {"divide": "ignore", "invalid": "ignore", "over": "ignore", "under": "ignore"}


def is_float(dtype: type) -> bool:
    return dtype in FLOATS


def edges(dtype: type) -> list:
    """Values where an operator may go wrong."""
    if dtype is np.bool_:
        return [False, True]
    if is_float(dtype):
        return [0.0, -0.0, 1.0, -1.0, 2.5, -2.5, np.inf, -np.inf, np.nan]
    info = np.iinfo(dtype)
    return [0, 1, 3, info.max, info.min, info.max - 1] + ([-1, -3] if info.min else [])


def pairs(a: type, b: type, rng: np.random.Generator, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Every edge with every edge, and random pairs."""
    x, y = np.meshgrid(np.array(edges(a), a), np.array(edges(b), b))
    return np.concatenate([x.ravel(), some(a, rng, count)]), np.concatenate([y.ravel(), some(b, rng, count)])


def some(dtype: type, rng: np.random.Generator, count: int) -> np.ndarray:
    if dtype is np.bool_:
        return rng.random(count) < 0.5
    if is_float(dtype):
        return (rng.standard_normal(count) * 8).astype(dtype)
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max, count, dtype, endpoint=True) >> rng.integers(
        0, info.bits, count
    ).astype(dtype)


def expect(got: np.ndarray, want: np.ndarray, what: str, ulps: float = 0) -> None:
    """Equal in bits but for the payload of NaN; or, with `ulps`, as near as that."""
    want = np.asarray(want)
    assert got.dtype == want.dtype
    if not is_float(got.dtype.type):
        np.testing.assert_array_equal(got, want, err_msg=what)
        return
    here, there = got.astype(np.float64), want.astype(np.float64)
    if ulps:
        eps = float(ml_dtypes.finfo(got.dtype).eps)
        np.testing.assert_allclose(
            here, there, rtol=ulps * eps, atol=float(ml_dtypes.finfo(got.dtype).tiny), err_msg=what
        )
        return
    np.testing.assert_array_equal(here, there, err_msg=what)
    numbers = ~np.isnan(there)
    np.testing.assert_array_equal(
        np.signbit(here[numbers]), np.signbit(there[numbers]), err_msg=f"{what}: sign"
    )


# -- arithmetic and comparisons -----------------------------------------------------------------


@pk.kernel
def arithmetic(plus, minus, times, over, floor, rest, x, y):
    i = pk.index()
    plus[i] = x[i] + y[i]
    minus[i] = x[i] - y[i]
    times[i] = x[i] * y[i]
    over[i] = x[i] / y[i]
    floor[i] = x[i] // y[i]
    rest[i] = x[i] % y[i]


@pk.kernel
def compared(out, x, y):
    i = pk.index()
    out[0, i] = x[i] < y[i]
    out[1, i] = x[i] <= y[i]
    out[2, i] = x[i] > y[i]
    out[3, i] = x[i] >= y[i]
    out[4, i] = x[i] == y[i]
    out[5, i] = x[i] != y[i]


COMPARISONS = (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne)
ARITHMETIC = (operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod)


@pytest.mark.parametrize(("a", "b"), [(t, t) for t in (*INTEGERS, *FLOATS)] + MIXED)
def test_arithmetic(a: type, b: type, device: str, rng: np.random.Generator) -> None:
    x, y = pairs(a, b, rng, 200 if device == "cpu" else 20)
    with np.errstate(**NO_TRAPS):
        want = [op(x, y) for op in ARITHMETIC]
    got = [np.zeros_like(w) for w in want]
    arithmetic(*got, x, y, ndrange=x.size, device=device)
    for op, g, w in zip(ARITHMETIC, got, want, strict=True):
        expect(g, w, f"{op.__name__} of {np.dtype(a)} and {np.dtype(b)}")


@pytest.mark.parametrize(("a", "b"), [(t, t) for t in (np.bool_, *INTEGERS, *FLOATS)] + MIXED)
def test_comparisons(a: type, b: type, device: str, rng: np.random.Generator) -> None:
    x, y = pairs(a, b, rng, 200 if device == "cpu" else 20)
    y[-5:] = x[-5:].astype(b) if a is not np.bool_ else y[-5:]
    out = np.zeros((6, x.size), np.bool_)
    compared(out, x, y, ndrange=x.size, device=device)
    with np.errstate(**NO_TRAPS):
        np.testing.assert_array_equal(out, np.array([op(x, y) for op in COMPARISONS]))


@pk.kernel
def sums_of_bools(either, both, quotient, floored, rest, x, y):
    i = pk.index()
    either[i] = x[i] + y[i]
    both[i] = x[i] * y[i]
    quotient[i] = x[i] / y[i]
    floored[i] = x[i] // y[i]
    rest[i] = x[i] % y[i]


def test_arithmetic_of_bools(device: str) -> None:
    x, y = np.array([False, False, True, True]), np.array([False, True, False, True])
    got = [np.zeros(4, t) for t in (np.bool_, np.bool_, np.float64, np.int64, np.int64)]
    sums_of_bools(*got, x, y, ndrange=4, device=device)
    with np.errstate(**NO_TRAPS):
        for g, w in zip(got, (x + y, x * y, x / y, x // y, x % y), strict=True):
            np.testing.assert_array_equal(g, w)


@pk.kernel
def difference_of_bools(out, x, y):
    i = pk.index()
    out[i] = x[i] - y[i]


@pk.kernel
def minus_a_bool(out, x, y):
    i = pk.index()
    out[i] = -x[i] + y[i]


@pytest.mark.parametrize(
    ("kernel", "reason"),
    [
        (difference_of_bools, "`-` takes numbers, not bool and bool"),
        (minus_a_bool, "`-` takes a number, not bool"),
    ],
)
def test_bools_have_no_minus(kernel, reason: str, device: str) -> None:
    x = np.ones(4, bool)
    with pytest.raises(pk.KernelTypeError, match=reason) as caught:
        kernel(np.zeros(4, np.int64), x, x, ndrange=4, device=device)
    assert caught.value.hint
    assert caught.value.span is not None
    assert caught.value.span.function == kernel.__name__


# -- bits ---------------------------------------------------------------------------------------


@pk.kernel
def bits(both, either, one, left, right, inverse, x, y):
    i = pk.index()
    both[i] = x[i] & y[i]
    either[i] = x[i] | y[i]
    one[i] = x[i] ^ y[i]
    left[i] = x[i] << y[i]
    right[i] = x[i] >> y[i]
    inverse[i] = ~x[i]


BITS = (operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift, lambda a, b: ~a)


@pytest.mark.parametrize(
    ("a", "b"),
    [(t, t) for t in INTEGERS] + [m for m in MIXED if set(m) <= {*INTEGERS} and np.uint64 not in m],
)
def test_bits(a: type, b: type, device: str, rng: np.random.Generator) -> None:
    x, y = pairs(a, b, rng, 100 if device == "cpu" else 20)
    y[-10:] = rng.integers(0, 8, 10)
    want = [op(x, y) for op in BITS]
    got = [np.zeros_like(w) for w in want]
    bits(*got, x, y, ndrange=x.size, device=device)
    for k, (g, w) in enumerate(zip(got, want, strict=True)):
        expect(g, w, f"bits {k}")


@pk.kernel
def bits_of_bools(out, x, y):
    i = pk.index()
    out[0, i] = x[i] & y[i]
    out[1, i] = x[i] | y[i]
    out[2, i] = x[i] ^ y[i]
    out[3, i] = not x[i]


def test_bits_of_bools(device: str) -> None:
    x, y = np.array([False, False, True, True]), np.array([False, True, False, True])
    out = np.zeros((4, 4), np.bool_)
    bits_of_bools(out, x, y, ndrange=4, device=device)
    np.testing.assert_array_equal(out, [x & y, x | y, x ^ y, ~x])


# -- one operand --------------------------------------------------------------------------------


@pk.kernel
def unary(minus, plus, absolute, no, yes, x):
    i = pk.index()
    minus[i] = -x[i]
    plus[i] = +x[i]
    absolute[i] = abs(x[i])
    no[i] = not x[i]
    yes[i] = 1 if x[i] else 0


@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS])
def test_unary(dtype: type, device: str, rng: np.random.Generator) -> None:
    x = np.concatenate([np.array(edges(dtype), dtype), some(dtype, rng, 20)])
    got = [
        np.zeros_like(x),
        np.zeros_like(x),
        np.zeros_like(x),
        np.zeros(x.size, bool),
        np.zeros(x.size, bool),
    ]
    unary(*got, x, ndrange=x.size, device=device)
    with np.errstate(**NO_TRAPS):
        for g, w in zip(got, (-x, +x, np.abs(x), np.logical_not(x), x.astype(bool)), strict=True):
            expect(g, w, "unary")


# -- powers -------------------------------------------------------------------------------------


@pk.kernel
def power(out, x, y):
    i = pk.index()
    out[i] = x[i] ** y[i]


@pk.kernel
def fixed_powers(out, x):
    i = pk.index()
    out[0, i] = x[i] ** 0
    out[1, i] = x[i] ** 1
    out[2, i] = x[i] ** 2
    out[3, i] = x[i] ** 3
    out[4, i] = x[i] ** 7


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integer_powers(dtype: type, device: str, rng: np.random.Generator) -> None:
    x, y = pairs(dtype, dtype, rng, 20)
    y = np.where(y < 0, 5, y).astype(dtype)
    out, fixed = np.zeros_like(x), np.zeros((5, x.size), dtype)
    power(out, x, y, ndrange=x.size, device=device)
    expect(out, x**y, "power")
    fixed_powers(fixed, x, ndrange=x.size, device=device)
    expect(fixed, np.array([x**k for k in (0, 1, 2, 3, 7)], dtype), "fixed power")


@pytest.mark.parametrize("dtype", FLOATS)
def test_float_powers(dtype: type, device: str, rng: np.random.Generator) -> None:
    x, y = pairs(dtype, dtype, rng, 30)
    out = np.zeros_like(x)
    power(out, x, y, ndrange=x.size, device=device)
    with np.errstate(**NO_TRAPS):
        want = (x.astype(np.longdouble) ** y.astype(np.longdouble)).astype(np.float64).astype(dtype)
    expect(out, want, "power", ulps=4)
    fixed = np.zeros((5, x.size), dtype)
    fixed_powers(fixed, x, ndrange=x.size, device=device)
    with np.errstate(**NO_TRAPS):
        wide = x.astype(np.longdouble)
        want = np.array([(wide**k).astype(np.float64).astype(dtype) for k in (0, 1, 2, 3, 7)])
    expect(fixed, want, "fixed power", ulps=4)


@pk.kernel
def half_and_negative_powers(out, x):
    i = pk.index()
    out[0, i] = x[i] ** 0.5
    out[1, i] = x[i] ** -1
    out[2, i] = x[i] ** -2


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_roots_and_reciprocals(dtype: type, device: str) -> None:
    x = np.array([0.25, 1, 2, 3, 1e4, 0, np.inf], dtype)
    out = np.zeros((3, x.size), dtype)
    half_and_negative_powers(out, x, ndrange=x.size, device=device)
    with np.errstate(**NO_TRAPS):
        expect(out, np.array([np.sqrt(x), 1 / x, 1 / (x * x)], dtype), "powers", ulps=2)


@pk.jit
def between_bools(a, b):
    return a // b, a % b, a**b, a << b, a >> b, divmod(a, b)


def test_bools_give_bytes_in_programs(device):
    a, b = np.array([[True, True, False, False], [True, False, True, False]])
    found = between_bools(a, b, device=device)
    with np.errstate(**NO_TRAPS):
        want = (a // b, a % b, a**b, a << b, a >> b, np.divmod(a, b))
    for got, exact in zip([*found[:5], *found[5]], [*want[:5], *want[5]], strict=True):
        assert got.dtype == exact.dtype == np.int8
        np.testing.assert_array_equal(got, exact)


@pk.kernel
def plus(out, x):
    out[pk.index()] = +x[pk.index()]


@pytest.mark.parametrize("place", ["cpu", "python"])
def test_no_plus_before_bools(place):
    with pytest.raises(pk.errors.KernelTypeError, match="`\\+` takes a number, not bool"):
        plus(np.zeros(3), np.ones(3, bool), ndrange=3, device=place)
    out = np.zeros(3)
    plus(out, np.array([-1, 2, -3]), ndrange=3, device=place)
    np.testing.assert_array_equal(out, [-1, 2, -3])


@pytest.mark.parametrize(("place", "debug"), [("cpu", True), ("python", False)])
def test_integers_to_negative_powers_are_told(place, debug):
    checked = pk.kernel(debug=debug)(power.__wrapped__)
    out = np.zeros(3, np.int32)
    with pytest.raises(pk.errors.AssertionFailed, match="an integer is raised to a negative power") as caught:
        checked(
            out, np.array([2, 3, 4], np.int32), np.array([1, 2, -1], np.int32), ndrange=3, device=place
        ).wait()
    assert "**" in caught.value.span.source_line()
    checked(
        out, np.array([2, 3, -4], np.int32), np.array([1, 0, 3], np.int32), ndrange=3, device=place
    ).wait()
    np.testing.assert_array_equal(out, [2, 1, -64])


NEGATIVE = -1


@pk.kernel
def powers(out, n, which: pk.static):
    i = pk.index()
    if which == "index":
        out[i] = 2**-i
    elif which == "argument":
        out[i] = (i + 2) ** n
    elif which == "loop":
        for j in range(1, 3):
            out[i] += 2**-j
    elif which == "constant":
        exponent = -2
        out[i] = (i + 1) ** exponent + (i + 1) ** NEGATIVE + (i + 1) ** -3
    else:
        out[i] = 2.0**-i + 2**i


@pytest.mark.parametrize("which", ["index", "argument", "loop"])
def test_python_integers_to_negative_powers_are_told(which):
    """On the reference device all integers are Python's, whose power would be a float: compiled kernels have 0."""
    with pytest.raises(pk.errors.AssertionFailed, match="an integer is raised to a negative power"):
        powers(np.zeros(4), -1, which, ndrange=4, device="python")


@pytest.mark.parametrize("which", ["constant", "float"])
def test_powers_that_are_floats_on_the_reference_device(which):
    n, compiled, reference = np.arange(4.0), np.zeros(4), np.zeros(4)
    powers(reference, -1, which, ndrange=4, device="python")
    powers(compiled, -1, which, ndrange=4, device="cpu")
    wanted = 2.0**-n + 2**n if which == "float" else (n + 1) ** -2 + 1 / (n + 1) + (n + 1) ** -3
    np.testing.assert_allclose(reference, wanted, rtol=1e-15)
    np.testing.assert_allclose(compiled, wanted, rtol=1e-15)


def test_integers_to_negative_powers_are_cut_off():
    x = np.array([2, 1, -1, -1, -7], np.int32)
    y = np.array([-1, -3, -3, -2, -1], np.int32)
    out = np.full(5, 9, np.int32)
    power(out, x, y, ndrange=5, device="cpu").wait()
    np.testing.assert_array_equal(out, [0, 1, -1, 1, 0])


@pk.kernel
def beyond(out, x, limit):
    i = pk.index()
    out[i, 0], out[i, 1], out[i, 2] = x[i] < limit, x[i] <= limit, limit < x[i]
    out[i, 3], out[i, 4], out[i, 5] = limit <= x[i], x[i] == limit, x[i] != limit
    out[i, 6], out[i, 7] = x[i] > i - 2, i + 254 == x[i]


@pytest.mark.parametrize(
    "dtype", [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64]
)
@pytest.mark.parametrize("limit", [-1, 44, 300, (1 << 32) + 44, -(1 << 40)])
def test_numbers_are_compared_as_what_they_are(dtype, limit):
    """A Python number that the elements cannot hold does not wrap first, as NumPy has it."""
    x = np.array([0, 1, 44, 100, 127]).astype(dtype)
    i = np.arange(len(x))
    out = np.zeros((len(x), 8), bool)
    beyond(out, x, limit, ndrange=len(x))
    expected = [x < limit, x <= limit, limit < x, limit <= x, x == limit, x != limit]
    wide = x.astype(np.int64)
    np.testing.assert_array_equal(out, np.stack([*expected, wide > i - 2, i + 254 == wide], 1))


@pk.kernel
def extremes(out, x, limit):
    i = pk.index()
    out[i, 0], out[i, 1] = min(x[i], limit), max(limit, x[i])


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.uint32, np.int64, np.uint64])
@pytest.mark.parametrize("limit", [44, 300, (1 << 32) + 44, -7, -(1 << 40)])
def test_extremes_with_numbers_that_do_not_fit(dtype, limit):
    """Where the element wins, it is the element: the number does not wrap before it is compared."""
    x = np.array([0, 1, 44, 100, 127]).astype(dtype)
    out = np.zeros((len(x), 2), np.int64)
    extremes(out, x, limit, ndrange=len(x))
    for column, chosen in enumerate((x < limit, x > limit)):
        np.testing.assert_array_equal(out[chosen, column], x[chosen].astype(np.int64))


@pk.kernel
def above_minus_three(out, x):
    i = pk.index()
    out[i] = max(x[i], -3)


@pk.kernel
def clamped(out, x):
    i = pk.index()
    out[i] = pk.clamp(x[i], 0, 300)


@pk.kernel
def chosen(out, x):
    i = pk.index()
    out[i] = x[i] if x[i] > 3 else -3


@pytest.mark.parametrize(("kernel", "constant"), [(above_minus_three, -3), (clamped, 300), (chosen, -3)])
def test_constants_that_do_not_fit_are_refused(kernel, constant):
    with pytest.raises(pk.KernelTypeError, match=f"the constant {constant} does not fit u8"):
        kernel(np.zeros(3, np.int64), np.zeros(3, np.uint8), ndrange=3)
    out = np.zeros(3, np.int64)
    kernel(out, np.array([5, 200, 100], np.int16), ndrange=3)
    np.testing.assert_array_equal(out, [5, 200, 100])
