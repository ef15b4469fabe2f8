"""Instructions of AMD's chips, emulated, that move values between lanes, and what EXEC and branches do."""

from __future__ import annotations

import numpy as np
import pytest

from pykern.errors import DeviceError
from tests.runtime.emulator.amd_kernels import CHIPS, computed

over_chips = pytest.mark.parametrize("chip", sorted(CHIPS))


def waves(rng, chip, count=8):
    lanes = CHIPS[chip]
    return rng.integers(0, 2**32, lanes * count, dtype=np.uint64).astype(np.uint32), lanes


def taken(x, lanes, source):
    """`source`: the lane that each lane takes from, or -1."""
    found = x.reshape(-1, lanes)[:, [max(n, 0) for n in source]]
    return np.where(np.array(source) >= 0, found, 0).reshape(-1)


def row(lane):
    return lane - lane % 16


_MOVES = {
    "quad_perm:[1,3,0,2]": lambda n, lanes: n - n % 4 + (1, 3, 0, 2)[n % 4],
    "row_shl:3": lambda n, lanes: n + 3 if n % 16 + 3 < 16 else -1,
    "row_shr:5": lambda n, lanes: n - 5 if n % 16 >= 5 else -1,
    "row_ror:7": lambda n, lanes: row(n) + (n - 7) % 16,
    "row_mirror": lambda n, lanes: row(n) + 15 - n % 16,
    "row_half_mirror": lambda n, lanes: n - n % 8 + 7 - n % 8,
    "row_share:9": lambda n, lanes: row(n) + 9,
    "row_xmask:6": lambda n, lanes: n ^ 6,
    "row_bcast:15": lambda n, lanes: row(n) - 1,
    "row_bcast:31": lambda n, lanes: 31 if n >= 32 else -1,
    "wave_shr:1": lambda n, lanes: n - 1,
    "wave_rol:1": lambda n, lanes: (n + 1) % lanes,
}


@pytest.mark.parametrize("move", _MOVES)
def test_moved_operands(move, rng):
    """0 for what is not there, where that is asked for; else the lane is not written."""
    for chip in CHIPS:
        x, lanes = waves(rng, chip)
        source = [_MOVES[move](n, lanes) for n in range(lanes)]
        wanted = taken(x, lanes, source)
        rest = f"{move} row_mask:0xf bank_mask:0xf"
        got = computed(f"v_mov_b32_dpp {{0}}, {{1}} {rest} bound_ctrl:1", x, out=np.uint32, chip=chip)
        np.testing.assert_array_equal(got, wanted)
        got = computed(
            f"v_mov_b32_e32 {{0}}, 5; v_mov_b32_dpp {{0}}, {{1}} {rest}", x, out=np.uint32, chip=chip
        )
        there = np.tile(np.array(source) >= 0, len(x) // lanes)
        np.testing.assert_array_equal(got, np.where(there, wanted, 5))
        got = computed(f"v_add_u32_dpp {{0}}, {{1}}, {{1}} {rest} bound_ctrl:1", x, out=np.uint32, chip=chip)
        np.testing.assert_array_equal(got, wanted + x)


def test_rows_and_banks_that_are_written(rng):
    x, lanes = waves(rng, "gfx942")
    lines = "v_mov_b32_e32 {0}, 5; v_mov_b32_dpp {0}, {1} row_mirror row_mask:0xa bank_mask:0x3"
    number = np.arange(len(x)) % lanes
    written = ((0xA >> (number // 16)) & 1 & (0x3 >> (number % 16 // 4))).astype(bool)
    wanted = taken(x, lanes, [row(n) + 15 - n % 16 for n in range(lanes)])
    np.testing.assert_array_equal(computed(lines, x, out=np.uint32), np.where(written, wanted, 5))


def test_lanes_that_are_not_active_give_nothing(rng):
    """Lanes that take from them are not written; those with `fi` take what is there."""
    x, _ = waves(rng, "gfx942")
    even = "s_mov_b32 exec_lo, 0x55555555; s_mov_b32 exec_hi, 0x55555555; "
    lines = (
        "v_mov_b32_e32 {0}, 5; "
        + even
        + "v_mov_b32_dpp {0}, {1} quad_perm:[1,0,2,3] row_mask:0xf bank_mask:0xf"
    )
    number = np.arange(len(x)) % 4
    np.testing.assert_array_equal(computed(lines, x, out=np.uint32), np.where(number == 2, x, 5))
    got = computed(lines + " fi:1", x, out=np.uint32)
    np.testing.assert_array_equal(got, np.where(number == 0, np.roll(x, -1), np.where(number == 2, x, 5)))


def test_groups_of_eight(rng):
    x, lanes = waves(rng, "gfx1100")
    order = (7, 0, 3, 3, 1, 6, 5, 2)
    got = computed("v_mov_b32_dpp {0}, {1} dpp8:[7,0,3,3,1,6,5,2]", x, out=np.uint32, chip="gfx1100")
    np.testing.assert_array_equal(got, taken(x, lanes, [n - n % 8 + order[n % 8] for n in range(lanes)]))


@over_chips
def test_permutations(chip, rng):
    x, lanes = waves(rng, chip)
    at = rng.integers(0, 256, len(x)).astype(np.uint32)
    got = computed(
        "v_lshlrev_b32_e32 v40, 2, {2}; ds_bpermute_b32 {0}, v40, {1}", x, at, out=np.uint32, chip=chip
    )
    source = at.reshape(-1, lanes) % lanes
    np.testing.assert_array_equal(
        got, np.take_along_axis(x.reshape(-1, lanes), source.astype(int), 1).reshape(-1)
    )
    to = np.stack([rng.permutation(lanes) for _ in range(len(x) // lanes)]).astype(np.uint32)
    lines = "v_lshlrev_b32_e32 v40, 2, {2}; ds_permute_b32 {0}, v40, {1}"
    got = computed(lines, x, to.reshape(-1), out=np.uint32, chip=chip)
    wanted = np.zeros_like(x).reshape(-1, lanes)
    np.put_along_axis(wanted, to.astype(int), x.reshape(-1, lanes), 1)
    np.testing.assert_array_equal(got, wanted.reshape(-1))


_SWIZZLES = {
    "swizzle(QUAD_PERM, 3, 1, 0, 2)": lambda n: n - n % 4 + (3, 1, 0, 2)[n % 4],
    "swizzle(SWAP,8)": lambda n: n ^ 8,
    "swizzle(REVERSE,16)": lambda n: n ^ 15,
    "swizzle(BROADCAST,8,3)": lambda n: n - n % 8 + 3,
    'swizzle(BITMASK_PERM,"01pip")': lambda n: n - n % 32 + (n % 32 & 0b00111 | 0b01000) ^ 0b00010,
    "0x401f": lambda n: n ^ 16,
    "0x801b": lambda n: n ^ 3,
}


@pytest.mark.parametrize("pattern", _SWIZZLES)
def test_swizzles(pattern, rng):
    for chip in CHIPS:
        x, lanes = waves(rng, chip)
        got = computed(f"ds_swizzle_b32 {{0}}, {{1}} offset:{pattern}", x, out=np.uint32, chip=chip)
        np.testing.assert_array_equal(got, taken(x, lanes, [_SWIZZLES[pattern](n) for n in range(lanes)]))


def test_rows_by_numbers_in_registers(rng):
    x, lanes = waves(rng, "gfx1100")
    numbers = [int(n) for n in rng.integers(0, 16, 16)]
    low, high = (sum(n << 4 * at for at, n in enumerate(part)) for part in (numbers[:8], numbers[8:]))
    set_them = f"s_mov_b32 s20, {low:#x}; s_mov_b32 s21, {high:#x}; "
    for name, other in (("v_permlane16_b32", 0), ("v_permlanex16_b32", 16)):
        got = computed(f"{set_them}{name} {{0}}, {{1}}, s20, s21", x, out=np.uint32, chip="gfx1100")
        source = [(row(n) ^ other) + numbers[n % 16] for n in range(lanes)]
        np.testing.assert_array_equal(got, taken(x, lanes, source))


def test_rows_change_places(rng):
    x, lanes = waves(rng, "gfx942")
    y = np.flip(x).copy()
    for name, size in (("v_permlane32_swap_b32", 32), ("v_permlane16_swap_b32", 16)):
        lines = f"v_mov_b32_e32 v40, {{1}}; v_mov_b32_e32 v41, {{2}}; {name} v40, v41; v_mov_b32_e32 {{0}}, "
        a, b = (v.reshape(-1, lanes // size // 2, 2, size) for v in (x, y))
        first = np.stack([a[:, :, 0], b[:, :, 0]], 2).reshape(-1)
        second = np.stack([a[:, :, 1], b[:, :, 1]], 2).reshape(-1)
        np.testing.assert_array_equal(computed(lines + "v40", x, y, out=np.uint32), first)
        np.testing.assert_array_equal(computed(lines + "v41", x, y, out=np.uint32), second)


@over_chips
def test_single_lanes(chip, rng):
    x, lanes = waves(rng, chip)
    each = x.reshape(-1, lanes)
    wide = {64: "b64", 32: "b32"}[lanes]
    some = f"s_mov_{wide} exec, 0x30; " if lanes == 64 else "s_mov_b32 exec_lo, 0x30; "
    every = f"s_mov_{wide} exec, -1; " if lanes == 64 else "s_mov_b32 exec_lo, -1; "
    got = computed(
        some + "v_readfirstlane_b32 s20, {1}; " + every + "v_mov_b32_e32 {0}, s20",
        x,
        out=np.uint32,
        chip=chip,
    )
    np.testing.assert_array_equal(got, np.repeat(each[:, 4], lanes))
    got = computed("v_readlane_b32 s20, {1}, 21; v_mov_b32_e32 {0}, s20", x, out=np.uint32, chip=chip)
    np.testing.assert_array_equal(got, np.repeat(each[:, 21], lanes))
    got = computed("v_mov_b32_e32 {0}, {1}; v_writelane_b32 {0}, 77, 3", x, out=np.uint32, chip=chip)
    wanted = each.copy()
    wanted[:, 3] = 77
    np.testing.assert_array_equal(got, wanted.reshape(-1))


@over_chips
def test_number_of_the_lane(chip, rng):
    x, lanes = waves(rng, chip)
    lines = "v_mbcnt_lo_u32_b32 {0}, -1, 0" + ("; v_mbcnt_hi_u32_b32 {0}, -1, {0}" if lanes == 64 else "")
    np.testing.assert_array_equal(computed(lines, x, out=np.uint32, chip=chip), np.arange(len(x)) % lanes)
    mask = 0b1011_0101
    got = computed(f"v_mbcnt_lo_u32_b32 {{0}}, {mask:#x}, 2", x, out=np.uint32, chip=chip)
    wanted = [(mask & (1 << min(n % lanes, 32)) - 1).bit_count() + 2 for n in range(len(x))]
    np.testing.assert_array_equal(got, wanted)


def test_only_active_lanes_are_written(rng):
    """Branches of both sides, and what EXEC was before."""
    x, _ = waves(rng, "gfx942")
    lines = (
        "v_cmp_gt_u32_e32 vcc, 0x80000000, {1}; s_and_saveexec_b64 s[20:21], vcc; v_mov_b32_e32 {0}, 1; "
        "s_xor_b64 exec, exec, s[20:21]; v_mov_b32_e32 {0}, 2; s_or_b64 exec, exec, s[20:21]"
    )
    np.testing.assert_array_equal(computed(lines, x, out=np.uint32), np.where(x < 2**31, 1, 2))


@pytest.mark.parametrize("name", ["and", "or", "xor", "andn2", "orn2", "nand", "nor", "xnor"])
def test_exec_is_kept_and_changed(name, rng):
    compute = {
        "and": lambda a, b: a & b, "or": lambda a, b: a | b, "xor": lambda a, b: a ^ b, "andn2": lambda a, b: a & ~b,
        "orn2": lambda a, b: a | ~b, "nand": lambda a, b: ~(a & b), "nor": lambda a, b: ~(a | b),
        "xnor": lambda a, b: ~(a ^ b),
    }[name]  # fmt: skip
    first, second = 0x0F0F_33CC, 0x1234_5678
    for kind, at, half in (("b64", "s[20:21]", "exec_lo"), ("b32", "s20", "exec_lo")):
        chip = "gfx942" if kind == "b64" else "gfx1100"
        x, lanes = waves(rng, chip)
        kept = at.replace("20", "22").replace("21", "23")
        lines = (
            f"v_mov_b32_e32 {{0}}, 9; s_mov_b32 {half}, {second:#x}; s_mov_b32 s21, 0; "
            + ("s_mov_b32 exec_hi, 0; " if kind == "b64" else "")
            + f"s_mov_b32 s20, {first:#x}; s_{name}_saveexec_{kind} {kept}, {at}; "
            "v_mov_b32_e32 {0}, 7"
        )
        bits = compute(first, second) % (1 << lanes)
        wanted = [7 if bits >> (n % lanes) & 1 else 9 for n in range(len(x))]
        np.testing.assert_array_equal(computed(lines, x, out=np.uint32, chip=chip), wanted)


def test_loops():
    """Each lane as often as it says, by a branch of the whole wave."""
    times = np.arange(256, dtype=np.uint32) % 23
    lines = (
        "v_mov_b32_e32 {0}, 0; s_mov_b32 s24, 0;.L_again:; v_cmp_gt_u32_e32 vcc, {1}, {0}; "
        "s_and_b64 exec, exec, vcc; s_cbranch_execz .L_done; v_add_u32_e32 {0}, 1, {0}; s_add_i32 s24, s24, 1; "
        "s_branch .L_again;.L_done:; s_mov_b64 exec, -1; v_add_u32_e32 {0}, s24, {0}"
    )
    longest = times.reshape(-1, 64).max(1).repeat(64)
    np.testing.assert_array_equal(computed(lines, times, out=np.uint32), times + longest)


@pytest.mark.parametrize("lines", [
    "v_unheard_of_b32 {0}, {1}", "v_add_f32_e32 {0}, {1}, v999x", "v_add_u32_e64 {0}, {1}, {1} sideways",
    "v_mov_b32_dpp {0}, {1} row_whirl:3 row_mask:0xf bank_mask:0xf", "s_waitcnt vmcnt(0) counted(3)",
    "global_load_dword {0}, v1, s[4:5] offset:4 upside_down", "s_cbranch_scc0 .L_nowhere", "s_barrier_signal 3",
    "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 1",
])  # fmt: skip
def test_nothing_is_skipped(lines):
    with pytest.raises(DeviceError, match="the emulator does not know"):
        computed(lines, np.zeros(64, np.uint32), out=np.uint32)


@pytest.mark.parametrize("name", ["float_round_mode_32", "float_denorm_mode_16_64"])
def test_kernels_that_begin_with_another_rounding(name):
    with pytest.raises(DeviceError, match=f"a kernel that begins with {name} 1"):
        computed("v_mov_b32_e32 {0}, {1}", np.zeros(64, np.uint32), out=np.uint32, **{name: 1})
