"""Shuffles, votes, reductions, barriers, calls and jumps of the emulator, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from pykern.errors import DataRace, DeviceError
from tests.runtime.emulator.ptx_kernels import COMBINE, computed, integers


def shuffled(way: str, values: np.ndarray, by: int, clamp: int) -> np.ndarray:
    """PTX ISA, shfl.sync."""
    found = values.reshape(-1, 32).copy()
    segment, limit = clamp >> 8 & 31, clamp & 31
    for lane in range(32):
        last = lane & segment | limit & ~segment
        source = {
            "up": lane - by,
            "down": lane + by,
            "bfly": lane ^ by,
            "idx": lane & segment | by & ~segment & 31,
        }[way]
        inside = source >= last if way == "up" else source <= last
        found[:, lane] = values.reshape(-1, 32)[:, source if inside else lane]
    return found.ravel()


@pytest.mark.parametrize(
    ("way", "clamp"), [("up", 0), ("down", 31), ("bfly", 31), ("idx", 31), ("up", 0x1800), ("idx", 0x181F)]
)
@pytest.mark.parametrize("by", [1, 3, 8, 16, 31])
def test_shuffles(way, clamp, by, rng):
    x = rng.integers(0, 2**32, 128, dtype=np.uint32)
    got = computed(f"shfl.sync.{way}.b32 {{0}}, {{1}}, {by}, {clamp}, -1;", x, out=np.uint32)
    np.testing.assert_array_equal(got, shuffled(way, x, by, clamp))


def test_a_shuffle_tells_whether_it_took(rng):
    x = rng.integers(0, 100, 32, dtype=np.uint32)
    got = computed("shfl.sync.down.b32 %t5|%p1, {1}, 4, 31, -1; selp.b32 {0}, 1, 0, %p1;", x, out=np.uint32)
    np.testing.assert_array_equal(got, [1] * 28 + [0] * 4)


@pytest.mark.parametrize("way", ["add", "min", "max", "and", "or", "xor"])
def test_reductions(way, rng):
    x = integers(rng, np.int32)
    kind = "b32" if way in ("and", "or", "xor") else "s32"
    want = np.repeat(COMBINE[way].reduce(x.reshape(-1, 32), axis=1, dtype=np.int32), 32)
    np.testing.assert_array_equal(
        computed(f"redux.sync.{way}.{kind} {{0}}, {{1}}, -1;", x, out=np.int32), want
    )


def test_votes(rng):
    x = rng.integers(0, 2, 128, dtype=np.uint32)
    x[:32], x[32:64] = 1, 0
    rows = x.reshape(-1, 32)
    votes = {"all": rows.all(1), "any": rows.any(1), "uni": rows.all(1) | ~rows.any(1)}
    for way, want in votes.items():
        lines = f"setp.ne.b32 %p1, {{1}}, 0; vote.sync.{way}.pred %p2, %p1, -1; selp.b32 {{0}}, 1, 0, %p2;"
        np.testing.assert_array_equal(computed(lines, x, out=np.uint32), np.repeat(want, 32))
    got = computed("setp.ne.b32 %p1, {1}, 0; vote.sync.ballot.b32 {0}, %p1, -1;", x, out=np.uint32)
    np.testing.assert_array_equal(
        got, np.repeat(np.packbits(rows.astype(np.uint8), bitorder="little").view(np.uint32), 32)
    )


def test_a_block_without_all_lanes_reduces_those_it_has(rng):
    x = rng.integers(0, 100, 20, dtype=np.int32)
    got = computed("redux.sync.add.s32 {0}, {1}, -1;", x, out=np.int32, group=20)
    np.testing.assert_array_equal(got, np.full(20, x.sum()))


SHARED = ".shared .align 4 .b8 held[256];\n"
REVERSE = """
shl.b32 %t3, %t1, 2; mov.u32 %t4, held; add.u32 %t5, %t4, %t3; st.shared.b32 [%t5], {1};
BARRIER
sub.u32 %t6, 63, %t1; shl.b32 %t6, %t6, 2; add.u32 %t6, %t4, %t6; ld.shared.b32 {0}, [%t6];
"""


def reversed_with(barrier: str, x: np.ndarray) -> np.ndarray:
    return computed(REVERSE.replace("BARRIER", barrier), x, out=np.uint32, group=64, declared=SHARED)


def test_a_barrier_orders_what_a_block_shares(rng):
    x = rng.integers(0, 2**32, 256, dtype=np.uint32)
    np.testing.assert_array_equal(reversed_with("bar.sync 0;", x), x.reshape(-1, 64)[:, ::-1].ravel())


def test_without_the_barrier_it_is_found(rng):
    with pytest.raises(DeviceError, match="no work-item of the group has written"):
        reversed_with("", rng.integers(0, 2**32, 64, dtype=np.uint32))


def test_a_race_is_found(rng):
    """Everything was written once, so only the second writes race with the reads."""
    again = "bar.sync 0; add.u32 {1}, {1}, 1; st.shared.b32 [%t5], {1};"
    with pytest.raises(DataRace, match="with no barrier between them"):
        reversed_with(again, rng.integers(0, 2**32, 64, dtype=np.uint32))


def test_two_writes_race():
    with pytest.raises(DataRace):
        computed(
            "mov.u32 %t4, held; st.shared.b32 [%t4], {1}; mov.b32 {0}, 0;",
            np.arange(32, dtype=np.uint32),
            out=np.uint32,
            declared=SHARED,
        )


def test_atomic_operations_do_not_race():
    lines = """
    mov.u32 %t4, held; setp.ne.b32 %p1, %t1, 0; @%p1 bra BEHIND; st.shared.b32 [%t4], 5;
    BEHIND:
    bar.sync 0; atom.shared.add.u32 %t5, [%t4], {1}; bar.sync 0; ld.shared.b32 {0}, [%t4];
    """
    x = np.arange(32, dtype=np.uint32)
    assert (computed(lines, x, out=np.uint32, declared=SHARED) == 5 + x.sum()).all()


def test_different_barriers_are_found():
    lines = """
    setp.lt.u32 %p1, %t1, 32; @%p1 bra FIRST; bar.sync 0; bra.uni BEHIND;
    FIRST:
    bar.sync 0;
    BEHIND:
    mov.b32 {0}, 0;
    """
    with pytest.raises(DeviceError, match="wait for one another at different places"):
        computed(lines, np.zeros(64, np.uint32), out=np.uint32, group=64)


def test_lanes_that_have_gone_bring_nothing():
    lines = "mov.b32 {0}, 0; setp.gt.u32 %p1, %t1, 15; @%p1 ret; shfl.sync.bfly.b32 {0}, {1}, 16, 31, -1;"
    with pytest.raises(DeviceError, match="a work-item that brings none"):
        computed(lines, np.zeros(32, np.uint32), out=np.uint32)


def test_registers_live_through_waits_in_loops(rng):
    lines = """
    mov.b32 {0}, {1}; mov.u32 %t3, 1;
    AGAIN:
    shfl.sync.bfly.b32 %t4, {0}, %t3, 31, -1; add.u32 {0}, {0}, %t4; shl.b32 %t3, %t3, 1;
    setp.lt.u32 %p1, %t3, 32; @%p1 bra AGAIN;
    """
    x = rng.integers(0, 1000, 96, dtype=np.uint32)
    np.testing.assert_array_equal(computed(lines, x, out=np.uint32), np.repeat(x.reshape(-1, 32).sum(1), 32))


def test_functions_are_called(rng):
    declared = """
.func (.param .b32 result) twice(
    .param .b32 twice_param_0
)
{
    .reg .b32 %r<3>;
    ld.param.b32 %r1, [twice_param_0];
    add.u32 %r2, %r1, %r1;
    st.param.b32 [result], %r2;
    ret;
}
"""
    lines = """
    {{ .param .b32 param0; .param .b32 retval0; st.param.b32 [param0], {1};
    call.uni (retval0), twice, (param0);
    ld.param.b32 {0}, [retval0];
    }}
    """
    x = rng.integers(0, 1000, 64, dtype=np.uint32)
    np.testing.assert_array_equal(computed(lines, x, out=np.uint32, declared=declared), 2 * x)


def test_tables_of_jumps():
    lines = """
    and.b32 %t3, {1}, 3;
    $L_table: .branchtargets CASE0, CASE1, CASE2, CASE2;
    brx.idx %t3, $L_table;
    CASE0:
    mov.b32 {0}, 10; bra.uni BEHIND;
    CASE1:
    mov.b32 {0}, 11; bra.uni BEHIND;
    CASE2:
    mov.b32 {0}, 12;
    BEHIND:
    """
    x = np.arange(32, dtype=np.uint32)
    np.testing.assert_array_equal(computed(lines, x, out=np.uint32), np.array([10, 11, 12, 12])[x & 3])


@pytest.mark.parametrize(
    "text",
    [
        "foo.b32 {0}, {1};",
        "add.strange.s32 {0}, {1}, {1};",
        "barrier.cluster.arrive;",
        "mbarrier.complete_tx.shared.b64 [{1}], 16;",
        "wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 {{{0}, {0}}}, {1}, {1}, 1, 1, 1, 0, 0;",
        "shfl.up.b32 {0}, {1}, 1, 0;",
    ],
)
def test_what_is_unknown_is_an_error(text):
    with pytest.raises(DeviceError, match="the emulator does not know"):
        computed(text, np.zeros(32, np.uint32), out=np.uint32)
