"""Every function of the language of one or more floats, in both modes and at both levels, against 40 digits."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

import pykern as pk
from pykern.frontend.mathematics import LIBM_BINARY, LIBM_UNARY, NAMES

POINTS = np.array([0.31, 0.62, 0.17, 0.85])
BEYOND = POINTS + 1.0
MIXED = np.array([-2.3, 0.4, 1.7, -0.6])
OTHERS = np.array([1.1, -0.7, 0.45, 2.3])
THIRDS = np.array([0.2, -1.4, 0.9, 3.1])

UNARY = {
    "sqrt": (mpmath.sqrt, POINTS), "rsqrt": (lambda x: 1 / mpmath.sqrt(x), POINTS),
    "cbrt": (lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)), MIXED),
    "exp": (mpmath.exp, MIXED), "exp2": (lambda x: mpmath.mpf(2) ** x, MIXED), "expm1": (mpmath.expm1, MIXED),
    "log": (mpmath.log, POINTS), "log2": (lambda x: mpmath.log(x, 2), POINTS), "log10": (mpmath.log10, POINTS),
    "log1p": (mpmath.log1p, POINTS), "sin": (mpmath.sin, MIXED), "cos": (mpmath.cos, MIXED), "tan": (mpmath.tan, MIXED),
    "asin": (mpmath.asin, POINTS), "acos": (mpmath.acos, POINTS), "atan": (mpmath.atan, MIXED),
    "sinh": (mpmath.sinh, MIXED), "cosh": (mpmath.cosh, MIXED), "tanh": (mpmath.tanh, MIXED),
    "asinh": (mpmath.asinh, MIXED), "acosh": (mpmath.acosh, BEYOND), "atanh": (mpmath.atanh, POINTS),
    "erf": (mpmath.erf, MIXED), "erfc": (mpmath.erfc, MIXED), "gamma": (mpmath.gamma, MIXED),
    "lgamma": (lambda x: mpmath.log(abs(mpmath.gamma(x))), MIXED), "degrees": (mpmath.degrees, MIXED),
    "radians": (mpmath.radians, MIXED), "abs": (abs, MIXED), "fabs": (abs, MIXED), "square": (lambda x: x * x, MIXED),
    "floor": (mpmath.floor, MIXED), "ceil": (mpmath.ceil, MIXED), "round": (mpmath.nint, MIXED),
    "trunc": (lambda x: mpmath.mpf(int(x)), MIXED), "sign": (mpmath.sign, MIXED),
    "sinc": (mpmath.sincpi, MIXED),
}  # fmt: skip
BINARY = {
    "atan2": lambda x, y: mpmath.atan2(x, y),
    "copysign": lambda x, y: abs(x) * mpmath.sign(y),
    "fmod": lambda x, y: x - y * int(x / y),
    "hypot": mpmath.hypot,
    "remainder": lambda x, y: x - y * mpmath.nint(x / y),
    "nextafter": lambda x, y: x,
    "pow": lambda x, y: abs(x) ** y,
    "min": min,
    "max": max,
    "minimum": min,
    "maximum": max,
    "fmin": min,
    "fmax": max,
    "heaviside": lambda x, y: mpmath.mpf(x > 0),
    "logaddexp": lambda x, y: mpmath.log(mpmath.exp(x) + mpmath.exp(y)),
}
TERNARY = {
    "fma": lambda x, y, z: x * y + z,
    "clamp": lambda x, y, z: mpmath.mpf(min(max(x, y), z)),
}
INTEGERS = {
    "isnan",
    "isinf",
    "isfinite",
    "cdiv",
    "popcount",
    "clz",
    "gcd",
    "isqrt",
    "divmod",
    "where",
    "signbit",
}
"""Of integers or conditions, or held elsewhere: `test_not_taken`."""
LIBRARY = {*LIBM_UNARY, *LIBM_BINARY}
"""Calls: kernels with them are differentiated work-item by work-item."""

SOURCE = """
import pykern as pk
{define}
@pk.kernel
def kernel(out, {arguments}):
    i = pk.index()
    out[i] = pk.{name}({elements})


@pk.jit
def program({arguments}):
    return pk.{name}({wholes})
"""


def made(name: str, count: int, tmp_path) -> dict:
    names = ["x", "y", "z"][:count]
    first = {"pow": "abs({})"}.get(name, "{}")
    path = tmp_path / f"{name}.py"
    elements = [f"{n}[i]" for n in names]
    path.write_text(
        SOURCE.format(
            define="",
            name=name,
            arguments=", ".join(names),
            elements=", ".join([first.format(elements[0]), *elements[1:]]),
            wholes=", ".join([first.format(names[0]), *names[1:]]),
        )
    )
    found: dict = {}
    exec(compile(path.read_text(), str(path), "exec"), found)
    return found


def test_every_function_has_a_case():
    assert {*UNARY, *BINARY, *TERNARY, *INTEGERS} == NAMES


def slopes(function, points):
    count = len(points)
    with mpmath.workdps(40):
        rows = []
        for values in zip(*points, strict=True):
            at = tuple(mpmath.mpf(float(v)) for v in values)
            orders = [tuple(int(i == k) for k in range(count)) for i in range(count)]
            rows.append(
                [
                    float(mpmath.diff(function, at if count > 1 else at[0], o if count > 1 else 1))
                    for o in orders
                ]
            )
        return np.array(rows).T


CASES = [(n, f, (p,)) for n, (f, p) in UNARY.items()]
CASES += [(n, f, (MIXED, OTHERS)) for n, f in BINARY.items()]
CASES += [(n, f, (MIXED, OTHERS - 1, THIRDS + 2)) for n, f in TERNARY.items()]


@pytest.mark.parametrize(("name", "function", "points"), CASES, ids=[c[0] for c in CASES])
def test_function(name, function, points, tmp_path):
    expected = slopes(function, points)
    functions = made(name, len(points), tmp_path)
    kernel, program, n = functions["kernel"], functions["program"], len(points[0])
    close = {"rtol": 2e-13, "atol": 1e-14}
    if name not in ("min", "max"):  # of one array, there
        _, pull = pk.vjp(program, *points)
        np.testing.assert_allclose(np.array(pull(np.ones(n))), expected, **close)
        for k, row in enumerate(expected):
            tangents = tuple(np.ones(n) if i == k else None for i in range(len(points)))
            np.testing.assert_allclose(pk.jvp(program, points, tangents)[1], row, **close)
    for level in ("direct",) if name in LIBRARY else ("direct", "raised"):
        shadows = [np.zeros(n) for _ in points]
        dups = [pk.Dup(p.copy(), s) for p, s in zip(points, shadows, strict=True)]
        pk.autodiff(kernel, level=level)(pk.Dup(np.zeros(n), np.ones(n)), *dups, ndrange=n)
        np.testing.assert_allclose(np.array(shadows), expected, **close)
    tangent = np.zeros(n)
    ones = [pk.Dup(p.copy(), np.ones(n)) for p in points]
    pk.autodiff(kernel, mode="forward")(pk.Dup(np.zeros(n), tangent), *ones, ndrange=n)
    np.testing.assert_allclose(tangent, expected.sum(axis=0), **close)


@pk.jit
def log_gamma(x):
    return pk.lgamma(x).sum()


@pk.jit
def slope_of_log_gamma(x):
    return pk.grad(log_gamma)(x).sum()


def test_digamma_and_trigamma(rng):
    x = np.concatenate([rng.uniform(-30, 30, 400), 10 ** rng.uniform(-6, 6, 200)])
    with mpmath.workdps(30):
        psi = np.array([float(mpmath.digamma(v)) for v in x])
        psi1 = np.array([float(mpmath.polygamma(1, v)) for v in x])
    assert np.max(np.abs(pk.grad(log_gamma)(x) - psi) / np.maximum(1, abs(psi))) < 2e-15
    assert np.max(np.abs(pk.grad(slope_of_log_gamma)(x) - psi1) / np.maximum(1, abs(psi1))) < 2e-14
    half = x[x > 0.1].astype(np.float32)
    expected = np.array([float(mpmath.digamma(float(v))) for v in half])
    np.testing.assert_allclose(pk.grad(log_gamma)(half), expected, rtol=2e-6, atol=2e-6)


@pk.jit
def with_place(x):
    return x * 2, pk.argmax(x), pk.argmin(x)


@pk.jit
def at_greatest(x):
    return x[pk.argmax(x)] * x[pk.argmin(x)]


@pk.jit
def with_places(x):
    return (x * x).sum(), pk.argmax(x.reshape(2, 2), axis=1)


def test_places_among_the_results():
    x = np.array([0.3, -1.1, 2.0, 1.4])
    (value, most, least), (tangent, *none) = pk.jvp(with_place, (x,), (x,))
    np.testing.assert_array_equal(value, 2 * x)
    np.testing.assert_array_equal(tangent, 2 * x)
    assert (most, least, none) == (2, 1, [None, None])
    assert pk.jvp(at_greatest, (x,), (np.array([9, 1.0, 3, 9]),))[1] == 2.0 * 1 - 1.1 * 3
    np.testing.assert_array_equal(pk.grad(at_greatest)(x), [0, 2.0, -1.1, 0])
    (value, places), gradient = pk.value_and_grad(with_places, has_aux=True)(x)
    np.testing.assert_allclose(value, (x * x).sum())
    np.testing.assert_array_equal(places, [0, 0])
    np.testing.assert_array_equal(gradient, 2 * x)
    np.testing.assert_allclose(pk.jvp(with_places, (x,), (x,))[1][0], 2 * (x * x).sum())
