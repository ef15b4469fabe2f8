"""The names of the language as plain functions: types, special values, accuracy against mpmath."""

from __future__ import annotations

import builtins
import math
import sys

import ml_dtypes
import mpmath
import numpy as np
import pytest

import pykern as pk
from pykern import language
from pykern.language import from_callable
from tests.project.programs import run
from tests.project.tree import ROOT

UNARY = {
    "sqrt": (0, 50), "cbrt": (0, 50), "exp": (-9, 9), "exp2": (-9, 9), "expm1": (-2, 2), "log": (0.01, 50),
    "log2": (0.01, 50), "log10": (0.01, 50), "log1p": (-0.5, 9), "sin": (-9, 9), "cos": (-9, 9), "tan": (-1, 1),
    "asin": (-1, 1), "acos": (-1, 1), "atan": (-9, 9), "sinh": (-5, 5), "cosh": (-5, 5), "tanh": (-3, 3),
    "asinh": (-5, 5), "acosh": (1, 9), "atanh": (-0.9, 0.9), "erf": (-2, 2), "erfc": (-2, 3), "gamma": (0.5, 9),
    "lgamma": (3, 30), "degrees": (-9, 9), "radians": (-99, 99), "rsqrt": (0.01, 9), "fabs": (-9, 9),
}  # fmt: skip
EXACT = {
    "lgamma": mpmath.loggamma, "exp2": lambda x: mpmath.mpf(2) ** x, "rsqrt": lambda x: 1 / mpmath.sqrt(x),
    "log2": lambda x: mpmath.log(x, 2), "fabs": abs,
}  # fmt: skip


@pytest.mark.parametrize("name", UNARY)
@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64, float, ml_dtypes.bfloat16])
def test_functions_of_one_number(name, kind, rng):
    exact = EXACT.get(name) or getattr(mpmath, name)
    for x in map(kind, rng.uniform(*UNARY[name], 50)):
        got = getattr(pk, name)(x)
        assert type(got) is kind
        with mpmath.workdps(40):
            expected = exact(mpmath.mpf(float(x)))
            if kind in (float, np.float64):
                assert abs(float(got) - expected) <= abs(expected) * 2**-50
            else:
                assert got == kind(float(expected)), (name, x)  # rounded right


@pytest.mark.parametrize(
    ("argument", "result"),
    [(np.int8, np.float16), (np.uint8, np.float16), (np.int16, np.float32), (np.uint16, np.float32),
     (np.int32, np.float64), (np.uint64, np.float64), (int, float)],
)  # fmt: skip
def test_functions_of_integers(argument, result):
    assert type(pk.sqrt(argument(2))) is result
    assert pk.sqrt(argument(2)) == result(math.sqrt(2))


@pytest.mark.parametrize(
    ("name", "args", "expected"),
    [
        ("sqrt", (-1.0,), math.nan), ("log", (0.0,), -math.inf), ("log", (-1.0,), math.nan),
        ("log1p", (-1.0,), -math.inf), ("atanh", (1.0,), math.inf), ("atanh", (-1.0,), -math.inf),
        ("exp", (1e4,), math.inf), ("sinh", (-1e4,), -math.inf), ("sin", (math.inf,), math.nan),
        ("rsqrt", (0.0,), math.inf), ("gamma", (0.0,), math.inf), ("gamma", (-0.0,), -math.inf),
        ("gamma", (-2.0,), math.nan), ("lgamma", (-2.0,), math.inf), ("fmod", (1.0, 0.0), math.nan),
        ("pow", (0.0, -3), math.inf), ("pow", (-0.0, -3.0), -math.inf), ("pow", (-8.0, 1 / 3), math.nan),
        ("pow", (-10.0, 999.0), -math.inf), ("atan2", (0.0, -1.0), math.pi), ("hypot", (math.inf, math.nan), math.inf),
        ("copysign", (3.0, -0.0), -3.0), ("remainder", (5.0, 3.0), -1.0), ("round", (2.5,), 2.0),
        ("round", (-0.5,), -0.0), ("trunc", (-1.7,), -1.0), ("floor", (-1.2,), -2.0), ("ceil", (1.2,), 2.0),
        ("minimum", (1.0, math.nan), math.nan), ("maximum", (math.nan, 1), math.nan), ("clamp", (7, 0, 5), 5),
        ("sign", (math.nan,), math.nan), ("sign", (-3,), -1), ("square", (3,), 9), ("isnan", (math.nan,), True),
        ("isinf", (math.inf,), True), ("isfinite", (1,), True), ("nextafter", (1.0, 2.0), 1 + 2**-52),
        ("cdiv", (7, 2), 4), ("cdiv", (-7, 2), -3), ("cdiv", (8, 2), 4),
    ],
)  # fmt: skip
def test_special_values(name, args, expected):
    got = getattr(pk, name)(*args)
    assert str(got) == str(expected) and type(got) is type(expected)


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_fma_is_rounded_once(kind, rng):
    for _ in range(200):
        a, b, c = (kind(v) for v in rng.normal(size=3))
        if rng.random() < 0.5:
            c = kind(-a * b)  # cancels all but the error of the product
        with mpmath.workdps(200):
            exact = mpmath.mpf(float(a)) * mpmath.mpf(float(b)) + mpmath.mpf(float(c))
        got = pk.fma(a, b, c)
        assert type(got) is kind
        other = [np.nextafter(got, kind(s * math.inf)) for s in (1, -1)]
        with mpmath.workdps(200):
            assert all(
                abs(mpmath.mpf(float(got)) - exact) <= abs(mpmath.mpf(float(o)) - exact) for o in other
            )


def test_fma_beyond_the_range():
    assert pk.fma(1e300, 1e300, -1e300) == math.inf
    assert pk.fma(1e300, -1e300, 1.0) == -math.inf
    assert math.isnan(pk.fma(math.inf, 0.0, 1.0))


def test_nextafter_steps_in_its_own_type():
    assert pk.nextafter(np.float32(1), np.float32(2)) == np.float32(1 + 2**-23)


@pk.kernel
def _neighbours(y, x):
    i = pk.index()
    y[i] = np.nextafter(x[i], x[7 - i])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_nextafter_in_kernels(dtype):
    x = np.array([1.5, np.nan, -np.inf, np.inf, -0.0, 0.0, 2.5, -2.5], dtype)
    y = np.zeros(8, dtype)
    _neighbours(y, x, ndrange=8)
    np.testing.assert_array_equal(y, np.nextafter(x, x[::-1]))


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.int8])
def test_nextafter_of_short_floats_is_refused(dtype):
    """Computed in f32 and rounded, it would give `x` again."""
    x = np.ones(8, dtype)
    with pytest.raises(pk.KernelError, match="`nextafter` takes f32 and f64, not"):
        _neighbours(np.zeros(8, np.float32), x, ndrange=8)
    with pytest.raises(pk.KernelError, match="`nextafter` takes f32 and f64, not"):
        pk.jit(lambda a: np.nextafter(a, a))(x)


@pytest.mark.parametrize(
    ("x", "dtype", "expected"),
    [
        (1.9, pk.i8, 1), (-1.9, pk.i8, -1), (1e9, pk.i8, 127), (-math.inf, pk.i8, -128), (math.nan, pk.u8, 0),
        (-3.0, pk.u8, 0), (300, pk.u8, 44), (-1, pk.u64, 2**64 - 1), (2**63, pk.i64, -(2**63)),
        (1e19, pk.u64, 10**19), (0.1, pk.f32, np.float32(0.1)), (7e4, pk.f16, math.inf), (0.5, pk.bool_, True),
        (math.nan, pk.bool_, True), (np.int32(-1), pk.u16, 65535), (np.float16(2.5), pk.i32, 2),
        (1.01, pk.bf16, 1.0078125), (np.int64(3), pk.bf16, 3),
    ],
)  # fmt: skip
def test_cast(x, dtype, expected):
    got = pk.cast(x, dtype)
    assert got == expected and got.dtype == dtype.numpy
    assert dtype(x) == got


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int32, np.uint64, int])
def test_bits_are_counted(kind):
    width = 64 if kind is int else np.iinfo(kind).bits
    for n in (0, 1, 5, 100):
        assert pk.popcount(kind(n)) == n.bit_count()
        assert pk.clz(kind(n)) == width - n.bit_length()
    if kind in (np.int8, np.int32, int):
        assert pk.popcount(kind(-1)) == width and pk.clz(kind(-1)) == 0


def test_where_gives_the_common_type():
    assert pk.where(True, np.int8(1), np.float32(2)).dtype == np.float32
    assert pk.where(False, np.int8(1), 7).dtype == np.int8
    assert pk.where(True, np.bool_(True), np.int8(3)).dtype == np.int8
    assert type(pk.where(True, 1, 2.0)) is float
    assert pk.where(False, np.uint8(1), 255) == 255
    with pytest.raises(pk.KernelTypeError, match=r"300 does not fit u8 \(0 \.\. 255\)"):
        pk.where(False, np.uint8(1), 300)


@pytest.mark.parametrize("kind", [np.uint8, np.uint32, np.int32])
def test_cdiv_of_numpys_integers(kind):
    assert [pk.cdiv(kind(n), kind(3)) for n in (0, 1, 3, 4, 9)] == [0, 1, 1, 2, 3]


@pk.kernel
def cdiv_of(y, x, d):
    y[pk.index()] = pk.cdiv(x[pk.index()], d)


@pytest.mark.parametrize("device", ["cpu", "python"])
@pytest.mark.parametrize("kind", [np.uint32, np.int32])
def test_cdiv_in_a_kernel(device, kind):
    x, y = np.arange(10, dtype=kind), np.zeros(10, kind)
    cdiv_of(y, x, kind(3), ndrange=10, device=device)
    np.testing.assert_array_equal(y, -(-np.arange(10) // 3))


@pk.kernel
def cdiv_of_both(y, x, d):
    i = pk.index()
    y[i] = pk.cdiv(x[i], d[i])


@pytest.mark.parametrize(
    "kinds", [(np.int8, np.int8), (np.uint8, np.int8), (np.uint16, np.int32), (np.int64, np.int64)]
)
def test_cdiv_of_extremes_and_of_two_types(kinds):
    values = [
        [n for n in (-128, -7, -1, 0, 1, 3, 43, 127, 255) if np.iinfo(k).min <= n <= np.iinfo(k).max]
        for k in kinds
    ]
    pairs = [(a, b) for a in (*values[0], np.iinfo(kinds[0]).min) for b in values[1] if b]
    x, d = (np.array([p[n] for p in pairs], k) for n, k in enumerate(kinds))
    y = np.zeros(len(pairs), np.int64)
    cdiv_of_both(y, x, d, ndrange=y.size)
    bits = 8 * np.result_type(*kinds).itemsize
    exact = [-(-int(a) // int(b)) for a, b in pairs]
    wrapped = [(n + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1) for n in exact]
    np.testing.assert_array_equal(y, wrapped)


@pytest.mark.parametrize("name", ["index", "local_index", "group_index", "group_size", "num_groups", "ndrange",
                                  "barrier", "subgroup_size", "subgroup_index", "lane_index"])  # fmt: skip
def test_outside_of_a_kernel(name):
    with pytest.raises(pk.KernelError, match=rf"pk\.{name}\(\) only works inside a kernel"):
        getattr(pk, name)()


def test_every_name_says_what_it_is():
    functions = [n for n in language.__all__ if callable(getattr(language, n))]
    assert len(functions) > 70
    for name in functions:
        assert getattr(language, name).__pykern_builtin__ == name
        assert getattr(language, name).__doc__


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (pk.sin, "sin"), (math.sin, "sin"), (np.sin, "sin"), (np.arctan2, "atan2"), (np.minimum, "numpy.minimum"),
        (np.where, "where"), (np.abs, "abs"), (np.power, "pow"), (np.rint, "numpy.rint"), (np.deg2rad, "radians"),
        (np.bitwise_count, "numpy.bitwise_count"),
        (math.gamma, "gamma"), (math.fabs, "fabs"), (abs, "abs"), (builtins.print, "print"),
        (pk.print, "print"), (divmod, "divmod"), (range, "range"), (sorted, None),
        (np.linalg.norm, "norm"), (np.add.at, "add.at"), (np.tile, "numpy.tile"), (np.linalg.inv, "linalg.inv"),
        (np.linalg.svd, None),
        (np.ones(3), None), (3, None), ([], None), (None, None),
    ],
)  # fmt: skip
def test_from_callable(value, name):
    assert from_callable(value) == name


def test_the_language_is_light():
    program = "import sys, pykern.language; print('numpy' in sys.modules or 'mlir' in sys.modules)"
    assert run(sys.executable, "-c", program, cwd=ROOT).strip() == "False"


def test_a_func_is_the_function_it_was():
    @pk.func
    def twice(x):
        """Twice."""
        return 2 * x

    assert twice(4) == 8 and twice.__doc__ == "Twice." and twice.__name__ == "twice"
