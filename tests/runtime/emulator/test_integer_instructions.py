"""Integer instructions of the emulator against NumPy and Python's integers, at special values too."""

from __future__ import annotations

import numpy as np
import pytest

from tests.runtime.emulator.ptx_kernels import computed, integers

KINDS = ["s16", "u16", "s32", "u32", "s64", "u64"]


def dtype_of(kind: str) -> np.dtype:
    return np.dtype(f"{'i' if kind[0] == 's' else 'u'}{int(kind[1:]) // 8}")


def pairs(rng, kind):
    return integers(rng, dtype_of(kind)), integers(rng, dtype_of(kind), other=True)


def wrapped(values, kind):
    """Python's integers, cut to the type."""
    width = int(kind[1:])
    cut = np.array([v % (1 << width) for v in values], np.uint64)
    return cut.astype(f"u{width // 8}").view(dtype_of(kind))


def check(lines, kind, want, *operands, out=None):
    got = computed(lines, *operands, out=dtype_of(out or kind))
    np.testing.assert_array_equal(got, wrapped(want, out or kind))


@pytest.mark.parametrize("kind", KINDS)
def test_sums_and_products(kind, rng):
    x, y = pairs(rng, kind)
    both = list(zip(x.tolist(), y.tolist(), strict=True))
    check(f"add.{kind} {{0}}, {{1}}, {{2}};", kind, [a + b for a, b in both], x, y)
    check(f"sub.{kind} {{0}}, {{1}}, {{2}};", kind, [a - b for a, b in both], x, y)
    check(f"mul.lo.{kind} {{0}}, {{1}}, {{2}};", kind, [a * b for a, b in both], x, y)
    check(f"mul.hi.{kind} {{0}}, {{1}}, {{2}};", kind, [a * b >> int(kind[1:]) for a, b in both], x, y)
    check(f"mad.lo.{kind} {{0}}, {{1}}, {{2}}, {{1}};", kind, [a * b + a for a, b in both], x, y)


@pytest.mark.parametrize("kind", ["s16", "u16", "s32", "u32"])
def test_wide_products(kind, rng):
    x, y = pairs(rng, kind)
    want = [a * b for a, b in zip(x.tolist(), y.tolist(), strict=True)]
    check(f"mul.wide.{kind} {{0}}, {{1}}, {{2}};", kind, want, x, y, out=f"{kind[0]}{2 * int(kind[1:])}")


@pytest.mark.parametrize("kind", ["s32", "u32", "s64", "u64"])
def test_quotients(kind, rng):
    """By zero all bits are set, and the rest is the number; the least number by -1 wraps."""
    x, y = pairs(rng, kind)
    both = list(zip(x.tolist(), y.tolist(), strict=True))

    def quotient(a, b):
        return -1 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)

    check(f"div.{kind} {{0}}, {{1}}, {{2}};", kind, [quotient(a, b) for a, b in both], x, y)
    check(
        f"rem.{kind} {{0}}, {{1}}, {{2}};",
        kind,
        [a if b == 0 else a - b * quotient(a, b) for a, b in both],
        x,
        y,
    )


def test_carries(rng):
    """Numbers of 96 bits, in three parts."""
    words = [integers(rng, np.uint32, other=bool(n % 2)) for n in range(6)]
    lines = "add.cc.u32 %t5, {1}, {4}; addc.cc.u32 %t6, {2}, {5}; addc.u32 {0}, {3}, {6};"
    whole = [[int(w[n]) for w in words] for n in range(len(words[0]))]
    number = lambda w: w[0] + (w[1] << 32) + (w[2] << 64)  # noqa: E731
    check(lines, "u32", [number(w[:3]) + number(w[3:]) >> 64 for w in whole], *words)
    lines = "sub.cc.u32 %t5, {1}, {4}; subc.cc.u32 %t6, {2}, {5}; subc.u32 {0}, {3}, {6};"
    check(lines, "u32", [number(w[:3]) - number(w[3:]) >> 64 for w in whole], *words)


def test_carries_of_products(rng):
    x, y = pairs(rng, "u32")
    z = np.flip(x).copy()
    lines = "mad.lo.cc.u32 %t5, {1}, {2}, {3}; madc.hi.u32 {0}, {1}, {2}, 0;"
    want = [(a * b + c) >> 32 for a, b, c in zip(x.tolist(), y.tolist(), z.tolist(), strict=True)]
    check(lines, "u32", want, x, y, z)


@pytest.mark.parametrize("kind", KINDS)
def test_extremes(kind, rng):
    x, y = pairs(rng, kind)
    np.testing.assert_array_equal(
        computed(f"min.{kind} {{0}}, {{1}}, {{2}};", x, y, out=x.dtype), np.minimum(x, y)
    )
    np.testing.assert_array_equal(
        computed(f"max.{kind} {{0}}, {{1}}, {{2}};", x, y, out=x.dtype), np.maximum(x, y)
    )


@pytest.mark.parametrize("kind", ["s16", "s32", "s64"])
def test_signs(kind, rng):
    x, _ = pairs(rng, kind)
    check(f"neg.{kind} {{0}}, {{1}};", kind, [-a for a in x.tolist()], x)
    check(f"abs.{kind} {{0}}, {{1}};", kind, [abs(a) for a in x.tolist()], x)


@pytest.mark.parametrize("kind", ["b16", "b32", "b64"])
def test_logic(kind, rng):
    x, y = integers(rng, f"u{int(kind[1:]) // 8}"), integers(rng, f"u{int(kind[1:]) // 8}", other=True)
    for name, function in (("and", np.bitwise_and), ("or", np.bitwise_or), ("xor", np.bitwise_xor)):
        np.testing.assert_array_equal(
            computed(f"{name}.{kind} {{0}}, {{1}}, {{2}};", x, y, out=x.dtype), function(x, y)
        )
    np.testing.assert_array_equal(computed(f"not.{kind} {{0}}, {{1}};", x, out=x.dtype), ~x)


def test_functions_of_three(rng):
    x, y = integers(rng, np.uint32), integers(rng, np.uint32, other=True)
    z = np.flip(x).copy()
    got = computed("lop3.b32 {0}, {1}, {2}, {3}, 0xCA;", x, y, z, out=np.uint32)
    np.testing.assert_array_equal(got, (x & y) | (~x & z))


@pytest.mark.parametrize("kind", KINDS)
def test_shifts_clamp_the_amount(kind, rng):
    x, _ = pairs(rng, kind)
    width = int(kind[1:])
    by = rng.integers(0, 2 * width, len(x)).astype(np.uint32)
    both = list(zip(x.tolist(), by.tolist(), strict=True))
    check(f"shl.b{width} {{0}}, {{1}}, {{2}};", kind, [a << b for a, b in both], x, by)
    check(f"shr.{kind} {{0}}, {{1}}, {{2}};", kind, [a >> b for a, b in both], x, by)


def test_funnel_shifts(rng):
    low, high = integers(rng, np.uint32), integers(rng, np.uint32, other=True)
    by = rng.integers(0, 70, len(low)).astype(np.uint32)
    rows = list(zip(low.tolist(), high.tolist(), by.tolist(), strict=True))
    for way, amount in (("wrap", lambda c: c & 31), ("clamp", lambda c: min(c, 32))):
        left = [((b << 32 | a) << amount(c)) >> 32 for a, b, c in rows]
        right = [(b << 32 | a) >> amount(c) for a, b, c in rows]
        check(f"shf.l.{way}.b32 {{0}}, {{1}}, {{2}}, {{3}};", "u32", left, low, high, by)
        check(f"shf.r.{way}.b32 {{0}}, {{1}}, {{2}}, {{3}};", "u32", right, low, high, by)


def extracted(value, begin, count, width, signed):
    """The ISA's definition, bit by bit."""
    sign = value >> min(begin + count - 1, width - 1) & 1 if signed and count else 0
    return sum(
        (value >> (begin + n) & 1 if n < count and begin + n < width else sign) << n for n in range(width)
    )


@pytest.mark.parametrize("kind", ["u32", "s32", "u64", "s64"])
def test_bit_fields(kind, rng):
    x, y = pairs(rng, kind)
    width = int(kind[1:])
    begin, count = (rng.integers(0, width + 8, len(x)).astype(np.uint32) for _ in range(2))
    rows = list(zip(x.tolist(), y.tolist(), begin.tolist(), count.tolist(), strict=True))
    mask = (1 << width) - 1
    want = [extracted(a & mask, b, min(c, 255), width, kind[0] == "s") for a, _, b, c in rows]
    check(f"bfe.{kind} {{0}}, {{1}}, {{2}}, {{3}};", kind, want, x, begin, count)
    if kind[0] == "u":
        ones = [((1 << c) - 1) << b for _, _, b, c in rows]
        want = [(a << b & m | o & ~m) for (a, o, b, _), m in zip(rows, ones, strict=True)]
        check(f"bfi.b{width} {{0}}, {{1}}, {{2}}, {{3}}, {{4}};", kind, want, x, y, begin, count)


@pytest.mark.parametrize("kind", ["u32", "u64"])
def test_counts(kind, rng):
    x, _ = pairs(rng, kind)
    width, values = int(kind[1:]), x.tolist()
    check(f"popc.b{width} {{0}}, {{1}};", kind, [v.bit_count() for v in values], x, out="u32")
    check(f"clz.b{width} {{0}}, {{1}};", kind, [width - v.bit_length() for v in values], x, out="u32")
    check(f"bfind.{kind} {{0}}, {{1}};", kind, [v.bit_length() - 1 for v in values], x, out="u32")
    check(f"brev.b{width} {{0}}, {{1}};", kind, [int(f"{v:0{width}b}"[::-1], 2) for v in values], x)


def test_bytes_are_permuted(rng):
    x, y = pairs(rng, "u32")
    selector = rng.integers(0, 1 << 16, len(x)).astype(np.uint32)

    def chosen(a, b, s):
        source = (a | b << 32).to_bytes(8, "little")
        nibbles = [s >> 4 * n & 15 for n in range(4)]
        return int.from_bytes(
            bytes((255 if source[n & 7] >> 7 else 0) if n & 8 else source[n] for n in nibbles), "little"
        )

    want = [chosen(*row) for row in zip(x.tolist(), y.tolist(), selector.tolist(), strict=True)]
    check("prmt.b32 {0}, {1}, {2}, {3};", "u32", want, x, y, selector)


def test_products_of_bytes(rng):
    """Signed and unsigned ones; a row of numbers is four bytes of a word."""
    a, b = (rng.integers(0, 256, (64, 4)).astype(np.uint8) for _ in range(2))
    a[:2], b[:2] = 128, 255
    c = rng.integers(0, 1 << 32, 64).astype(np.uint32)
    for one, other in ("ss", "su", "us", "uu"):
        x, y = (v.view({"s": np.int8, "u": np.uint8}[k]).astype(np.int64) for v, k in ((a, one), (b, other)))
        got = computed(
            f"dp4a.{one}32.{other}32 {{0}}, {{1}}, {{2}}, {{3}};",
            a.view(np.uint32)[:, 0], b.view(np.uint32)[:, 0], c, out=np.uint32,
        )  # fmt: skip
        np.testing.assert_array_equal(got, ((x * y).sum(1) + c).astype(np.uint32))


@pytest.mark.parametrize("kind", KINDS)
def test_comparisons_and_selections(kind, rng):
    x, y = pairs(rng, kind)
    for name, function in (("eq", np.equal), ("ne", np.not_equal), ("lt", np.less), ("ge", np.greater_equal)):
        got = computed(
            f"setp.{name}.{kind} %p0, {{1}}, {{2}}; selp.b32 {{0}}, 7, 9, %p0;", x, y, out=np.int32
        )
        np.testing.assert_array_equal(got, np.where(function(x, y), 7, 9))


@pytest.mark.parametrize("to", KINDS)
@pytest.mark.parametrize("of", KINDS)
def test_conversions(to, of, rng):
    if to == of:
        pytest.skip("it is a move")
    x, _ = pairs(rng, of)
    check(f"cvt.{to}.{of} {{0}}, {{1}};", to, x.tolist(), x)
    bound = int(to[1:]) - (to[0] == "s")
    low, high = (-(1 << bound) if to[0] == "s" else 0), (1 << bound) - 1
    check(f"cvt.sat.{to}.{of} {{0}}, {{1}};", to, [min(max(v, low), high) for v in x.tolist()], x)


def test_registers_are_packed_and_unpacked(rng):
    x, y = pairs(rng, "u32")
    got = computed("mov.b64 {0}, {{{1}, {2}}};", x, y, out=np.uint64)
    np.testing.assert_array_equal(got, x.astype(np.uint64) | y.astype(np.uint64) << np.uint64(32))
    np.testing.assert_array_equal(computed("mov.b64 {{_, {0}}}, {1};", got, out=np.uint32), y)
