"""Integer instructions of AMD's chips, emulated, against NumPy and Python's integers, at special values too."""

from __future__ import annotations

import numpy as np
import pytest

from tests.runtime.emulator.amd_kernels import CHIPS, computed
from tests.runtime.emulator.ptx_kernels import integers

over_chips = pytest.mark.parametrize("chip", sorted(CHIPS))
WIDTH = {"u8": 8, "u16": 16, "u32": 32, "u64": 64, "i16": 16, "i32": 32, "i64": 64}


def pair(rng, kind):
    dtype = np.dtype(f"{kind[0]}{WIDTH[kind] // 8}")
    return integers(rng, dtype), integers(rng, dtype, other=True)


def check(lines, want, *operands, chip="gfx942", out="u32"):
    """`want` are Python's integers, cut to the type of the result."""
    width = WIDTH[out]
    cut = np.array([value % (1 << width) for value in want], np.uint64).astype(f"u{width // 8}")
    got = computed(lines, *operands, out=cut.dtype, chip=chip)
    np.testing.assert_array_equal(got, cut)


def rows(*arrays):
    return list(zip(*(array.tolist() for array in arrays), strict=True))


def signed(value, width=32):
    value %= 1 << width
    return value - (1 << width) if value >> (width - 1) else value


@over_chips
def test_sums_and_products(chip, rng):
    x, y = pair(rng, "u32")
    both = rows(x, y)
    check("v_add_u32_e32 {0}, {1}, {2}", [a + b for a, b in both], x, y, chip=chip)
    check("v_sub_u32_e32 {0}, {1}, {2}", [a - b for a, b in both], x, y, chip=chip)
    check("v_subrev_u32_e32 {0}, {1}, {2}", [b - a for a, b in both], x, y, chip=chip)
    check("v_mul_lo_u32 {0}, {1}, {2}", [a * b for a, b in both], x, y, chip=chip)
    check("v_mul_hi_u32 {0}, {1}, {2}", [a * b >> 32 for a, b in both], x, y, chip=chip)
    check("v_mul_hi_i32 {0}, {1}, {2}", [signed(a) * signed(b) >> 32 for a, b in both], x, y, chip=chip)
    check("v_add3_u32 {0}, {1}, {2}, 7", [a + b + 7 for a, b in both], x, y, chip=chip)
    check("v_lshl_add_u32 {0}, {1}, 3, {2}", [(a << 3) + b for a, b in both], x, y, chip=chip)
    check("v_add_lshl_u32 {0}, {1}, {2}, 3", [(a + b) << 3 for a, b in both], x, y, chip=chip)
    check("v_xad_u32 {0}, {1}, {2}, {1}", [(a ^ b) + a for a, b in both], x, y, chip=chip)
    low = [(a & 0xFFFFFF, b & 0xFFFFFF) for a, b in both]
    check("v_mul_u32_u24_e32 {0}, {1}, {2}", [a * b for a, b in low], x, y, chip=chip)
    check("v_mul_hi_u32_u24_e32 {0}, {1}, {2}", [a * b >> 32 for a, b in low], x, y, chip=chip)
    check(
        "v_mad_u32_u24 {0}, {1}, {2}, {1}",
        [a * b + c for (a, b), (c, _) in zip(low, both, strict=True)],
        x,
        y,
    )
    short = [(signed(a, 24), signed(b, 24)) for a, b in both]
    check("v_mul_i32_i24_e32 {0}, {1}, {2}", [a * b for a, b in short], x, y, chip=chip)


def test_saturation(rng):
    x, y = pair(rng, "u32")
    both = rows(x, y)
    check("v_add_u32_e64 {0}, {1}, {2} clamp", [min(a + b, 2**32 - 1) for a, b in both], x, y)
    check("v_sub_u32_e64 {0}, {1}, {2} clamp", [max(a - b, 0) for a, b in both], x, y)
    low, high = -(2**31), 2**31 - 1
    wanted = [min(max(signed(a) + signed(b), low), high) for a, b in both]
    check("v_add_i32 {0}, {1}, {2} clamp", wanted, x, y)


def test_carries(rng):
    """Sums and differences of 64 bits, in two steps; and products of 32 bits that are added to 64."""
    x, y = pair(rng, "u64")
    both = rows(x, y)
    low, high = "v40, v41", "v42, v43"
    split = "v_mov_b32_e32 v40, v12; v_mov_b32_e32 v41, v14; v_mov_b32_e32 v42, v13; v_mov_b32_e32 v43, v15; "
    for name, carried, want in (("add", "addc", lambda a, b: a + b), ("sub", "subb", lambda a, b: a - b)):
        lines = f"v_{name}_co_u32_e32 v10, vcc, {low}; v_{carried}_co_u32_e32 v11, vcc, {high}, vcc"
        check(split + lines, [want(a, b) for a, b in both], x, y, out="u64")
        told = f"{lines}; v_cndmask_b32_e64 v10, 0, 1, vcc; v_mov_b32_e32 v11, 0"
        check(split + told, [int(not 0 <= want(a, b) < 2**64) for a, b in both], x, y, out="u64")
    lines = "v_add_co_u32_e64 v10, s[20:21], v40, v41; v_addc_co_u32_e64 v11, s[22:23], v42, v43, s[20:21]"
    check(split + lines, [a + b for a, b in both], x, y, out="u64")
    products = [(a % 2**32) * (b % 2**32) + a for a, b in both]
    check("v_mad_u64_u32 {0}, s[20:21], v12, v14, {1}", products, x, y, out="u64")
    products = [signed(a) * signed(b) + a for a, b in both]
    check("v_mad_i64_i32 {0}, s[20:21], v12, v14, {1}", products, x, y, out="u64")


def test_carries_of_narrow_waves(rng):
    x, y = pair(rng, "u64")
    lines = (
        "v_add_co_u32 v40, vcc_lo, v12, v14; v_add_co_ci_u32_e64 v11, null, v13, v15, vcc_lo; "
        "v_mov_b32_e32 v10, v40"
    )
    check(lines, [a + b for a, b in rows(x, y)], x, y, out="u64", chip="gfx1100")


@over_chips
def test_logic_and_shifts(chip, rng):
    x, y = pair(rng, "u32")
    both = rows(x, y)
    check("v_and_b32_e32 {0}, {1}, {2}", [a & b for a, b in both], x, y, chip=chip)
    check("v_or_b32_e32 {0}, {1}, {2}", [a | b for a, b in both], x, y, chip=chip)
    check("v_xor_b32_e32 {0}, {1}, {2}", [a ^ b for a, b in both], x, y, chip=chip)
    check("v_xnor_b32_e32 {0}, {1}, {2}", [~(a ^ b) for a, b in both], x, y, chip=chip)
    check("v_not_b32_e32 {0}, {1}", [~a for a in x.tolist()], x, chip=chip)
    check("v_and_or_b32 {0}, {1}, {2}, 0x1234", [a & b | 0x1234 for a, b in both], x, y, chip=chip)
    check("v_or3_b32 {0}, {1}, {2}, -2", [a | b | -2 for a, b in both], x, y, chip=chip)
    check("v_bfi_b32 {0}, {1}, {2}, {1}", [(a & b) | (~a & a) for a, b in both], x, y, chip=chip)
    check("v_lshlrev_b32_e32 {0}, {1}, {2}", [b << (a & 31) for a, b in both], x, y, chip=chip)
    check("v_lshrrev_b32_e32 {0}, {1}, {2}", [b >> (a & 31) for a, b in both], x, y, chip=chip)
    check("v_ashrrev_i32_e32 {0}, {1}, {2}", [signed(b) >> (a & 31) for a, b in both], x, y, chip=chip)
    check("v_lshl_or_b32 {0}, {1}, 5, {2}", [a << 5 | b for a, b in both], x, y, chip=chip)
    check("v_alignbit_b32 {0}, {1}, {2}, 9", [(a << 32 | b) >> 9 for a, b in both], x, y, chip=chip)
    check("v_alignbyte_b32 {0}, {1}, {2}, 3", [(a << 32 | b) >> 24 for a, b in both], x, y, chip=chip)


def test_shifts_of_64_bits(rng):
    x, y = pair(rng, "u64")
    both = rows(x, y)
    check("v_lshlrev_b64 {0}, v12, {2}", [b << (a & 63) for a, b in both], x, y, out="u64")
    check("v_lshrrev_b64 {0}, v12, {2}", [b >> (a & 63) for a, b in both], x, y, out="u64")
    check("v_ashrrev_i64 {0}, v12, {2}", [signed(b, 64) >> (a & 63) for a, b in both], x, y, out="u64")
    check("v_lshl_add_u64 {0}, {1}, 3, {2}", [(a << 3) + b for a, b in both], x, y, out="u64")


@over_chips
def test_extremes(chip, rng):
    x, y = pair(rng, "u32")
    z = np.flip(x).copy()
    three = rows(x, y, z)
    for letter, number in (("u", int), ("i", signed)):
        for name, choose in (("min", min), ("max", max)):
            wanted = [choose(number(a), number(b)) for a, b, _ in three]
            check(f"v_{name}_{letter}32_e32 {{0}}, {{1}}, {{2}}", wanted, x, y, chip=chip)
            wanted = [choose(number(a), number(b), number(c)) for a, b, c in three]
            check(f"v_{name}3_{letter}32 {{0}}, {{1}}, {{2}}, {{3}}", wanted, x, y, z, chip=chip)
        wanted = [sorted((number(a), number(b), number(c)))[1] for a, b, c in three]
        check(f"v_med3_{letter}32 {{0}}, {{1}}, {{2}}, {{3}}", wanted, x, y, z, chip=chip)


def test_short_integers(rng):
    """The older chips clear the upper half of the result, the newer ones keep it."""
    x, y = pair(rng, "u16")
    both = rows(x, y)
    cases = {
        "v_add_u16_e32 {}, {1}, {2}": lambda a, b: a + b,
        "v_sub_u16_e32 {}, {1}, {2}": lambda a, b: a - b,
        "v_mul_lo_u16_e32 {}, {1}, {2}": lambda a, b: a * b,
        "v_min_u16_e32 {}, {1}, {2}": min,
        "v_max_i16_e32 {}, {1}, {2}": lambda a, b: max(signed(a, 16), signed(b, 16)),
        "v_lshlrev_b16_e32 {}, {1}, {2}": lambda a, b: b << (a & 15),
        "v_ashrrev_i16_e32 {}, {1}, {2}": lambda a, b: signed(b, 16) >> (a & 15),
        "v_mad_legacy_u16 {}, {1}, {2}, {1}": lambda a, b: a * b + a,
    }
    for line, compute in cases.items():
        line = f"v_mov_b32_e32 {{0}}, -1; {line.replace('{}', '{0}')}"
        short = [compute(a, b) % 65536 for a, b in both]
        check(line, short, x, y)
        check(
            line.replace("_e32 {0}, {1}", "_e64 {0}, {1}"),
            [v | 0xFFFF0000 for v in short],
            x,
            y,
            chip="gfx1100",
        )


def test_halves_of_registers(rng):
    x, y = pair(rng, "u32")
    both = rows(x, y)
    lines = "v_mov_b32_e32 {0}, {2}; v_add_nc_u16 v10.h, v12.h, v14.l"
    wanted = [b & 0xFFFF | (((a >> 16) + b) % 65536) << 16 for a, b in both]
    check(lines, wanted, x, y, chip="gfx1100")
    lines = "v_mov_b32_e32 {0}, {2}; v_add_nc_u16 {0}, {1}, {2} op_sel:[1,0,1]"
    check(lines, wanted, x, y, chip="gfx1100")
    check(
        "v_mov_b16_e32 v10.l, v12.h; v_mov_b16_e32 v10.h, v12.l",
        [a >> 16 | a << 16 for a, _ in both],
        x,
        y,
        chip="gfx1100",
    )


@pytest.mark.parametrize(
    "name", ["add_u16", "sub_i16", "mul_lo_u16", "max_i16", "min_u16", "lshlrev_b16", "mad_u16"]
)
def test_pairs(name, rng):
    x, y = pair(rng, "u32")
    compute = {
        "add_u16": lambda a, b: a + b,
        "sub_i16": lambda a, b: a - b,
        "mul_lo_u16": lambda a, b: a * b,
        "max_i16": lambda a, b: max(signed(a, 16), signed(b, 16)),
        "min_u16": min,
        "lshlrev_b16": lambda a, b: b << (a & 15),
        "mad_u16": lambda a, b: a * b + a,
    }[name]
    third = ", {1}" if name == "mad_u16" else ""

    def both(x_halves, y_halves):
        low, high = (compute(a, b) % 65536 for a, b in zip(x_halves, y_halves, strict=True))
        return low | high << 16

    wanted = [both((a & 65535, a >> 16), (b & 65535, b >> 16)) for a, b in rows(x, y)]
    check(f"v_pk_{name} {{0}}, {{1}}, {{2}}{third}", wanted, x, y)
    if not third:
        wanted = [both((a >> 16, a & 65535), (b & 65535, b & 65535)) for a, b in rows(x, y)]
        check(f"v_pk_{name} {{0}}, {{1}}, {{2}} op_sel:[1,0] op_sel_hi:[0,0]", wanted, x, y)


@over_chips
def test_bits(chip, rng):
    x, _ = pair(rng, "u32")
    values = x.tolist()
    check("v_bfrev_b32_e32 {0}, {1}", [int(f"{v:032b}"[::-1], 2) for v in values], x, chip=chip)
    check("v_ffbh_u32_e32 {0}, {1}", [32 - v.bit_length() if v else -1 for v in values], x, chip=chip)
    check("v_ffbl_b32_e32 {0}, {1}", [(v & -v).bit_length() - 1 for v in values], x, chip=chip)
    check("v_bcnt_u32_b32 {0}, {1}, 5", [v.bit_count() + 5 for v in values], x, chip=chip)
    signs = [32 - (v if v < 2**31 else v ^ (2**32 - 1)).bit_length() for v in values]
    check("v_ffbh_i32_e32 {0}, {1}", [-1 if n == 32 else n for n in signs], x, chip=chip)


def test_bit_fields(rng):
    x, _ = pair(rng, "u32")
    begin, count = (rng.integers(0, 64, len(x)).astype(np.uint32) for _ in range(2))
    three = rows(x, begin, count)
    wanted = [(a >> (b & 31)) & ((1 << (c & 31)) - 1) for a, b, c in three]
    check("v_bfe_u32 {0}, {1}, {2}, {3}", wanted, x, begin, count)
    wanted = [signed(signed(a) >> (b & 31), c & 31) if c & 31 else 0 for a, b, c in three]
    check("v_bfe_i32 {0}, {1}, {2}, {3}", wanted, x, begin, count)
    check(
        "v_bfm_b32 {0}, {3}, {2}", [((1 << (c & 31)) - 1) << (b & 31) for _, b, c in three], x, begin, count
    )


def test_bytes_are_permuted(rng):
    x, y = pair(rng, "u32")
    z = rng.integers(0, 14, (len(x), 4)).astype(np.uint8).view(np.uint32)[:, 0]

    def chosen(a, b, selector):
        source = (b | a << 32).to_bytes(8, "little")
        signs = {8: source[1], 9: source[3], 10: source[5], 11: source[7]}
        byte = lambda n: (  # noqa: E731
            source[n] if n < 8 else 255 * (signs[n] >> 7) if n < 12 else 0 if n == 12 else 255
        )
        return int.from_bytes(bytes(byte(n) for n in selector.to_bytes(4, "little")), "little")

    check("v_perm_b32 {0}, {1}, {2}, {3}", [chosen(*row) for row in rows(x, y, z)], x, y, z)


@pytest.mark.parametrize("table", [0x00, 0x6C, 0xCA, 0x96, 0xFF, 0x1F])
def test_three_operands_by_a_table(table, rng):
    """The bits of the operands, the first one highest, number a bit of the table."""
    x, y = pair(rng, "u32")
    z = rng.permutation(y)

    def chosen(a, b, c):
        bits = (4 * (a >> n & 1) + 2 * (b >> n & 1) + (c >> n & 1) for n in range(32))
        return sum((table >> number & 1) << n for n, number in enumerate(bits))

    wanted = [chosen(*row) for row in rows(x, y, z)]
    check(f"v_bitop3_b32 {{0}}, {{1}}, {{2}}, {{3}} bitop3:{table:#x}", wanted, x, y, z)


def test_parts_of_registers(rng):
    """SDWA: bytes and halves are read, extended, and written beside what is kept."""
    x, y = pair(rng, "u32")
    both = rows(x, y)
    head = "v_add_u32_sdwa {0}, {1}, {2} dst_sel:"
    wanted = [(a >> 8 & 255) + (b >> 16) for a, b in both]
    check(head + "DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_1 src1_sel:WORD_1", wanted, x, y)
    wanted = [signed(a, 8) + (b & 0xFFFF) for a, b in both]
    lines = "v_add_u32_sdwa {0}, sext({1}), {2} dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_0 src1_sel:WORD_0"
    check(lines, wanted, x, y)
    tail = " src0_sel:DWORD src1_sel:DWORD"
    check(head + "BYTE_2 dst_unused:UNUSED_PAD" + tail, [(a + b & 255) << 16 for a, b in both], x, y)
    wanted = [a & ~0xFFFF0000 | (a + b & 0xFFFF) << 16 for a, b in both]
    check("v_mov_b32_e32 {0}, {1}; " + head + "WORD_1 dst_unused:UNUSED_PRESERVE" + tail, wanted, x, y)
    wanted = [signed(a + b, 16) for a, b in both]
    check(head + "WORD_0 dst_unused:UNUSED_SEXT" + tail, wanted, x, y)


@pytest.mark.parametrize("kind", ["i16", "u16", "i32", "u32", "i64", "u64"])
def test_comparisons(kind, rng):
    x, y = pair(rng, kind)
    both = rows(x, y)
    tests = {
        "eq": int.__eq__,
        "ne": int.__ne__,
        "lt": int.__lt__,
        "le": int.__le__,
        "gt": int.__gt__,
        "ge": int.__ge__,
    }
    for name, holds in tests.items():
        wanted = [7 if holds(a, b) else 9 for a, b in both]
        lines = f"v_cmp_{name}_{kind}_e32 vcc, {{1}}, {{2}}; v_cndmask_b32_e64 {{0}}, 9, 7, vcc"
        check(lines, wanted, x, y)
    lines = f"v_mov_b32_e32 {{0}}, 9; v_cmpx_lt_{kind}_e32 vcc, {{1}}, {{2}}; v_mov_b32_e32 {{0}}, 7"
    check(lines, [7 if a < b else 9 for a, b in both], x, y)
    lines = f"v_mov_b32_e32 {{0}}, 9; v_cmpx_ge_{kind}_e64 {{1}}, {{2}}; v_mov_b32_e32 {{0}}, 7"
    check(lines, [7 if a >= b else 9 for a, b in both], x, y, chip="gfx1100")


# -- scalar instructions: the first lane's operands ----------------------------------------------------------

_BRING = "v_readfirstlane_b32 s20, {1}; v_readfirstlane_b32 s21, {2}; "
_SHOW = "; s_cselect_b32 s30, 1, 0; v_mov_b32_e32 {0}, s22"
_TELL = "; s_cselect_b32 s30, 1, 0; v_mov_b32_e32 {0}, s30"
_SCALARS = {
    "s_add_u32": lambda a, b: (a + b, a + b >> 32),
    "s_sub_u32": lambda a, b: (a - b, a < b),
    "s_add_i32": lambda a, b: (a + b, not -(2**31) <= signed(a) + signed(b) < 2**31),
    "s_sub_i32": lambda a, b: (a - b, not -(2**31) <= signed(a) - signed(b) < 2**31),
    "s_and_b32": lambda a, b: (a & b, a & b != 0),
    "s_or_b32": lambda a, b: (a | b, a | b != 0),
    "s_xor_b32": lambda a, b: (a ^ b, a != b),
    "s_andn2_b32": lambda a, b: (a & ~b, a & ~b != 0),
    "s_orn2_b32": lambda a, b: (a | ~b, (a | ~b) % 2**32 != 0),
    "s_nand_b32": lambda a, b: (~(a & b), ~(a & b) % 2**32 != 0),
    "s_lshl_b32": lambda a, b: (a << (b & 31), (a << (b & 31)) % 2**32 != 0),
    "s_lshr_b32": lambda a, b: (a >> (b & 31), a >> (b & 31) != 0),
    "s_ashr_i32": lambda a, b: (signed(a) >> (b & 31), signed(a) >> (b & 31) != 0),
    "s_min_i32": lambda a, b: (min(signed(a), signed(b)), signed(a) < signed(b)),
    "s_max_u32": lambda a, b: (max(a, b), a > b),
    "s_lshl2_add_u32": lambda a, b: ((a << 2) + b, (a << 2) + b >> 32 != 0),
    "s_absdiff_i32": lambda a, b: (abs(signed(a - b)), (a - b) % 2**32 != 0),
}


@pytest.mark.parametrize("name", _SCALARS)
def test_scalar_arithmetic(name):
    """The result, and what SCC tells."""
    numbers = [0, 1, 2, 31, 32, 63, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0xFFFF0000, 0x12345678]
    pairs = np.array([(a, b) for a in numbers for b in numbers], np.uint32)
    x, y = (np.repeat(pairs[:, n], 64) for n in (0, 1))
    wanted = [_SCALARS[name](a, b) for a, b in pairs.tolist()]
    lines = f"{_BRING}{name} s22, s20, s21"
    check(lines + _SHOW, np.repeat(np.array([v[0] % 2**32 for v in wanted], np.uint64), 64).tolist(), x, y)
    check(lines + _TELL, np.repeat([int(bool(v[1])) for v in wanted], 64).tolist(), x, y)


def test_scalar_numbers_of_64_bits():
    """Carries, shifts, fields, counts."""
    x, y = (np.full(64, number, np.uint32) for number in (0x89ABCDEF, 0xFEDCBA98))
    whole = 0x89ABCDEF | 0xFEDCBA98 << 32
    cases = {
        "s_lshl_b64 s[22:23], s[20:21], 20": whole << 20,
        "s_lshr_b64 s[22:23], s[20:21], 20": whole >> 20,
        "s_ashr_i64 s[22:23], s[20:21], 20": signed(whole, 64) >> 20,
        "s_not_b64 s[22:23], s[20:21]": ~whole,
        "s_bfe_u64 s[22:23], s[20:21], 0x1c0008": whole >> 8 & (1 << 28) - 1,
        "s_bfe_i64 s[22:23], s[20:21], 0x340008": signed(whole >> 8, 52),
        "s_brev_b64 s[22:23], s[20:21]": int(f"{whole:064b}"[::-1], 2),
        "s_mov_b64 s[22:23], 0x7fffffff": 0x7FFFFFFF,
        "s_mov_b64 s[22:23], -5": -5,
        "s_bfm_b64 s[22:23], 40, 3": (1 << 40) - 1 << 3,
        "s_add_nc_u64 s[22:23], s[20:21], s[20:21]": 2 * whole,
        "s_mul_u64 s[22:23], s[20:21], s[20:21]": whole * whole,
        "s_bitset0_b64 s[20:21], 63; s_mov_b64 s[22:23], s[20:21]": whole & ~(1 << 63),
    }
    for lines, wanted in cases.items():
        text = f"{_BRING}{lines}; v_mov_b32_e32 v10, s22; v_mov_b32_e32 v11, s23"
        check(text, [wanted] * 64, x, y, out="u64")
    counts = {
        "s_bcnt1_i32_b64 s22, s[20:21]": whole.bit_count(),
        "s_bcnt0_i32_b64 s22, s[20:21]": 64 - whole.bit_count(),
        "s_ff1_i32_b64 s22, s[20:21]": 0,
        "s_flbit_i32_b64 s22, s[20:21]": 0,
        "s_flbit_i32_b32 s22, 0": -1,
        "s_flbit_i32 s22, s20": 1,
        "s_sext_i32_i8 s22, s20": signed(0xEF, 8),
        "s_sext_i32_i16 s22, s20": signed(0xCDEF, 16),
        "s_pack_lh_b32_b16 s22, s20, s21": 0xCDEF | 0xFEDC << 16,
        "s_bfe_u32 s22, s20, 0x80004": 0xDE,
        "s_bfe_i32 s22, s20, 0x80004": signed(0xDE, 8),
        "s_movk_i32 s22, 0xfffe": -2,
        "s_mov_b32 s22, s20; s_addk_i32 s22, 0xfffe": 0x89ABCDED,
        "s_mov_b32 s22, s20; s_mulk_i32 s22, 3": 3 * 0x89ABCDEF,
        "s_mul_hi_u32 s22, s20, s21": 0x89ABCDEF * 0xFEDCBA98 >> 32,
        "s_mul_hi_i32 s22, s20, s21": signed(0x89ABCDEF) * signed(0xFEDCBA98) >> 32,
        "s_cmp_gt_i32 s20, s21; s_cselect_b32 s22, 3, 4": 4,
        "s_cmp_gt_u32 s21, s20; s_cselect_b32 s22, 3, 4": 3,
        "s_cmp_eq_u64 s[20:21], s[20:21]; s_cselect_b32 s22, 3, 4": 3,
        "s_bitcmp1_b32 s20, 0; s_cselect_b32 s22, 3, 4": 3,
        "s_cmpk_lt_i32 s20, 0xfff0; s_cselect_b32 s22, 3, 4": 3,
    }
    for lines, wanted in counts.items():
        check(f"{_BRING}{lines}; v_mov_b32_e32 {{0}}, s22", [wanted] * 64, x, y)


@pytest.mark.parametrize("width", [4, 8, 16])
def test_sums_of_products(width, rng):
    """Of the parts of two registers, with signs and without, to a third number or to the result."""
    x, y = pair(rng, "u32")
    z = np.flip(x).copy()
    count = 32 // width

    def parts(number, has_sign):
        cut = [number >> width * n & (1 << width) - 1 for n in range(count)]
        return [signed(v, width) for v in cut] if has_sign else cut

    def total(row, *signs):
        return sum(p * q for p, q in zip(parts(row[0], signs[0]), parts(row[1], signs[1]), strict=True))

    three = rows(x, y, z)
    for letter, sign in (("i", True), ("u", False)):
        name = f"v_dot{count}_{letter}32_{letter}{width}"
        wanted = [total(row, sign, sign) + row[2] for row in three]
        check(f"{name} {{0}}, {{1}}, {{2}}, {{3}}", wanted, x, y, z)
    name = f"v_dot{count}c_i32_i{width}_e32"
    wanted = [total(row, True, True) + row[2] for row in three]
    check(f"v_mov_b32_e32 {{0}}, {{3}}; {name} {{0}}, {{1}}, {{2}}", wanted, x, y, z)
    low, high = -(2**31), 2**31 - 1
    wanted = [min(max(total(row, True, True) + signed(row[2]), low), high) for row in three]
    check(f"v_dot{count}_i32_i{width} {{0}}, {{1}}, {{2}}, {{3}} clamp", wanted, x, y, z)
    if width < 16:
        wanted = [total(row, True, False) + row[2] for row in three]
        check(
            f"v_dot{count}_i32_iu{width} {{0}}, {{1}}, {{2}}, {{3}} neg_lo:[1,0,0]",
            wanted,
            x,
            y,
            z,
            chip="gfx1100",
        )
