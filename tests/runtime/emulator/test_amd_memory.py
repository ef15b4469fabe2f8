"""Instructions of memory of AMD's chips, emulated: sizes, halves, spaces, atomics, and what is found wrong."""

from __future__ import annotations

import numpy as np
import pytest

from pykern.errors import DataRace, DeviceError, OutOfBounds
from pykern.runtime.emulator.amd.program import LoadedAssembly
from pykern.runtime.emulator.device_memory import DeviceMemory
from tests.runtime.emulator.amd_kernels import CHIPS, run, text_of
from tests.runtime.emulator.ptx_kernels import fetched, place

over_chips = pytest.mark.parametrize("chip", sorted(CHIPS))


def launched(lines, *arrays, chip="gfx942", groups=1, group=64, shared=0, **described):
    """Runs the lines with the addresses of arrays in s[4:5], s[6:7] ...; gives what the arrays hold then."""
    memory = DeviceMemory(1 << 22)
    addresses = [memory.allocate(array.nbytes) for array in arrays]
    for address, array in zip(addresses, arrays, strict=True):
        place(address, array)
    loads = [f"s_load_dwordx2 s[{4 + 2 * n}:{5 + 2 * n}], s[0:1], {8 * n:#x}" for n in range(len(arrays))]
    text = text_of(chip, [*loads, *(line.strip() for line in lines.split(";"))], **described)
    run(text, memory, groups, group, addresses, shared)
    return [fetched(address, array) for address, array in zip(addresses, arrays, strict=True)]


_NAMES = {
    "ubyte": np.uint8,
    "sbyte": np.int8,
    "ushort": np.uint16,
    "sshort": np.int16,
    "u8": np.uint8,
    "i16": np.int16,
}


@pytest.mark.parametrize("name", _NAMES)
def test_small_loads_are_extended(name, rng):
    x = rng.integers(0, 2**32, 64, dtype=np.uint64).astype(np.uint32)
    kind = np.dtype(_NAMES[name])
    for at in range(0, 4, kind.itemsize):
        lines = (
            f"v_lshlrev_b32_e32 v1, 2, v0; global_load_{name} v2, v1, s[6:7] offset:{at}; "
            f"global_store_dword v1, v2, s[4:5]"
        )
        got, _ = launched(lines, np.zeros(64, np.uint32), x)
        wanted = x.view(kind)[at // kind.itemsize :: 4 // kind.itemsize].astype(np.int32).view(np.uint32)
        np.testing.assert_array_equal(got, wanted)


def test_halves_are_loaded_and_stored(rng):
    """The other half of the register stays."""
    x, y = (rng.integers(0, 2**32, 64, dtype=np.uint64).astype(np.uint32) for _ in range(2))
    head = "v_lshlrev_b32_e32 v1, 2, v0; global_load_dword v2, v1, s[8:9]; "
    tail = "; global_store_dword v1, v2, s[4:5]"
    low, high = np.uint32(0xFFFF), np.uint32(0xFFFF0000)
    for name, wanted in {
        "short_d16": y & high | x & low,
        "short_d16_hi": y & low | x << np.uint32(16),
        "ubyte_d16": y & high | x & np.uint32(255),
        "ubyte_d16_hi": y & low | (x & np.uint32(255)) << np.uint32(16),
        "d16_hi_i8": y & low
        | (x.view(np.int8)[::4].astype(np.int16).view(np.uint16).astype(np.uint32) << np.uint32(16)),
    }.items():
        got, *_ = launched(f"{head}global_load_{name} v2, v1, s[6:7]{tail}", np.zeros(64, np.uint32), x, y)
        np.testing.assert_array_equal(got, wanted)
    for name, bits in {"short": 16, "byte": 8, "short_d16_hi": 16, "byte_d16_hi": 8}.items():
        lines = f"{head}global_store_{name} v1, v2, s[4:5]"
        got, *_ = launched(lines, np.zeros(64, np.uint32), x, y)
        moved = y >> np.uint32(16) if "hi" in name else y
        np.testing.assert_array_equal(got, moved & np.uint32((1 << bits) - 1))


@over_chips
@pytest.mark.parametrize("words", [1, 2, 3, 4])
def test_wide_accesses(words, chip, rng):
    x = rng.integers(0, 2**32, (64, words), dtype=np.uint64).astype(np.uint32)
    suffix = "dword" if words == 1 else f"dwordx{words}"
    held = "v4" if words == 1 else f"v[4:{3 + words}]"
    lines = (
        f"v_mul_u32_u24_e32 v1, {4 * words}, v0; v_mov_b32_e32 v9, s7; v_mov_b32_e32 v8, s6; "
        "v_lshl_add_u64 v[8:9], s[6:7], 0, v[8:9]; v_mov_b32_e32 v10, v1; v_mov_b32_e32 v11, 0; "
        f"v_lshl_add_u64 v[8:9], s[6:7], 0, v[10:11]; global_load_{suffix} {held}, v[8:9], off; "
        f"global_store_{suffix} v1, {held}, s[4:5]"
    )
    got, _ = launched(lines, np.zeros_like(x), x, chip=chip)
    np.testing.assert_array_equal(got, x)


def test_scalar_loads(rng):
    x = rng.integers(0, 2**32, 16, dtype=np.uint64).astype(np.uint32)
    for words in (1, 2, 4, 8, 16):
        suffix = "dword" if words == 1 else f"dwordx{words}"
        at = "s16" if words == 1 else f"s[16:{15 + words}]"
        stores = "; ".join(
            f"v_mov_b32_e32 v2, s{16 + n}; global_store_dword v1, v2, s[4:5] offset:{4 * n}"
            for n in range(words)
        )
        got, _ = launched(
            f"v_mov_b32_e32 v1, 0; s_load_{suffix} {at}, s[6:7], 0x0; {stores}", np.zeros(16, np.uint32), x
        )
        np.testing.assert_array_equal(got[:words], x[:words])
    lines = (
        "s_mov_b32 s3, 8; s_load_dword s16, s[6:7], s3 offset:0x4; v_mov_b32_e32 v1, 0; v_mov_b32_e32 v2, s16"
    )
    got, _ = launched(lines + "; global_store_dword v1, v2, s[4:5]", np.zeros(16, np.uint32), x)
    assert got[0] == x[3]


_ATOMICS = {
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "and": lambda a, b: a & b, "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b, "umin": min, "umax": max, "swap": lambda a, b: b,
    "inc": lambda a, b: 0 if a >= b else a + 1, "dec": lambda a, b: b if a == 0 or a > b else a - 1,
}  # fmt: skip


@pytest.mark.parametrize("name", _ATOMICS)
@pytest.mark.parametrize("wide", [False, True])
def test_atomic_operations(name, wide, rng):
    """Lanes go one after the other: each gets what the one before has left."""
    kind = np.uint64 if wide else np.uint32
    bits = 64 if wide else 32
    given = rng.integers(0, 1000, 64).astype(kind)
    register, value = ("v[2:3]", "v[4:5]") if wide else ("v2", "v4")
    load = "dwordx2" if wide else "dword"
    lines = (
        f"v_lshlrev_b32_e32 v1, {3 if wide else 2}, v0; v_mov_b32_e32 v7, 0; global_load_{load} {value}, v1, s[6:7]; "
        f"global_atomic_{name}{'_x2' if wide else ''} {register}, v7, {value}, s[8:9] sc0; "
        f"global_store_{load} v1, {register}, s[4:5]"
    )
    old, _, cell = launched(lines, np.zeros(64, kind), given, np.full(1, 500, kind))
    held, wanted = 500, []
    for one in given.tolist():
        wanted.append(held)
        held = _ATOMICS[name](held, one) % (1 << bits)
    np.testing.assert_array_equal(old, np.array(wanted, kind))
    assert cell[0] == held
    silent = lines.replace(f"{register}, v7", "v7").replace(" sc0", "")
    *_, cell = launched(silent, np.zeros(64, kind), given, np.full(1, 500, kind))
    assert cell[0] == held


def test_atomic_sums_of_floats(rng):
    for kind, name, load in ((np.float32, "add_f32", "dword"), (np.float64, "add_f64", "dwordx2")):
        x = rng.integers(-50, 50, 64).astype(kind)
        value = "v4" if load == "dword" else "v[4:5]"
        lines = f"v_lshlrev_b32_e32 v1, {x.itemsize.bit_length() - 1}, v0; v_mov_b32_e32 v7, 0; "
        lines += f"global_load_{load} {value}, v1, s[4:5]; global_atomic_{name} v7, {value}, s[6:7]"
        _, cell = launched(lines, x, np.zeros(1, kind))
        assert cell[0] == x.sum()
    x = rng.integers(-20, 20, 128).astype(np.float16)
    lines = "v_lshlrev_b32_e32 v1, 2, v0; v_mov_b32_e32 v7, 0; global_load_dword v4, v1, s[4:5]; "
    _, cell = launched(lines + "global_atomic_pk_add_f16 v7, v4, s[6:7]", x, np.zeros(2, np.float16))
    np.testing.assert_array_equal(cell, [x[::2].sum(), x[1::2].sum()])


def test_compare_and_exchange(rng):
    """Global memory takes the new value first, shared memory of the older chips what is compared."""
    lines = (
        "v_lshlrev_b32_e32 v1, 2, v0; v_mov_b32_e32 v4, 77; v_mov_b32_e32 v5, 3; "
        "global_atomic_cmpswap v2, v1, v[4:5], s[4:5] sc0; global_store_dword v1, v2, s[6:7]"
    )
    x = rng.integers(0, 6, 64).astype(np.uint32)
    new, old = launched(lines, x, np.zeros(64, np.uint32))
    np.testing.assert_array_equal(old, x)
    np.testing.assert_array_equal(new, np.where(x == 3, 77, x))
    for chip, name, operands in (("gfx942", "cmpst", "v5, v4"), ("gfx1100", "cmpstore", "v4, v5")):
        lines = (
            "v_lshlrev_b32_e32 v1, 2, v0; v_mov_b32_e32 v4, 77; v_mov_b32_e32 v5, 3; global_load_dword v6, v1, s[4:5]; "
            f"ds_write_b32 v1, v6; ds_{name}_rtn_b32 v2, v1, {operands}; ds_read_b32 v3, v1; "
            "global_store_dword v1, v2, s[6:7]; global_store_dword v1, v3, s[4:5]"
        )
        new, old = launched(lines, x, np.zeros(64, np.uint32), chip=chip, group_segment_fixed_size=256)
        np.testing.assert_array_equal(old, x)
        np.testing.assert_array_equal(new, np.where(x == 3, 77, x))


@over_chips
def test_shared_memory(chip, rng):
    """Every size, two at a time, and behind a barrier what another wave wrote."""
    x = rng.integers(0, 2**32, 256, dtype=np.uint64).astype(np.uint32)
    lines = (
        "v_lshlrev_b32_e32 v1, 2, v0; global_load_dword v2, v1, s[6:7]; ds_write_b32 v1, v2; s_barrier; "
        "v_xor_b32_e32 v3, 0xff, v0; v_lshlrev_b32_e32 v3, 2, v3; ds_read_b32 v4, v3; global_store_dword v1, v4, s[4:5]"
    )
    got, _ = launched(lines, np.zeros(256, np.uint32), x, chip=chip, group=256, group_segment_fixed_size=1024)
    np.testing.assert_array_equal(got, x[::-1])
    lines = (
        "v_lshlrev_b32_e32 v1, 4, v0; global_load_dwordx4 v[4:7], v1, s[6:7]; "
        "ds_write2_b64 v1, v[6:7], v[4:5] offset1:1; "
        "ds_read2_b32 v[8:9], v1 offset0:1 offset1:2; ds_read_b128 v[10:13], v1; v_mov_b32_e32 v10, v8; "
        "global_store_dwordx4 v1, v[10:13], s[4:5]"
    )
    got, _ = launched(lines, np.zeros(256, np.uint32), x, chip=chip, group=64, group_segment_fixed_size=1024)
    wanted = x.reshape(-1, 4)[:, [2, 3, 0, 1]]
    wanted[:, 0] = wanted[:, 1]
    np.testing.assert_array_equal(got, wanted.reshape(-1))
    lines = (
        "v_lshlrev_b32_e32 v1, 2, v0; global_load_dword v2, v1, s[6:7]; ds_write_b16 v1, v2 offset:2; "
        "ds_write_b8 v1, v2; "
        "ds_write_b8 v1, v2 offset:1; ds_read_u16 v4, v1; ds_read_i8 v5, v1 offset:3; v_lshl_or_b32 v4, v5, 16, v4; "
        "global_store_dword v1, v4, s[4:5]"
    )
    got, _ = launched(lines, np.zeros(64, np.uint32), x[:64], chip=chip, group_segment_fixed_size=256)
    byte = x[:64] & 255
    upper = ((x[:64] >> 8).astype(np.int8).astype(np.int32) << 16).view(np.uint32)
    np.testing.assert_array_equal(got, byte | byte << 8 | upper)


def test_loads_may_end_behind_shared_memory():
    """LLVM reads three bytes as four. What begins there is outside, and nothing may be written there."""
    begin = "v_mov_b32_e32 v1, 0; v_mov_b32_e32 v2, 7; s_mov_b64 exec, 1; ds_write_b16 v1, v2; "
    begin += "ds_write_b8 v1, v2 offset:2; "
    (got,) = launched(begin + "ds_read_b32 v3, v1; global_store_dword v1, v3, s[4:5]", np.zeros(1, np.uint32),
                      group_segment_fixed_size=3)  # fmt: skip
    assert got[0] & 0xFFFFFF == 7 | 7 << 16
    for line in ("ds_read_u8 v3, v1 offset:3", "ds_write_b32 v1, v2", "ds_add_u32 v1, v2"):
        with pytest.raises(OutOfBounds, match="of 3 of shared memory"):
            launched(begin + line, np.zeros(1, np.uint32), group_segment_fixed_size=3)


def test_shared_addresses_wrap():
    """The compiler adds an offset to a number below 0."""
    lines = (
        "v_lshlrev_b32_e32 v1, 2, v0; ds_write_b32 v1, v0; v_add_u32_e32 v2, 0xfffffff0, v1; "
        "ds_read_b32 v3, v2 offset:16; ds_read2_b32 v[4:5], v2 offset0:4 offset1:4; v_add_u32_e32 v3, v3, v5; "
        "global_store_dword v1, v3, s[4:5]"
    )
    (got,) = launched(lines, np.zeros(64, np.uint32), group_segment_fixed_size=256)
    np.testing.assert_array_equal(got, 2 * np.arange(64))


def test_atomic_operations_of_shared_memory(rng):
    x = rng.integers(0, 2**20, 128).astype(np.uint32)
    lines = (
        "v_lshlrev_b32_e32 v1, 2, v0; v_mov_b32_e32 v7, 0; v_mov_b32_e32 v8, 0; global_load_dword v2, v1, s[6:7]; "
        "v_cmp_eq_u32_e32 vcc, 0, v0; s_and_saveexec_b64 s[20:21], vcc; ds_write_b64 v7, v[7:8]; "
        "s_or_b64 exec, exec, s[20:21]; s_barrier; ds_add_u32 v7, v2; ds_max_rtn_u32 v3, v7, v2 offset:4; s_barrier; "
        "ds_read_b32 v4, v7; ds_read_b32 v5, v7 offset:4; v_xor_b32_e32 v4, v4, v5; global_store_dword v1, v4, s[4:5]"
    )
    got, _ = launched(lines, np.zeros(128, np.uint32), x, group=128, group_segment_fixed_size=8)
    np.testing.assert_array_equal(got, np.full(128, x.sum(dtype=np.uint32) ^ x.max()))


_ADDED_BY_EXCHANGE = (
    "v_mov_b32_e32 v7, 0; v_mov_b32_e32 v8, 0; v_cmp_eq_u32_e32 vcc, 0, v0; s_and_saveexec_b64 s[20:21], vcc; "
    "ds_write_b64 v7, v[7:8] offset:8; s_or_b64 exec, exec, s[20:21]; s_barrier; {load}; "
    "s_mov_b64 s[22:23], exec;.L_again:; v_add_u32_e32 v3, 1, v2; ds_cmpst_rtn_b32 v4, v7, v2, v3 offset:8; "
    "v_cmp_ne_u32_e32 vcc, v4, v2; v_mov_b32_e32 v2, v4; s_and_b64 exec, exec, vcc; "
    "s_cbranch_execnz .L_again; s_mov_b64 exec, s[22:23]; "
    "{after}; v_lshlrev_b32_e32 v1, 2, v0; ds_read_b32 v5, v7 offset:8; global_store_dword v1, v5, s[4:5]"
)


@pytest.mark.parametrize(
    "load", ["ds_read_b32 v2, v7 offset:8", "ds_read2_b32 v[2:3], v7 offset0:2 offset1:3"]
)
def test_loops_of_exchanges_are_atomic(load):
    """The load that begins one does not race with the exchanges of others; one behind it does."""
    out = np.zeros(128, np.uint32)
    lines = _ADDED_BY_EXCHANGE.format(load=load, after="s_barrier")
    (got,) = launched(lines, out, group=128, group_segment_fixed_size=16)
    np.testing.assert_array_equal(got, 128)
    with pytest.raises(DataRace):
        launched(
            _ADDED_BY_EXCHANGE.format(load=load, after="s_nop 0"), out, group=128, group_segment_fixed_size=16
        )


def test_private_memory(rng):
    """Each work-item has its own; by its own instructions, and as a buffer."""
    x = rng.integers(0, 2**32, 128, dtype=np.uint64).astype(np.uint32)
    scratch = (
        "v_lshlrev_b32_e32 v1, 2, v0; global_load_dword v2, v1, s[6:7]; s_mov_b32 s20, 8; "
        "scratch_store_dword off, v2, s20 offset:4; "
        "v_mov_b32_e32 v3, 12; scratch_load_dword v4, v3, off; global_store_dword v1, v4, s[4:5]"
    )
    got, _ = launched(scratch, np.zeros(128, np.uint32), x, group=128, private_segment_fixed_size=16)
    np.testing.assert_array_equal(got, x)
    buffer = scratch.replace(
        "scratch_store_dword off, v2, s20 offset:4", "buffer_store_dword v2, off, s[8:11], s20 offset:4"
    )
    buffer = buffer.replace("scratch_load_dword v4, v3, off", "buffer_load_dword v4, v3, s[8:11], 0 offen")
    buffer = "s_mov_b32 s8, 0; s_mov_b32 s9, 0x20000; " + buffer  # what a kernel that asks for it begins with
    got, _ = launched(buffer, np.zeros(128, np.uint32), x, group=128, private_segment_fixed_size=16)
    np.testing.assert_array_equal(got, x)
    with pytest.raises(OutOfBounds, match="private memory"):
        launched(
            buffer.replace("0x20000", "0x10000"),
            np.zeros(64, np.uint32),
            x[:64],
            private_segment_fixed_size=16,
        )
    with pytest.raises(OutOfBounds, match="byte 12 of 0 of private memory"):
        launched(scratch, np.zeros(128, np.uint32), x, group=128)


def test_flat_addresses(rng):
    """Windows of shared and private memory, and global memory."""
    x = rng.integers(0, 2**32, 64, dtype=np.uint64).astype(np.uint32)
    lines = (
        "v_lshlrev_b32_e32 v1, 2, v0; v_mov_b32_e32 v2, s6; v_mov_b32_e32 v3, s7; v_mov_b32_e32 v9, 0; "
        "v_mov_b32_e32 v8, v1; "
        "v_lshl_add_u64 v[2:3], v[2:3], 0, v[8:9]; flat_load_dword v4, v[2:3]; "
        "s_mov_b64 s[20:21], src_shared_base; v_mov_b32_e32 v6, v1; v_mov_b32_e32 v7, s21; "
        "flat_store_dword v[6:7], v4; "
        "ds_read_b32 v5, v1; s_mov_b64 s[20:21], src_private_base; v_mov_b32_e32 v10, 4; v_mov_b32_e32 v11, s21; "
        "flat_store_dword v[10:11], v5; scratch_load_dword v12, off, off offset:4; global_store_dword v1, v12, s[4:5]"
    )
    got, _ = launched(
        lines, np.zeros(64, np.uint32), x, group_segment_fixed_size=256, private_segment_fixed_size=8
    )
    np.testing.assert_array_equal(got, x)


def test_constants_beside_the_code(rng):
    lines = [
        "s_load_dwordx2 s[4:5], s[0:1], 0x0", "s_getpc_b64 s[6:7]", "s_add_u32 s6, s6, table@rel32@lo+4",
        "s_addc_u32 s7, s7, table@rel32@hi+12", "v_lshlrev_b32_e32 v1, 2, v0", "global_load_dword v2, v1, s[6:7]",
        "global_store_dword v1, v2, s[4:5]",
    ]  # fmt: skip
    table = rng.integers(0, 2**32, 64, dtype=np.uint64)
    text = text_of("gfx942", lines).replace(
        "\t.amdhsa_kernel",
        "\t.p2align 4\ntable:\n" + "\n".join(f"\t.long {n}" for n in table) + "\n\t.amdhsa_kernel",
    )
    memory = DeviceMemory(1 << 20)
    address = memory.allocate(256)
    run(text, memory, 1, 64, [address])
    np.testing.assert_array_equal(fetched(address, np.zeros(64, np.uint32)), table.astype(np.uint32))


# -- what is found wrong -------------------------------------------------------------------------------------

_OUTSIDE = "v_lshlrev_b32_e32 v1, 2, v0; v_mov_b32_e32 v2, 0; "


@pytest.mark.parametrize(("lines", "error", "text"), [
    (_OUTSIDE + "global_load_dword v2, v1, s[4:5] offset:4", OutOfBounds,
     r"work-item \(63, 0, 0\).*0 bytes behind the end"),
    (_OUTSIDE + "global_store_dwordx2 v1, v[2:3], s[4:5]", OutOfBounds, r"outside of memory: global_store_dwordx2"),
    ("s_load_dword s20, s[4:5], 0x100", OutOfBounds, "s_load_dword"),
    (_OUTSIDE + "global_atomic_add v1, v2, s[4:5] offset:2", DeviceError, "an address that its type must not have"),
    ("v_mov_b32_e32 v2, s0; v_mov_b32_e32 v3, s1; global_store_dword v[2:3], v0, off", DeviceError,
     "memory that is only read"),
    (_OUTSIDE + "ds_read_b32 v2, v1", DeviceError, "a read of shared memory that no work-item of the group has"),
    (_OUTSIDE + "ds_write_b32 v1, v2 offset:4", OutOfBounds, "ds_write_b32.*at byte 256 of 256 of shared memory"),
    ("v_mov_b32_e32 v1, 0; ds_write_b32 v1, v0", DataRace, r"by work-item \(1, 0, 0\).*with work-item number 0"),
    ("s_trap 2", DeviceError, "the kernel gave up"),
    ("v_cmp_gt_u32_e32 vcc, 64, v0; s_cbranch_vccz .L_b; s_barrier; s_branch .L_e;.L_b:;s_barrier;.L_e:;s_nop 0",
     DeviceError, "wait for one another at different places"),
])  # fmt: skip
def test_faults(lines, error, text):
    with pytest.raises(error, match=text):
        launched(
            lines, np.zeros(64, np.uint32), group=128 if "L_b" in lines else 64, group_segment_fixed_size=256
        )


def test_a_barrier_of_one_wave():
    """LLVM leaves out the barrier of a group that is one wave, and says so in a comment."""
    write = ["s_load_dwordx2 s[4:5], s[0:1], 0x0", "v_lshlrev_b32_e32 v1, 2, v0", "ds_write_b32 v1, v0"]
    read = ["v_xor_b32_e32 v2, 0xfc, v1", "ds_read_b32 v3, v2", "global_store_dword v1, v3, s[4:5]"]
    memory = DeviceMemory(1 << 20)
    address = memory.allocate(256)
    with pytest.raises(DataRace):
        run(text_of("gfx942", write + read, group_segment_fixed_size=256), memory, 1, 64, [address])
    text = text_of("gfx942", [*write, "; wave barrier", *read], group_segment_fixed_size=256)
    run(text, memory, 1, 64, [address])
    np.testing.assert_array_equal(fetched(address, np.zeros(64, np.uint32)), np.arange(64)[::-1])


def test_the_first_register_of_each_work_item():
    """Its numbers in the group, as many as the kernel asks for."""
    lines = [
        "s_load_dwordx2 s[4:5], s[0:1], 0x0",
        "v_and_b32_e32 v1, 0x3ff, v0",
        "v_bfe_u32 v2, v0, 10, 10",
        "v_bfe_u32 v3, v0, 20, 10",
        "v_lshl_add_u32 v4, v2, 2, v1",
        "v_lshl_add_u32 v4, v3, 4, v4",
        "v_lshlrev_b32_e32 v4, 2, v4",
        "global_store_dword v4, v0, s[4:5]",
    ]
    memory = DeviceMemory(1 << 20)
    address = memory.allocate(128)
    loaded = LoadedAssembly(text_of("gfx1100", lines, system_vgpr_workitem_id=2), memory)
    loaded.program("f").launch((1, 1, 1), (4, 4, 2), 0, address.to_bytes(8, "little"))
    got = fetched(address, np.zeros(32, np.uint32))
    number = np.arange(32)
    np.testing.assert_array_equal(got, number % 4 | number // 4 % 4 << 10 | number // 16 << 20)
