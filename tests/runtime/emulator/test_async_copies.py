"""`cp.async` of the emulator: bytes that are not read are zeros, both ends are checked, and that neighbours wait."""

from __future__ import annotations

import numpy as np
import pytest

from pykern.errors import DeviceError, OutOfBounds
from pykern.lowering.nvvm.ptxas import assemble, ptxas
from pykern.runtime.emulator.device_memory import DeviceMemory
from tests.runtime.emulator.ptx_kernels import HEAD, fetched, place, run


def text(size, read="", barrier="bar.sync 0;", mode="ca", neighbour=0, off=0):
    """Each of 32 threads copies `size` bytes, and writes back what the one `neighbour` further has copied."""
    words = "\n".join(
        f"ld.shared.b32 %r4, [%r3+{4 * n}];\nst.global.b32 [%rd5+{4 * n}], %r4;" for n in range(size // 4)
    )
    return f"""{HEAD}
.file 1 "rows.py"
.shared .align 16 .b8 held[512];
.visible .entry f(.param .u64 p0, .param .u64 p1, .param .u64 p2)
{{
.reg .b32 %r<8>;
.reg .b64 %rd<8>;
mov.u32 %r0, %tid.x;
ld.param.u64 %rd0, [p0];
ld.param.u64 %rd1, [p1];
ld.param.u64 %rd2, [p2];
mov.u32 %r1, held;
mad.wide.u32 %rd4, %r0, {size}, %rd1;
mad.wide.u32 %rd5, %r0, {size}, %rd0;
mad.wide.u32 %rd6, %r0, 4, %rd2;
ld.global.b32 %r5, [%rd6];
mad.lo.u32 %r2, %r0, {size}, %r1;
add.u32 %r3, %r0, {neighbour};
and.b32 %r3, %r3, 31;
mad.lo.u32 %r3, %r3, {size}, %r1;
.loc 1 5 2
cp.async.{mode}.shared.global [%r2], [%rd4+{off}], {size}{read};
cp.async.commit_group;
cp.async.wait_group 0;
{barrier}
{words}
ret;
}}
"""


def copied(source, data, counts):
    memory = DeviceMemory(1 << 22)
    arrays = [np.zeros_like(data), data, counts]
    addresses = [memory.allocate(array.nbytes) for array in arrays]
    for address, array in zip(addresses, arrays, strict=True):
        place(address, array)
    run(source, memory, (1, 1, 1), (32, 1, 1), addresses)
    return fetched(addresses[0], data)


FORMS = [(4, "ca"), (8, "ca"), (16, "ca"), (16, "cg")]


@pytest.mark.parametrize(("size", "mode"), FORMS)
@pytest.mark.parametrize("partly", [False, True])
def test_bytes_that_are_not_read_are_zeros(rng, size, mode, partly):
    data = rng.integers(1, 255, (32, size)).astype(np.uint8)
    counts = rng.integers(0, size + 1, 32).astype(np.int32)
    source = text(size, ", %r5" if partly else "", mode=mode, neighbour=7)
    have = copied(source, data, counts)
    if partly:
        data[np.arange(size) >= counts[:, None]] = 0
    np.testing.assert_array_equal(have, np.roll(data, -7, axis=0))


@pytest.mark.skipif(ptxas() is None, reason="there is no ptxas")
@pytest.mark.parametrize(("size", "mode"), FORMS)
def test_the_assembler_takes_it(size, mode):
    assemble(text(size, ", %r5", mode=mode), "sm_90a")


def test_neighbours_wait_at_a_barrier():
    with pytest.raises(DeviceError, match="no work-item of the group has written"):
        copied(text(16, barrier="", neighbour=31), np.ones((32, 16), np.uint8), np.zeros(32, np.int32))


def test_what_is_not_read_may_lie_anywhere():
    data, none = np.ones((32, 16), np.uint8), np.zeros(32, np.int32)
    assert not copied(text(16, ", %r5", off=1 << 20), data, none).any()
    with pytest.raises(OutOfBounds):
        copied(text(16, off=1 << 20), data, none)
    with pytest.raises(DeviceError, match="that its type must not have"):
        copied(text(16, off=4), data, none)
