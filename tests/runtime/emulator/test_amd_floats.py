"""Float instructions of AMD's chips, emulated, against NumPy, at special values too."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from tests.runtime.emulator.amd_kernels import CHIPS, computed
from tests.runtime.emulator.ptx_kernels import floats, second_floats

over_chips = pytest.mark.parametrize("chip", sorted(CHIPS))
KINDS = {"f16": np.float16, "f32": np.float32, "f64": np.float64}
over_kinds = pytest.mark.parametrize("kind", KINDS)
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
_WIDE = {np.float16: np.float32, np.float32: np.float64, np.float64: np.longdouble}


def pair(rng, kind):
    return floats(rng, KINDS[kind]), second_floats(rng, KINDS[kind])


def check(lines, want, *operands, chip="gfx942"):
    got = computed(lines, *operands, out=want.dtype, chip=chip)
    np.testing.assert_array_equal(got, want)
    numbers = ~np.isnan(want.astype(np.float64))
    np.testing.assert_array_equal(np.signbit(got[numbers]), np.signbit(want[numbers]))


@over_chips
@over_kinds
def test_sums_and_products(kind, chip, rng):
    x, y = pair(rng, kind)
    form = "" if kind == "f64" else "_e32"
    check(f"v_add_{kind}{form} {{0}}, {{1}}, {{2}}", x + y, x, y, chip=chip)
    check(f"v_mul_{kind}{form} {{0}}, {{1}}, {{2}}", x * y, x, y, chip=chip)
    check(f"v_add_{kind}_e64 {{0}}, -{{1}}, |{{2}}|", abs(y) - x, x, y, chip=chip)
    if kind != "f64":
        check(f"v_sub_{kind}_e32 {{0}}, {{1}}, {{2}}", x - y, x, y, chip=chip)
        check(f"v_subrev_{kind}_e32 {{0}}, {{1}}, {{2}}", y - x, x, y, chip=chip)


@over_kinds
def test_scales_and_limits_of_results(kind, rng):
    x, y = pair(rng, kind)
    one = KINDS[kind](1)
    wanted = np.where(x + y > 0, np.minimum(x + y, one), 0 * one)
    check(f"v_add_{kind}_e64 {{0}}, {{1}}, {{2}} clamp", wanted.astype(x.dtype), x, y)
    wide = x.astype(_WIDE[KINDS[kind]])
    if kind == "f32":
        check("v_mul_f32_e64 {0}, {1}, 1.0 mul:4", (x * 4).astype(x.dtype), x)
        check("v_mul_f32_e64 {0}, {1}, 1.0 div:2", (wide / 2).astype(x.dtype), x)


@over_chips
@over_kinds
def test_fused(kind, chip, rng):
    x, y = pair(rng, kind)
    z = np.flip(x).copy()
    if kind == "f64":
        wanted = exact_fma(x, y, z)
    elif kind == "f32":
        wanted = exact_fma(*(a.astype(np.float64) for a in (x, y, z)), to=np.float32)
    else:
        wanted = (x.astype(np.float64) * y.astype(np.float64) + z.astype(np.float64)).astype(np.float16)
    check(f"v_fma_{kind} {{0}}, {{1}}, {{2}}, {{3}}", wanted, x, y, z, chip=chip)


def exact_fma(x, y, z, to=np.float64):
    """By fractions, where all are numbers."""
    from fractions import Fraction

    found = (x * y + z).astype(to)
    for n in np.flatnonzero(np.isfinite(x) & np.isfinite(y) & np.isfinite(z)):
        exact = Fraction(float(x[n])) * Fraction(float(y[n])) + Fraction(float(z[n]))
        if exact:
            found[n] = nearest(exact, to)
    return found


def nearest(exact, to):
    """The float next to a fraction: of the neighbours of a guess."""
    from fractions import Fraction

    guess = to(float(exact)) if abs(exact) < Fraction(1.7e308) else to(np.inf) * to(1 if exact > 0 else -1)
    around = [guess, np.nextafter(guess, to(np.inf)), np.nextafter(guess, to(-np.inf))]
    limit = Fraction(float(np.finfo(to).max))
    size = lambda v: Fraction(float(v)) if np.isfinite(v) else limit * (1 if v > 0 else -1) * 2  # noqa: E731
    even = lambda v: int(np.array(v).view(f"u{np.dtype(to).itemsize}")) & 1  # noqa: E731
    if abs(exact) > limit:
        return guess
    return min(around, key=lambda v: (abs(size(v) - exact), even(v)))


@over_kinds
def test_sums_to_the_result(kind, rng):
    """fmac, and the forms with a constant."""
    x, y = pair(rng, kind)
    if kind == "f64":
        x, y = rng.integers(-1000, 1000, (2, 2048)).astype(np.float64)  # exact
    wide = _WIDE[KINDS[kind]]
    product = (x.astype(wide) * y.astype(wide)).astype(wide)
    move = "v_mov_b64_e32 {0}, {1}" if kind == "f64" else "v_mov_b32_e32 {0}, {1}"
    wanted = (product + x.astype(wide)).astype(x.dtype)
    if kind == "f32":
        wanted = exact_fma(*(a.astype(np.float64) for a in (x, y, x)), to=np.float32)
    check(f"{move}; v_fmac_{kind}_e32 {{0}}, {{1}}, {{2}}", wanted, x, y)
    if kind == "f32":
        half = np.full_like(x, 0.5)
        for line, three in (
            ("v_fmamk_f32 {0}, {1}, 0x3f000000, {2}", (x, half, y)),
            ("v_fmaak_f32 {0}, {1}, {2}, 0x3f000000", (x, y, half)),
        ):
            check(line, exact_fma(*(a.astype(np.float64) for a in three), to=np.float32), x, y)


def lesser(x, y, greater=False):
    """The number of the two; -0 is less than 0."""
    choose = np.maximum if greater else np.minimum
    found = np.where(np.isnan(x), y, np.where(np.isnan(y), x, choose(x, y)))
    zeros = (x == 0) & (y == 0)
    sign = np.signbit(x) & np.signbit(y) if greater else np.signbit(x) | np.signbit(y)
    return np.where(zeros, np.where(sign, -0.0, 0.0), found).astype(x.dtype)


@over_chips
@over_kinds
def test_extremes(kind, chip, rng):
    x, y = pair(rng, kind)
    form = "" if kind == "f64" else "_e32"
    check(f"v_min_{kind}{form} {{0}}, {{1}}, {{2}}", lesser(x, y), x, y, chip=chip)
    check(f"v_max_{kind}{form} {{0}}, {{1}}, {{2}}", lesser(x, y, True), x, y, chip=chip)
    nan = np.isnan(x) | np.isnan(y)
    check(f"v_minimum_{kind} {{0}}, {{1}}, {{2}}", np.where(nan, np.nan, lesser(x, y)).astype(x.dtype), x, y)
    if kind != "f64":
        z = np.flip(x).copy()
        check(
            f"v_max3_{kind} {{0}}, {{1}}, {{2}}, {{3}}",
            lesser(lesser(x, y, True), z, True),
            x,
            y,
            z,
            chip=chip,
        )
        numbers = ~(np.isnan(x) | np.isnan(y) | np.isnan(z))
        x, y, z = (np.where(numbers, a, 1).astype(a.dtype) for a in (x, y, z))
        wanted = np.sort(np.stack([x, y, z]), axis=0)[1]
        np.testing.assert_array_equal(
            computed(f"v_med3_{kind} {{0}}, {{1}}, {{2}}, {{3}}", x, y, z, out=x.dtype), wanted
        )


@over_kinds
def test_whole_numbers(kind, rng):
    x, _ = pair(rng, kind)
    for name, function in (("trunc", np.trunc), ("ceil", np.ceil), ("floor", np.floor), ("rndne", np.rint)):
        check(f"v_{name}_{kind}_e32 {{0}}, {{1}}", function(x), x)
    got = computed(f"v_fract_{kind}_e32 {{0}}, {{1}}", x, out=x.dtype)
    finite = np.isfinite(x)
    assert np.isnan(got[~finite]).all() and (got[finite] >= 0).all() and (got[finite] < 1).all()
    wanted = x[finite] - np.floor(x[finite])
    np.testing.assert_allclose(
        got[finite], np.minimum(wanted, np.nextafter(KINDS[kind](1), KINDS[kind](0))), rtol=0
    )


@over_kinds
def test_powers_of_two(kind, rng):
    x, _ = pair(rng, kind)
    by = rng.integers(-80, 80, len(x)).astype(np.int16 if kind == "f16" else np.int32)
    form = "" if kind == "f64" else "_e64" if kind == "f32" else "_e32"
    check(f"v_ldexp_{kind}{form} {{0}}, {{1}}, {{2}}", np.ldexp(x, by).astype(x.dtype), x, by)
    mantissa, exponent = np.frexp(x)
    check(f"v_frexp_mant_{kind}_e32 {{0}}, {{1}}", mantissa, x)
    wanted = np.where(np.isfinite(x), exponent, 0).astype(np.int16 if kind == "f16" else np.int32)
    check(f"v_frexp_exp_{'i16' if kind == 'f16' else 'i32'}_{kind}_e32 {{0}}, {{1}}", wanted, x)


_COMPARISONS = {
    "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal, "eq": np.equal,
    "lg": lambda x, y: (x < y) | (x > y), "o": lambda x, y: (x == x) & (y == y), "u": lambda x, y: (x != x) | (y != y),
    "nlt": lambda x, y: ~(x < y), "nge": lambda x, y: ~(x >= y), "neq": np.not_equal,
    "nlg": lambda x, y: ~((x < y) | (x > y)),
}  # fmt: skip


@over_kinds
def test_comparisons(kind, rng):
    x, y = pair(rng, kind)
    for name, holds in _COMPARISONS.items():
        wanted = np.where(holds(x, y), 7, 9).astype(np.uint32)
        check(f"v_cmp_{name}_{kind}_e32 vcc, {{1}}, {{2}}; v_cndmask_b32_e64 {{0}}, 9, 7, vcc", wanted, x, y)
        lines = f"v_cmp_{name}_{kind}_e64 s[20:21], {{1}}, {{2}}; v_cndmask_b32_e64 {{0}}, 9, 7, s[20:21]"
        check(lines, wanted, x, y)


@over_kinds
def test_classes(kind, rng):
    """Signalling NaN, quiet NaN, -inf, -normal, -subnormal, -0, 0, subnormal, normal, inf."""
    x, _ = pair(rng, kind)
    least = np.finfo(x.dtype).smallest_normal
    sign, size = np.signbit(x), abs(x)
    number = np.where(size < least, np.where(sign, 4, 7), np.where(sign, 3, 8))
    number = np.where(x == 0, np.where(sign, 5, 6), number)
    number = np.where(np.isinf(x), np.where(sign, 2, 9), np.where(np.isnan(x), 1, number))
    for mask in (3, 0x204, 0x60, 0x90, 0x108, 0x3FF):
        wanted = np.where(mask >> number & 1, 7, 9).astype(np.uint32)
        lines = f"v_mov_b32_e32 v40, {mask}; v_cmp_class_{kind}_e32 vcc, {{1}}, v40; v_cndmask_b32_e64 {{0}}, 9, 7, vcc"
        check(lines, wanted, x)


# -- conversions ---------------------------------------------------------------------------------------------


def test_conversions_of_floats(rng):
    x, y = floats(rng, np.float32), floats(rng, np.float64)
    check("v_cvt_f64_f32_e32 {0}, {1}", x.astype(np.float64), x)
    check("v_cvt_f32_f64_e32 {0}, {1}", y.astype(np.float32), y)
    check("v_cvt_f16_f32_e32 {0}, {1}", x.astype(np.float16), x)
    check("v_cvt_f32_f16_e32 {0}, {1}", x.astype(np.float16).astype(np.float32), x.astype(np.float16))


def test_every_f16(rng):
    x = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    got = computed("v_cvt_f32_f16_e32 {0}, {1}", x, out=np.float32)
    np.testing.assert_array_equal(got, x.astype(np.float32))
    back = computed("v_cvt_f16_f32_e32 {0}, {1}", got, out=np.float16)
    np.testing.assert_array_equal(back, x)
    ties = (got[:-1].astype(np.float64) + got[1:].astype(np.float64)) / 2
    ties = np.resize(ties[np.isfinite(ties)], 1 << 16).astype(np.float32)
    check("v_cvt_f16_f32_e32 {0}, {1}", ties.astype(np.float16), ties)


def test_pairs_of_short_floats(rng):
    x, y = floats(rng, np.float32), second_floats(rng, np.float32)
    got = computed("v_cvt_pk_bf16_f32 {0}, {1}, {2}", x, y, out=np.uint32).view(ml_dtypes.bfloat16)
    wanted = np.stack([x, y], 1).astype(ml_dtypes.bfloat16).reshape(-1)
    np.testing.assert_array_equal(got.astype(np.float32), wanted.astype(np.float32))
    got = computed("v_cvt_pkrtz_f16_f32 {0}, {1}, {2}", x, y, out=np.uint32).view(np.float16)
    both = np.stack([x, y], 1).reshape(-1)
    near = both.astype(np.float16)
    toward = np.where(abs(near.astype(np.float64)) > abs(both), np.nextafter(near, np.float16(0)), near)
    np.testing.assert_array_equal(got, toward)


@pytest.mark.parametrize("to", ["i32", "u32"])
@pytest.mark.parametrize("of", ["f32", "f64"])
def test_floats_become_integers(to, of, rng):
    """Towards zero; what is too large becomes the end of the range, NaN 0."""
    x = floats(rng, KINDS[of]) * 2.0 ** rng.integers(0, 20, 2048)
    x = x.astype(KINDS[of])
    low, high = (-(2**31), 2**31 - 1) if to == "i32" else (0, 2**32 - 1)
    cut = np.clip(np.trunc(np.nan_to_num(x.astype(np.float64), nan=0)), low, high)
    check(f"v_cvt_{to}_{of}_e32 {{0}}, {{1}}", cut.astype(f"{to[0]}4"), x)


@pytest.mark.parametrize("of", ["i32", "u32"])
@pytest.mark.parametrize("to", ["f32", "f64"])
def test_integers_become_floats(to, of, rng):
    x = rng.integers(0, 2**32, 2048, dtype=np.uint64).astype(np.uint32).view(f"{of[0]}4")
    check(f"v_cvt_{to}_{of}_e32 {{0}}, {{1}}", x.astype(KINDS[to]), x)
    if to == "f32":
        for byte in range(4):
            wanted = (x.view(np.uint32) >> np.uint32(8 * byte) & np.uint32(255)).astype(np.float32)
            check(f"v_cvt_f32_ubyte{byte}_e32 {{0}}, {{1}}", wanted, x)


def test_short_integers_and_floats(rng):
    x = np.arange(1 << 16, dtype=np.uint16)
    check("v_cvt_f16_u16_e32 {0}, {1}", x.astype(np.float16), x)
    check("v_cvt_f16_i16_e32 {0}, {1}", x.view(np.int16).astype(np.float16), x)
    y = x.view(np.float16)
    wide = np.nan_to_num(y.astype(np.float64), nan=0)
    check("v_cvt_u16_f16_e32 {0}, {1}", np.clip(np.trunc(wide), 0, 65535).astype(np.uint16), y)
    check("v_cvt_i16_f16_e32 {0}, {1}", np.clip(np.trunc(wide), -32768, 32767).astype(np.int16), y)


# -- the unit for transcendental functions -------------------------------------------------------------------


def flushed(x):
    return np.where(abs(x) < np.finfo(np.float32).smallest_normal, np.copysign(np.float32(0), x), x)


_UNIT = {
    "exp": np.exp2, "log": np.log2, "rcp": lambda x: 1 / x, "rsq": lambda x: 1 / np.sqrt(x), "sqrt": np.sqrt,
    "sin": lambda x: np.sin(2 * np.pi * (x - np.floor(x))), "cos": lambda x: np.cos(2 * np.pi * (x - np.floor(x))),
}  # fmt: skip


@pytest.mark.parametrize("name", _UNIT)
def test_transcendental_functions(name, rng):
    """Within one unit in the last place of f32; subnormals count as 0, on both sides."""
    x = floats(rng, np.float32)
    if name in ("sin", "cos"):
        x = rng.uniform(-256, 256, 2048).astype(np.float32)
    got = computed(f"v_{name}_f32_e32 {{0}}, {{1}}", x, out=np.float32)
    wanted = flushed(_UNIT[name](flushed(x).astype(np.float64)).astype(np.float32))
    np.testing.assert_allclose(got, wanted, rtol=2**-23, atol=1e-7 if name in ("sin", "cos") else 0)


@pytest.mark.parametrize("name", ["rcp", "rsq", "sqrt"])
def test_approximations_of_doubles(name, rng):
    """Close, and not exact: what needs more digits has to iterate."""
    x = rng.uniform(0.5, 1e6, 2048)
    got = computed(f"v_{name}_f64_e32 {{0}}, {{1}}", x, out=np.float64)
    wanted = _UNIT[name](x)
    np.testing.assert_allclose(got, wanted, rtol=2**-23)
    assert (got != wanted).any()


def test_quotients_of_f32(rng):
    """The steps that LLVM writes give the nearest number, also of the largest and the smallest."""
    x, y = floats(rng, np.float32), second_floats(rng, np.float32)
    x[400:] *= 2.0 ** rng.integers(-120, 100, len(x) - 400)
    y[400:] *= 2.0 ** rng.integers(-120, 100, len(x) - 400)
    lines = (
        "v_div_scale_f32 v40, s[20:21], {2}, {2}, {1}; v_div_scale_f32 v41, vcc, {1}, {2}, {1}; "
        "v_rcp_f32_e32 v42, v40; "
        "v_fma_f32 v43, -v40, v42, 1.0; v_fmac_f32_e32 v42, v43, v42; v_mul_f32_e32 v43, v41, v42; "
        "v_fma_f32 v44, -v40, v43, v41; v_fmac_f32_e32 v43, v44, v42; v_fma_f32 v40, -v40, v43, v41; "
        "v_div_fmas_f32 v40, v40, v42, v43; v_div_fixup_f32 {0}, v40, {2}, {1}"
    )
    check(lines, (x.astype(np.float64) / y.astype(np.float64)).astype(np.float32), x, y)


def test_quotients_of_f64(rng):
    x, y = floats(rng, np.float64), second_floats(rng, np.float64)
    x[400:] *= 2.0 ** rng.integers(-900, 900, len(x) - 400)
    y[400:] *= 2.0 ** rng.integers(-900, 900, len(x) - 400)
    lines = (
        "v_div_scale_f64 v[40:41], s[20:21], {2}, {2}, {1}; v_rcp_f64_e32 v[42:43], v[40:41]; "
        "v_fma_f64 v[44:45], -v[40:41], v[42:43], 1.0; v_fma_f64 v[42:43], v[42:43], v[44:45], v[42:43]; "
        "v_fma_f64 v[44:45], -v[40:41], v[42:43], 1.0; v_fma_f64 v[42:43], v[42:43], v[44:45], v[42:43]; "
        "v_div_scale_f64 v[44:45], vcc, {1}, {2}, {1}; v_mul_f64 v[46:47], v[44:45], v[42:43]; "
        "v_fma_f64 v[40:41], -v[40:41], v[46:47], v[44:45]; "
        "v_div_fmas_f64 v[40:41], v[40:41], v[42:43], v[46:47]; v_div_fixup_f64 {0}, v[40:41], {2}, {1}"
    )
    check(lines, x / y, x, y)


# -- pairs ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["add", "mul", "fma", "min", "max"])
def test_pairs_of_f16(name, rng):
    x, y = floats(rng, np.float16, 4096), second_floats(rng, np.float16, 4096)
    wide = x.astype(np.float64), y.astype(np.float64)
    wanted = {
        "add": lambda: x + y,
        "mul": lambda: x * y,
        "fma": lambda: (wide[0] * wide[1] + wide[0]).astype(np.float16),
        "min": lambda: lesser(x, y),
        "max": lambda: lesser(x, y, True),
    }[name]()
    third = ", {1}" if name == "fma" else ""
    got = computed(
        f"v_pk_{name}_f16 {{0}}, {{1}}, {{2}}{third}", x.view(np.uint32), y.view(np.uint32), out=np.uint32
    )
    np.testing.assert_array_equal(got.view(np.float16), wanted)


def test_pairs_of_f32(rng):
    x, y = floats(rng, np.float32, 4096), second_floats(rng, np.float32, 4096)
    doubles = x.view(np.uint64), y.view(np.uint64)
    got = computed("v_pk_add_f32 {0}, {1}, {2}", *doubles, out=np.uint64).view(np.float32)
    np.testing.assert_array_equal(got, x + y)
    got = computed("v_pk_mul_f32 {0}, {1}, {2} op_sel_hi:[1,0]", *doubles, out=np.uint64).view(np.float32)
    np.testing.assert_array_equal(got, x * np.repeat(y[::2], 2))
    got = computed("v_pk_add_f32 {0}, {1}, {2} neg_lo:[0,1] neg_hi:[0,1]", *doubles, out=np.uint64).view(
        np.float32
    )
    np.testing.assert_array_equal(got, x - y)
    got = computed("v_pk_mov_b32 {0}, {1}, {2} op_sel:[1,0]", *doubles, out=np.uint64).view(np.float32)
    np.testing.assert_array_equal(got, np.stack([x[1::2], y[::2]], 1).reshape(-1))


def test_mixed_sums(rng):
    """Two operands are halves of registers."""
    x, y, z = (floats(rng, np.float16, 4096) for _ in range(3))
    wide = rng.permutation(floats(rng, np.float32))
    lines = "v_fma_mix_f32 {0}, {1}, {2}, {3} op_sel:[0,1,0] op_sel_hi:[1,1,0]"
    got = computed(lines, x.view(np.uint32), y.view(np.uint32), wide, out=np.float32)
    exact = x[::2].astype(np.float64) * y[1::2].astype(np.float64) + wide.astype(np.float64)
    np.testing.assert_allclose(got, exact.astype(np.float32), rtol=2**-23)
    del z


@pytest.mark.parametrize("kind", ["f16", "bf16"])
def test_sums_of_products(kind, rng):
    dtype = np.float16 if kind == "f16" else ml_dtypes.bfloat16
    x, y = (rng.standard_normal((2048, 2)).astype(dtype) for _ in range(2))
    z = rng.standard_normal(2048).astype(np.float32)
    exact = (x.astype(np.float64) * y.astype(np.float64)).sum(1) + z
    words = x.view(np.uint32)[:, 0].copy(), y.view(np.uint32)[:, 0].copy()
    check(f"v_dot2_f32_{kind} {{0}}, {{1}}, {{2}}, {{3}}", exact.astype(np.float32), *words, z)
    lines = f"v_mov_b32_e32 {{0}}, {{3}}; v_dot2acc_f32_{kind} {{0}}, {{1}}, {{2}}"
    check(lines, exact.astype(np.float32), *words, z, chip="gfx1100")
