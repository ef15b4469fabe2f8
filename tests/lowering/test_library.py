"""The functions that GPUs write out for want of a C library, in numbers: the same passes, compiled for the CPU."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from pykern.lowering.rocdl.remainder import ExpandRemainder
from pykern.passes.arithmetic.vector_math.expand_library import ExpandLibrary
from pykern.passes.arithmetic.vector_math.expand_math import ExpandMath
from tests.cases.jit import Compiled

mpmath.mp.prec = 1300


def compiled(call: str, kind: str, arity: int) -> Compiled:
    """A function f(out, x[, y]) over memrefs; `call` stands for the function on %x and %y."""
    name = call.split("@")[1].split("(")[0] if "@" in call else ""
    declared = f"func.func private @{name}({', '.join([kind] * arity)}) -> {kind}" if name else ""
    loads = "\n".join(f"%{v} = memref.load %m{v}[%i] : memref<?x{kind}>" for v in "xy"[:arity])
    memories = ", ".join(f"%m{v}: memref<?x{kind}>" for v in "xy"[:arity])
    text = f"""
    {declared}
    func.func @f(%out: memref<?x{kind}>, {memories}) {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %n = memref.dim %out, %c0 : memref<?x{kind}>
      scf.for %i = %c0 to %n step %c1 {{
        {loads}
        %r = {call}
        memref.store %r, %out[%i] : memref<?x{kind}>
      }}
      return
    }}"""
    return Compiled(text, (ExpandLibrary(), ExpandMath(library=False), ExpandRemainder()))


def run(call: str, dtype: type, *inputs: np.ndarray) -> np.ndarray:
    kind = "f32" if dtype is np.float32 else "f64"
    out = np.zeros_like(inputs[0])
    compiled(call.replace("KIND", kind), kind, len(inputs))("f", out, *inputs)
    return out


def ulps(found: np.ndarray, wanted: list) -> float:
    """The greatest error, in units in the last place of the true value."""
    worst = 0.0
    for value, true in zip(found, wanted, strict=True):
        near = found.dtype.type(float(true))
        worst = max(
            worst, float(abs(mpmath.mpf(float(value)) - true) / mpmath.mpf(float(np.spacing(abs(near)))))
        )
    return worst


# Hard cases: the f64 nearest to a multiple of pi/2 (Kahan), powers of two, the greatest numbers.
HARD = [6381956970095103 * 2.0**797, 2.0**1023, 1.7976931348623157e308, 2.0**28 + 2.0**-24, 2.0**52, 1e22]


@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
def test_huge_angles_of_f64(name, rng):
    x = np.concatenate([HARD, np.ldexp(1 + rng.random(300), rng.integers(28, 1023, 300))])
    x = np.concatenate([x, -x])
    found = run(f"math.{name} %x : KIND", np.float64, x)
    assert ulps(found, [getattr(mpmath, name)(mpmath.mpf(v)) for v in x]) < 2


@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
def test_huge_angles_of_f32(name, rng):
    x = np.ldexp(1 + rng.random(300), rng.integers(40, 127, 300)).astype(np.float32)
    x = np.concatenate([x, -x, [np.float32(3.4028235e38), np.float32(2.0**40 * 1.5)]]).astype(np.float32)
    found = run(f"math.{name} %x : KIND", np.float32, x)
    assert ulps(found, [getattr(mpmath, name)(mpmath.mpf(float(v))) for v in x]) < 2


@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_angles_that_are_no_numbers(name, dtype):
    found = run(f"math.{name} %x : KIND", dtype, np.array([np.inf, -np.inf, np.nan], dtype))
    assert np.isnan(found).all()


# -- the C library ------------------------------------------------------------------------------


def name_of(function: str, dtype: type) -> str:
    return function + ("f" if dtype is np.float32 else "")


def two(function: str, dtype: type, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return run(f"func.call @{name_of(function, dtype)}(%x, %y) : (KIND, KIND) -> KIND", dtype, x, y)


def one(function: str, dtype: type, x: np.ndarray) -> np.ndarray:
    return run(f"func.call @{name_of(function, dtype)}(%x) : (KIND) -> KIND", dtype, x)


def pairs(dtype: type, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Any two finite numbers, near ones, and all pairs of special values."""
    info = np.finfo(dtype)
    special = np.array(
        [0, -0.0, 1, -1, 0.5, 3, np.inf, -np.inf, np.nan, info.max, info.tiny, info.smallest_subnormal, 7e30],
        dtype,
    )
    a, b = (m.ravel() for m in np.meshgrid(special, special))
    exponents = rng.integers(info.minexp, info.maxexp - 1, (2, 400))
    x, y = np.ldexp(rng.uniform(-2, 2, (2, 400)), exponents).astype(dtype)
    near = x * rng.uniform(0.01, 0.9, 400).astype(dtype)
    return np.concatenate([a, x, x]), np.concatenate([b, y, near])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_remainder_is_exact(dtype, rng):
    import math

    x, y = pairs(dtype, rng)
    found = two("remainder", dtype, x, y)
    for a, b, value in zip(x.tolist(), y.tolist(), found.tolist(), strict=True):
        bad = math.isnan(a) or math.isnan(b) or math.isinf(a) or b == 0
        wanted = math.nan if bad else math.remainder(a, b)
        assert math.isnan(value) if math.isnan(wanted) else value == wanted, (a, b, value, wanted)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_fmod_is_exact(dtype, rng):
    x, y = pairs(dtype, rng)
    found = run("arith.remf %x, %y : KIND", dtype, x, y)
    with np.errstate(invalid="ignore"):
        wanted = np.fmod(x, y)
    np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(np.signbit(found)[found == 0], np.signbit(x)[found == 0])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_nextafter_is_exact(dtype, rng):
    x, y = pairs(dtype, rng)
    found = two("nextafter", dtype, x, y)
    with np.errstate(over="ignore", under="ignore"):
        wanted = np.nextafter(x, y)
    np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(np.signbit(found)[found == 0], np.signbit(wanted)[found == 0])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_hypot(dtype, rng):
    x, y = pairs(dtype, rng)
    found = two("hypot", dtype, x, y)
    with np.errstate(over="ignore", invalid="ignore"):
        reference = np.hypot(x, y)
    strange = ~np.isfinite(reference)
    np.testing.assert_array_equal(found[strange], reference[strange])
    usual = ~strange & (reference >= np.finfo(dtype).tiny) & (reference < np.finfo(dtype).max / 2)
    true = [mpmath.hypot(float(a), float(b)) for a, b in zip(x[usual], y[usual], strict=True)]
    assert ulps(found[usual], true) < (1 if dtype is np.float32 else 2)


@pytest.mark.parametrize("name", ["tgamma", "lgamma"])
def test_gamma(name, rng):
    x = np.concatenate([rng.uniform(-30, 35, 1500), rng.uniform(0, 4, 500), [1, 2, 0.5, -0.5, 1e-30]])
    x = x[(np.floor(x) != x) | (x > 0)].astype(np.float32)
    with mpmath.workprec(200):
        values = [mpmath.mpf(float(v)) for v in x]
        true = [mpmath.gamma(v) if name == "tgamma" else mpmath.log(abs(mpmath.gamma(v))) for v in values]
    keep = [abs(t) < 3.4e38 and abs(t) > 1e-37 for t in true]
    found = one(name, np.float32, x)
    assert ulps(found[keep], [t for t, k in zip(true, keep, strict=True) if k]) < 2
    wide = one(name, np.float64, x.astype(np.float64))
    relative = [abs(v - t) / max(abs(t), 1) for v, t in zip(wide.tolist(), true, strict=True)]
    assert max(relative) < 1e-12


@pytest.mark.parametrize(
    ("name", "x", "wanted"),
    [
        ("tgamma", [0.0, -0.0, -1.0, np.inf, -np.inf, np.nan, 180.0, 5.0],
         [np.inf, -np.inf, np.nan, np.inf, np.nan, np.nan, np.inf, 24.0]),
        ("lgamma", [0.0, -0.0, -1.0, np.inf, -np.inf, np.nan, 1.0, 2.0],
         [np.inf, np.inf, np.inf, np.inf, np.inf, np.nan, 0.0, 0.0]),
    ],
)  # fmt: skip
def test_gamma_of_special_values(name, x, wanted):
    found = one(name, np.float32, np.array(x, np.float32))
    np.testing.assert_array_equal(found, np.array(wanted, np.float32))
