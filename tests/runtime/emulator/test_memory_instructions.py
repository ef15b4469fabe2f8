"""Loads, stores and atomic operations of the emulator, and what it finds wrong in them."""

from __future__ import annotations

import numpy as np
import pytest

from pykern.errors import DeviceError, OutOfBounds
from pykern.runtime.emulator.device_memory import RED, DeviceMemory, NoRoom
from tests.runtime.emulator.ptx_kernels import COMBINE, GROUP, HEAD, computed, fetched, integers, place, run

KERNEL = (
    HEAD
    + ".visible .entry f(.param .u64 p0, .param .u64 p1)\n{\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n.reg .b16 %h<9>;\n"
)
BEGIN = "ld.param.u64 %rd1, [p0];\nld.param.u64 %rd2, [p1];\nmov.u32 %r1, %tid.x;\n"


def launch(
    lines: str, first: np.ndarray, second: np.ndarray, threads: int = GROUP
) -> tuple[np.ndarray, np.ndarray]:
    """Both arrays as a kernel leaves them, whose addresses are in %rd1 and %rd2."""
    memory = DeviceMemory(1 << 22)
    arrays = [first, second]
    addresses = [memory.allocate(array.nbytes) for array in arrays]
    for address, array in zip(addresses, arrays, strict=True):
        place(address, array)
    text = KERNEL + BEGIN + lines.replace("; ", ";\n") + "\nret;\n}\n"
    run(text, memory, (1, 1, 1), (threads, 1, 1), addresses)
    return fetched(addresses[0], first), fetched(addresses[1], second)


@pytest.mark.parametrize(
    ("kind", "dtype"), [("s8", np.int8), ("u8", np.uint8), ("s16", np.int16), ("u16", np.uint16)]
)
def test_short_loads_are_extended(kind, dtype, rng):
    x = integers(rng, dtype)[:GROUP]
    lines = f"cvt.u64.u32 %rd3, %r1; mul.lo.u64 %rd4, %rd3, {x.itemsize}; add.s64 %rd5, %rd2, %rd4;"
    lines += f" ld.global.{kind} %r2, [%rd5]; mad.lo.u64 %rd6, %rd3, 4, %rd1; st.global.b32 [%rd6], %r2;"
    got, _ = launch(lines, np.zeros(GROUP, np.int32), x)
    np.testing.assert_array_equal(got, x)


def test_vectors(rng):
    x = rng.random(4 * GROUP, dtype=np.float32)
    lines = (
        "mul.wide.u32 %rd3, %r1, 16; add.s64 %rd4, %rd2, %rd3; ld.global.v4.b32 {%r2, %r3, %r4, %r5}, [%rd4];"
    )
    lines += " add.s64 %rd5, %rd1, %rd3; st.global.v4.b32 [%rd5], {%r5, %r4, %r3, %r2};"
    got, _ = launch(lines, np.zeros_like(x), x)
    np.testing.assert_array_equal(got.reshape(-1, 4), x.reshape(-1, 4)[:, ::-1])


@pytest.mark.parametrize("kind", ["u32", "s32", "u64", "s64"])
@pytest.mark.parametrize("name", ["add", "min", "max", "and", "or", "xor", "exch"])
def test_atomic_operations(name, kind, rng):
    dtype = np.dtype(f"{'i' if kind[0] == 's' else 'u'}{int(kind[1:]) // 8}")
    x = integers(rng, dtype)[300 : 300 + GROUP]
    register = "%r2" if dtype.itemsize == 4 else "%rd6"
    form = f"b{kind[1:]}" if name in ("and", "or", "xor", "exch") else kind
    lines = f"mul.wide.u32 %rd3, %r1, {dtype.itemsize}; add.s64 %rd4, %rd2, %rd3; "
    lines += (
        f"ld.global.b{kind[1:]} {register}, [%rd4]; atom.global.{name}.{form} {register}, [%rd1], {register};"
    )
    start = x[:1] * 0 + 5
    got, _ = launch(lines, start, x)
    with np.errstate(over="ignore"):
        assert got[0] == (
            x[-1] if name == "exch" else COMBINE[name].reduce(np.concatenate([start, x]), dtype=dtype)
        )


@pytest.mark.parametrize(
    ("kind", "dtype"), [("f32", np.float32), ("f64", np.float64), ("noftz.f16", np.float16)]
)
def test_atomic_sums_of_floats(kind, dtype):
    register = {2: "%h1", 4: "%r2", 8: "%rd6"}[np.dtype(dtype).itemsize]
    size = np.dtype(dtype).itemsize
    lines = (
        f"mul.wide.u32 %rd3, %r1, {size}; add.s64 %rd4, %rd2, %rd3; ld.global.b{8 * size} {register}, [%rd4];"
    )
    got, _ = launch(
        lines + f" red.global.add.{kind} [%rd1], {register};",
        np.array([0.5], dtype),
        np.arange(GROUP).astype(dtype),
    )
    assert got[0] == 0.5 + np.arange(GROUP).sum()


def test_compare_and_exchange():
    lines = "atom.global.cas.b32 %r2, [%rd1], %r1, 7; atom.global.inc.u32 %r3, [%rd2], 9;"
    got, counted = launch(lines, np.zeros(1, np.uint32), np.zeros(1, np.uint32))
    assert (got[0], counted[0]) == (7, GROUP % 10)


def test_constants_and_own_memory():
    table = ".global .align 4 .b32 table[4] = {3, 1, 4, 1};\n"
    lines = "and.b32 %t3, {1}, 3; mul.wide.u32 %a2, %t3, 4; mov.u64 %a3, table; add.s64 %a3, %a3, %a2; "
    lines += "ld.global.b32 {0}, [%a3];"
    x = np.arange(64, dtype=np.uint32)
    np.testing.assert_array_equal(
        computed(lines, x, out=np.uint32, declared=table), np.array([3, 1, 4, 1])[x & 3]
    )
    with pytest.raises(DeviceError, match="only read"):
        computed(lines + " st.global.b32 [%a3], 0;", x, out=np.uint32, declared=table)
    depot = ".local .align 8 .b8 depot[8];\n"
    lines = "mov.u64 %a2, depot; cvta.local.u64 %a3, %a2; st.b32 [%a3+4], {1}; bar.sync 0; ld.local.b32 {0}, [%a2+4];"
    np.testing.assert_array_equal(computed(lines, x, out=np.uint32, declared=depot), x)
    with pytest.raises(OutOfBounds):
        computed(lines.replace("a2+4", "a2+16"), x, out=np.uint32, declared=depot)


@pytest.mark.parametrize(
    ("lines", "error", "text"),
    [
        (
            "ld.global.b32 %r2, [%rd1+128];",
            OutOfBounds,
            "0 bytes behind the end of an allocation of 128 bytes",
        ),
        (
            "ld.global.b32 %r2, [%rd1+-4];",
            OutOfBounds,
            "4 bytes before the begin of an allocation of 128 bytes",
        ),
        ("st.global.b64 [%rd1+124], %rd1;", OutOfBounds, "of 128 bytes, at byte 124"),
        ("ld.global.b32 %r2, [%rd1+2];", DeviceError, "an address that its type must not have"),
        ("st.global.b32 [0], %r1;", OutOfBounds, "far from any allocation"),
        ("trap;", DeviceError, "gave up"),
    ],
)
def test_wrong_accesses(lines, error, text):
    with pytest.raises(error, match=text):
        launch(lines, np.zeros(32, np.int32), np.zeros(32, np.int32))


def test_shared_arrays_do_not_touch():
    declared = ".shared .align 4 .b8 one[128];\n.shared .align 4 .b8 two[128];\n"
    lines = "shl.b32 %t3, %t1, 2; mov.u32 %t4, one; add.u32 %t5, %t4, %t3; st.shared.b32 [%t5+4], {1}; mov.b32 {0}, 0;"
    with pytest.raises(OutOfBounds, match="of shared memory"):
        computed(lines, np.zeros(32, np.uint32), out=np.uint32, declared=declared)


def test_words_at_the_end_of_short_arrays():
    """Atomic operations on bytes read and exchange their word; others do not reach behind the array."""
    short = np.zeros(5, np.uint8)
    launch("ld.global.b32 %r2, [%rd1+4]; atom.global.cas.b32 %r2, [%rd1+4], %r2, %r2;", short, short)
    for lines in ("ld.global.b8 %h1, [%rd1+5];", "st.global.b32 [%rd1+4], %r1;"):
        with pytest.raises(OutOfBounds):
            launch(lines, short, short)


def test_vectors_of_three():
    """LLVM reads four where three are wanted; a vector must begin in the array, and others are not read so far."""
    three = np.zeros(3, np.float32)
    launch("ld.global.v4.b32 {%r2, %r3, %r4, %r5}, [%rd1];", three, three)
    for lines in ("ld.global.v4.b32 {%r2, %r3, %r4, %r5}, [%rd1+16];", "ld.global.b32 %r2, [%rd1+12];"):
        with pytest.raises(OutOfBounds):
            launch(lines, three, three)
    with pytest.raises(OutOfBounds):
        launch("st.global.v4.b32 [%rd1], {%r2, %r3, %r4, %r5};", three, three)


def test_freed_memory_is_nobodys_and_is_given_out_at_last():
    memory = DeviceMemory(8 * RED)
    first = memory.allocate(100)
    memory.free(first)
    assert "far" in memory.described(first)
    others = [memory.allocate(100) for _ in range(6)]
    with pytest.raises(NoRoom):
        memory.allocate(100)
    assert others[-1] == first and first not in others[:-1]
    with pytest.raises(KeyError):
        memory.free(first + 1)
