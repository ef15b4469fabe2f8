"""Float instructions of the emulator against NumPy, and against exact arithmetic where NumPy has none."""

from __future__ import annotations

import math
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest

from tests.runtime.emulator.ptx_kernels import computed, floats, second_floats

TYPES = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "bf16": ml_dtypes.bfloat16}
NP = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide}


def same(got: np.ndarray, want: np.ndarray) -> None:
    """Bit by bit, but for NaN, which are all alike."""
    size = {2: np.uint16, 4: np.uint32, 8: np.uint64}[got.itemsize]
    nan = np.isnan(want.astype(np.float64))
    np.testing.assert_array_equal(np.isnan(got.astype(np.float64)), nan)
    np.testing.assert_array_equal(got.view(size)[~nan], want.astype(got.dtype).view(size)[~nan])


@pytest.mark.parametrize("kind", ["f32", "f64", "f16", "bf16"])
@pytest.mark.parametrize("name", ["add", "sub", "mul", "div"])
def test_arithmetic(name, kind, rng):
    if name == "div" and kind in ("f16", "bf16"):
        pytest.skip("PTX has no such instruction")
    x, y = floats(rng, TYPES[kind]), second_floats(rng, TYPES[kind])
    with np.errstate(all="ignore"):
        want = NP[name](x, y)
    same(computed(f"{name}.rn.{kind} {{0}}, {{1}}, {{2}};", x, y, out=TYPES[kind]), want)


@pytest.mark.parametrize("kind", ["f16", "bf16"])
@pytest.mark.parametrize("name", ["add", "sub", "mul"])
def test_arithmetic_of_pairs(name, kind, rng):
    x, y = floats(rng, TYPES[kind]), second_floats(rng, TYPES[kind])
    got = computed(
        f"{name}.rn.{kind}x2 {{0}}, {{1}}, {{2}};", x.view(np.uint32), y.view(np.uint32), out=np.uint32
    )
    with np.errstate(all="ignore"):
        same(got.view(TYPES[kind]), NP[name](x, y))


def exact(name: str, values: tuple) -> Fraction:
    a, *rest = (Fraction(float(v)) for v in values)
    return {
        "add": lambda b: a + b,
        "mul": lambda b: a * b,
        "fma": lambda b, c: a * b + c,
        "div": lambda b: a / b,
    }[name](*rest)


def directed(number: Fraction, way: str, dtype: type) -> float:
    """An exact number rounded, by neighbours of the nearest."""
    near = dtype(float(number)) if dtype is np.float64 else dtype(number.numerator / number.denominator)
    down = {"rm": True, "rp": False, "rz": number > 0}[way]
    while Fraction(float(near)) > number if down else Fraction(float(near)) < number:
        near = np.nextafter(near, dtype(-np.inf if down else np.inf))
    while True:
        next_ = np.nextafter(near, dtype(np.inf if down else -np.inf))
        if (Fraction(float(next_)) <= number) if down else (Fraction(float(next_)) >= number):
            near = next_
        else:
            return near


@pytest.mark.parametrize("kind", ["f32", "f64"])
@pytest.mark.parametrize("way", ["rz", "rm", "rp"])
@pytest.mark.parametrize("name", ["add", "mul", "div", "fma"])
def test_directed_rounding(name, way, kind, rng):
    dtype = TYPES[kind]
    values = [
        rng.standard_normal(64).astype(dtype) * dtype(2.0) ** rng.integers(-30, 30, 64).astype(dtype)
        for _ in range(3)
    ]
    values = values[: 3 if name == "fma" else 2]
    given = ", ".join(f"{{{n}}}" for n in range(len(values) + 1))
    got = computed(f"{name}.{way}.{kind} {given};", *values, out=dtype)
    want = [directed(exact(name, row), way, dtype) for row in zip(*values, strict=True)]
    same(got, np.array(want, dtype))


@pytest.mark.parametrize("kind", ["f32", "f64", "f16", "bf16"])
def test_fused_multiply_add_rounds_once(kind, rng):
    dtype = TYPES[kind]
    values = [rng.standard_normal(512).astype(dtype) for _ in range(2)]
    with np.errstate(all="ignore"):
        product = values[0].astype(np.float64) * values[1].astype(np.float64)
        values.append((-product + rng.standard_normal(512) * 2.0 ** rng.integers(-12, 1, 512)).astype(dtype))
    got = computed(f"fma.rn.{kind} {{0}}, {{1}}, {{2}}, {{3}};", *values, out=dtype)
    if kind == "f64":
        want = [float(exact("fma", row)) for row in zip(*values, strict=True)]
    elif kind == "f32":
        want = [directed_nearest(exact("fma", row)) for row in zip(*values, strict=True)]
    else:  # exact in f64
        want = values[0].astype(np.float64) * values[1].astype(np.float64) + values[2].astype(np.float64)
    same(got, np.array(want).astype(dtype))


def directed_nearest(number: Fraction) -> np.float32:
    low, high = directed(number, "rm", np.float32), directed(number, "rp", np.float32)
    below, above = number - Fraction(float(low)), Fraction(float(high)) - number
    if below == above:
        return low if low.view(np.uint32) % 2 == 0 else high
    return low if below < above else high


@pytest.mark.parametrize("kind", ["f32", "f64", "f16", "bf16"])
@pytest.mark.parametrize("name", ["min", "max", "min.NaN", "max.NaN"])
def test_extremes(name, kind, rng):
    if kind == "f64" and "NaN" in name:
        pytest.skip("PTX has no such instruction")
    x, y = floats(rng, TYPES[kind]), second_floats(rng, TYPES[kind])
    got = computed(f"{name}.{kind} {{0}}, {{1}}, {{2}};", x, y, out=TYPES[kind])
    wide_x, wide_y = x.astype(np.float64), y.astype(np.float64)
    least = name.startswith("min")
    function = (np.minimum if least else np.maximum) if "NaN" in name else (np.fmin if least else np.fmax)
    want = function(wide_x, wide_y)
    zeros = (wide_x == 0) & (wide_y == 0)  # -0 is less than +0
    negative = (
        (np.signbit(wide_x) | np.signbit(wide_y)) if least else (np.signbit(wide_x) & np.signbit(wide_y))
    )
    same(got, np.where(zeros, np.where(negative, -0.0, 0.0), want).astype(TYPES[kind]))


def test_signs(rng):
    x, y = floats(rng, np.float32), second_floats(rng, np.float32)
    same(computed("neg.f32 {0}, {1};", x, out=np.float32), -x)
    same(computed("abs.f32 {0}, {1};", x, out=np.float32), np.abs(x))
    same(computed("copysign.f32 {0}, {1}, {2};", x, y, out=np.float32), np.copysign(y, x))
    half = floats(rng, np.float16)
    same(computed("neg.f16 {0}, {1};", half, out=np.float16), -half)
    same(computed("abs.f16 {0}, {1};", half, out=np.float16), np.abs(half))


def test_subnormals_are_flushed_where_the_instruction_says_so(rng):
    x, y = (
        np.array([1e-40, -1e-40, 1e-38, 1.0] * 8, np.float32),
        np.array([1.0, 1.0, 1e-2, 1e-40] * 8, np.float32),
    )
    same(
        computed("mul.ftz.f32 {0}, {1}, {2};", x, y, out=np.float32),
        np.array([0.0, -0.0, 0.0, 0.0] * 8, np.float32),
    )
    same(computed("mul.f32 {0}, {1}, {2};", x, y, out=np.float32), x * y)


@pytest.mark.parametrize(
    ("name", "function", "ulp"),
    [("sqrt.rn.f32", np.sqrt, 0.5), ("sqrt.approx.f32", np.sqrt, 1), ("rcp.rn.f32", lambda x: 1 / x, 0.5)]
    + [("rcp.approx.ftz.f32", lambda x: 1 / x, 1), ("rsqrt.approx.f32", lambda x: 1 / np.sqrt(x), 2)]
    + [("ex2.approx.f32", np.exp2, 2), ("lg2.approx.f32", np.log2, 2), ("tanh.approx.f32", np.tanh, 2)]
    + [("sin.approx.f32", np.sin, 2), ("cos.approx.f32", np.cos, 2)],
)
def test_approximate_instructions(name, function, ulp, rng):
    """At least as good as the ISA promises: results are those of f64, rounded."""
    x = np.abs(rng.standard_normal(1024)).astype(np.float32) + np.float32(0.01)
    got, want = computed(f"{name} {{0}}, {{1}};", x, out=np.float32), function(x.astype(np.float64))
    error = np.abs(got.astype(np.float64) - want) / np.spacing(np.abs(want).astype(np.float32)).astype(
        np.float64
    )
    assert error.max() <= ulp + 0.01


def test_approximate_instructions_at_special_values():
    x = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 4.0] * 4, np.float32)
    with np.errstate(all="ignore"):
        same(computed("ex2.approx.f32 {0}, {1};", x, out=np.float32), np.exp2(x))
        same(computed("lg2.approx.f32 {0}, {1};", x, out=np.float32), np.log2(x))
        same(computed("rsqrt.approx.f32 {0}, {1};", x, out=np.float32), 1 / np.sqrt(x))


def test_upper_words_of_f64(rng):
    x = np.abs(rng.standard_normal(64)) + 0.1
    got = computed("rcp.approx.ftz.f64 {0}, {1};", x, out=np.float64)
    assert not (got.view(np.uint64) & 0xFFFFFFFF).any()
    np.testing.assert_allclose(got, 1 / x, rtol=2.0**-20)


@pytest.mark.parametrize(
    "name", ["eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"]
)
@pytest.mark.parametrize("kind", ["f32", "f64", "f16"])
def test_comparisons(name, kind, rng):
    x, y = floats(rng, TYPES[kind]), second_floats(rng, TYPES[kind])
    got = computed(f"setp.{name}.{kind} %p0, {{1}}, {{2}}; selp.b32 {{0}}, 1, 0, %p0;", x, y, out=np.int32)
    unordered = np.isnan(x) | np.isnan(y)
    ordered = {"eq": x == y, "ne": x != y, "lt": x < y, "le": x <= y, "gt": x > y, "ge": x >= y}
    if name in ("num", "nan"):
        want = unordered if name == "nan" else ~unordered
    else:
        base = {"neu": "ne"}.get(name, name.removesuffix("u"))
        want = (ordered[base] | unordered) if name.endswith("u") else (ordered[base] & ~unordered)
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("to", ["f16", "bf16", "f32", "f64"])
@pytest.mark.parametrize("of", ["f16", "bf16", "f32", "f64"])
def test_conversions_of_floats(to, of, rng):
    if to == of or {to, of} == {"f16", "bf16"}:
        pytest.skip("PTX has no such instruction")
    x = floats(rng, TYPES[of])
    narrower = np.dtype(TYPES[to]).itemsize < np.dtype(TYPES[of]).itemsize
    got = computed(f"cvt.{'rn.' if narrower else ''}{to}.{of} {{0}}, {{1}};", x, out=TYPES[to])
    with np.errstate(all="ignore"):
        want = x.astype(TYPES[to])
    if (to, of) == ("bf16", "f64"):  # ml_dtypes rounds twice: by way of f32
        want = np.array([nearest_bf16(v) for v in x], TYPES[to])
    same(got, want)


def nearest_bf16(value: float) -> float:
    """Rounded once."""
    if not math.isfinite(value) or value == 0:
        return value
    step = 2.0 ** (max(math.frexp(value)[1], -125) - 8)
    return math.copysign(round(Fraction(value) / Fraction(step)) * step, value)


def test_a_tie_of_the_second_rounding_is_none():
    """An f64 a little above a tie of f16, which f32 cannot tell from it."""
    x = np.full(32, 1 + 2.0**-11 + 2.0**-40)
    assert (computed("cvt.rn.f16.f64 {0}, {1};", x, out=np.float16) == np.float16(1 + 2.0**-10)).all()


@pytest.mark.parametrize("way", ["rni", "rzi", "rmi", "rpi"])
@pytest.mark.parametrize("to", ["s32", "u32", "s64", "u64", "s16", "u8"])
@pytest.mark.parametrize("of", ["f32", "f64", "f16"])
def test_conversions_to_integers_clamp(to, of, way, rng):
    x = floats(rng, TYPES[of])
    width, signed = int(to[1:]), to[0] == "s"
    register = np.dtype(f"{'i' if signed else 'u'}{max(width, 16) // 8}")
    got = computed(f"cvt.{way}.{to}.{of} {{0}}, {{1}};", x, out=register)
    low, high = (-(2 ** (width - 1)), 2 ** (width - 1) - 1) if signed else (0, 2**width - 1)
    rounding = {"rni": round, "rzi": math.trunc, "rmi": math.floor, "rpi": math.ceil}[way]
    want = [
        0
        if math.isnan(v)
        else (low if v < 0 else high)
        if math.isinf(v)
        else min(max(rounding(v), low), high)
        for v in map(float, x)
    ]
    assert got.tolist() == want


@pytest.mark.parametrize("to", ["f16", "bf16", "f32", "f64"])
@pytest.mark.parametrize("of", ["s32", "u32", "s64", "u64"])
def test_conversions_of_integers(to, of, rng):
    kind = np.dtype(f"{'i' if of[0] == 's' else 'u'}{int(of[1:]) // 8}")
    x = (rng.integers(-(2**63), 2**63 - 1, 512) >> rng.integers(0, 63, 512)).astype(kind)
    got = computed(f"cvt.rn.{to}.{of} {{0}}, {{1}};", x, out=TYPES[to])
    with np.errstate(all="ignore"):
        want = np.array(
            [nearest_bf16(int(v)) if to == "bf16" and abs(int(v)) < 2**53 else v for v in x.tolist()]
            if to == "bf16"
            else x
        ).astype(TYPES[to])
    same(got, want)


def test_saturation(rng):
    x = floats(rng, np.float32)
    want = np.where(np.isnan(x), 0, np.clip(x, 0, 1)).astype(np.float32)
    np.testing.assert_array_equal(computed("cvt.sat.f32.f32 {0}, {1};", x, out=np.float32), want)


def test_packed_conversion(rng):
    x, y = floats(rng, np.float32), second_floats(rng, np.float32)
    got = computed("cvt.rn.f16x2.f32 {0}, {1}, {2};", x, y, out=np.uint32).view(np.float16).reshape(-1, 2)
    with np.errstate(all="ignore"):
        same(got[:, 1].copy(), x.astype(np.float16))
        same(got[:, 0].copy(), y.astype(np.float16))
