"""Copies of boxes of tensors (TMA) of the emulator: ranks, swizzles, edges, both ways, maps that a driver refuses."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from pykern.errors import DeviceError, OutOfBounds
from pykern.lowering.nvvm.ptxas import assemble, ptxas
from pykern.runtime.emulator.bindings import Bindings, Result
from pykern.runtime.emulator.device_memory import DeviceMemory
from pykern.runtime.emulator.tensor_maps import TensorMap
from tests.runtime.emulator.hopper_kernels import CHUNK, chunk_at, launched
from tests.runtime.emulator.ptx_kernels import HEAD, fetched, place


def text(
    rank: int, nbytes: int, corner: tuple[int, ...], back: tuple[int, ...] | None, meanwhile: str = ""
) -> str:
    """One thread copies a box to shared memory; all write that back as it lies, or one copies it to another corner,
    and does something `meanwhile`."""
    at, to = (", ".join(map(str, c)) for c in (corner, back or corner))
    copy_back = f"""cp.async.bulk.tensor.{rank}d.global.shared::cta.bulk_group [%rd1, {{{to}}}], [%r1];
cp.async.bulk.commit_group;
{meanwhile}
cp.async.bulk.wait_group.read 0;
ret;"""
    write_back = f"""mov.u32 %r4, %r0;
$more:
setp.ge.u32 %p2, %r4, {nbytes // 4};
@%p2 bra $end;
shl.b32 %r5, %r4, 2;
add.u32 %r6, %r1, %r5;
ld.shared.b32 %r7, [%r6];
cvt.u64.u32 %rd3, %r5;
add.s64 %rd3, %rd2, %rd3;
st.global.b32 [%rd3], %r7;
add.u32 %r4, %r4, 32;
bra $more;
$end:
ret;"""
    return f"""{HEAD}
.shared .align 1024 .b8 held[{nbytes}];
.shared .align 8 .b8 ready[8];
.visible .entry f(.param .align 64 .b8 from[128], .param .align 64 .b8 to[128], .param .u64 out)
{{
.reg .b32 %r<8>;
.reg .b64 %rd<4>;
.reg .pred %p<4>;
mov.b64 %rd0, from;
mov.b64 %rd1, to;
ld.param.u64 %rd2, [out];
mov.u32 %r0, %tid.x;
mov.u32 %r1, held;
mov.u32 %r2, ready;
setp.ne.u32 %p0, %r0, 0;
@%p0 bra $ready;
mbarrier.init.shared::cta.b64 [%r2], 1;
mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], {nbytes};
cp.async.bulk.tensor.{rank}d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd0, {{{at}}}], [%r2];
$ready:
bar.sync 0;
$wait:
mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r2], 0;
@!%p1 bra $wait;
{"@%p0 bra $left;" if back else ""}
{copy_back if back else write_back}
{"$left:" if back else ""}
{"ret;" if back else ""}
}}
"""


class Sample:
    def __init__(self, rng, shape, box, kind=np.float32, swizzle=0):
        self.data = rng.integers(0, 255, shape).astype(kind)
        self.box, self.swizzle = box, swizzle
        self.memory = DeviceMemory(1 << 22)
        self.nbytes = int(np.prod(box)) * self.data.itemsize
        self.addresses = [self.memory.allocate(n) for n in (self.data.nbytes, self.data.nbytes, self.nbytes)]
        place(self.addresses[0], self.data.view(np.uint8).ravel())
        self.maps = [self.map_of(address) for address in self.addresses[:2]]

    def map_of(self, address):
        strides = tuple(reversed(self.data.strides[:-1]))
        made = TensorMap(
            address, self.data.itemsize, self.swizzle, self.data.shape[::-1], strides, self.box[::-1]
        )
        made.check()
        return made

    def run(self, corner, back=None, meanwhile="", changed=("", "")):
        source = text(self.data.ndim, self.nbytes, corner[::-1], back and back[::-1], meanwhile).replace(
            *changed
        )
        words = b"".join(m.encoded() for m in self.maps) + self.addresses[2].to_bytes(8, "little")
        launched(source, words, self.memory, 32)
        if back is not None:
            found = fetched(self.addresses[1], self.data.view(np.uint8).ravel())
            return found.view(self.data.dtype).reshape(self.data.shape)
        return fetched(self.addresses[2], np.zeros(self.nbytes, np.uint8))

    def wanted(self, corner):
        """The box, with zeros for what is outside."""
        found = np.zeros(self.box, self.data.dtype)
        for at in itertools.product(*map(range, self.box)):
            there = tuple(c + n for c, n in zip(corner, at, strict=True))
            if all(0 <= n < length for n, length in zip(there, self.data.shape, strict=True)):
                found[at] = self.data[there]
        return found


@pytest.mark.parametrize("rank", range(1, 6))
def test_ranks_and_edges(rank, rng):
    shape, box = (3, 5, 4, 7, 20)[-rank:], (2, 2, 3, 3, 8)[-rank:]
    for corner in (
        (0,) * rank,
        (1,) * rank,
        (-1,) * rank,
        tuple(n - 1 for n in shape),
        (2,) * (rank - 1) + (16,),
    ):
        sample = Sample(rng, shape, box)
        have = sample.run(corner).view(np.float32).reshape(box)
        np.testing.assert_array_equal(have, sample.wanted(corner))


@pytest.mark.parametrize("width", [32, 64, 128])
@pytest.mark.parametrize("kind", [np.uint8, np.float16, np.float32])
def test_swizzles(width, kind, rng):
    row = width // np.dtype(kind).itemsize
    sample = Sample(rng, (40, 2 * row), (24, row), kind, width)
    have = sample.run((20, row // 2)).reshape(24, width // CHUNK, CHUNK)
    plain = sample.wanted((20, row // 2)).view(np.uint8).reshape(24, width // CHUNK, CHUNK)
    for line, chunk in itertools.product(range(24), range(width // CHUNK)):
        np.testing.assert_array_equal(have[line, chunk_at(line, chunk, width)], plain[line, chunk])


@pytest.mark.parametrize("width", [0, 128])
def test_back(width, rng):
    sample = Sample(rng, (40, 64), (16, 32), np.float32, width)
    for corner, back in (((3, 7), (20, 5)), ((0, 0), (35, 40)), ((4, 4), (-3, -5))):
        place(sample.addresses[1], np.zeros(sample.data.nbytes, np.uint8))
        have = sample.run(corner, back)
        want, box = np.zeros_like(sample.data), sample.wanted(corner)
        for at in itertools.product(*map(range, sample.box)):
            there = tuple(b + n for b, n in zip(back, at, strict=True))
            if all(0 <= n < length for n, length in zip(there, sample.data.shape, strict=True)):
                want[there] = box[at]
        np.testing.assert_array_equal(have, want)


UNWAITED = "which was not waited for, may still use"


def test_what_a_copy_reads_is_not_written_before_its_wait(rng):
    sample = Sample(rng, (9, 16), (4, 8))
    with pytest.raises(DeviceError, match=UNWAITED):
        sample.run((1, 2), back=(3, 4), meanwhile="st.shared.b32 [%r1+16], %r0;")


def test_what_is_read_before_the_mbarrier_is_waited_for(rng):
    """Though a barrier stands between."""
    wait = "mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r2], 0;\n@!%p1 bra $wait;"
    with pytest.raises(DeviceError, match=UNWAITED):
        Sample(rng, (9, 16), (4, 8)).run((1, 2), changed=(wait, "bar.sync 0;"))


def test_memory_that_is_not_there_is_found(rng):
    sample = Sample(rng, (40, 64), (16, 32))
    sample.maps[0] = TensorMap(sample.addresses[0], 4, 0, (64, 60), (256,), (32, 16))
    sample.run((20, 0))
    with pytest.raises(OutOfBounds):
        sample.run((30, 0))
    sample.maps[0] = TensorMap(sample.addresses[0], 4, 0, (64, 40), (256,), (32, 16))
    sample.memory.free(sample.addresses[0])
    with pytest.raises(OutOfBounds):
        sample.run((0, 0))


def test_other_ranks_than_the_maps_are_found(rng):
    sample = Sample(rng, (40, 64), (16, 32))
    sample.maps[0] = TensorMap(sample.addresses[0], 4, 0, (64,), (), (32,))
    with pytest.raises(DeviceError, match="no tensor map"):
        sample.run((0, 0))


def _encoded(cu, address, **changes):
    given = {
        "kind": "CU_TENSOR_MAP_DATA_TYPE_FLOAT16", "rank": 2, "address": address, "lengths": (64, 40),
        "strides": (128,), "box": (32, 16), "steps": (1, 1), "interleave": "CU_TENSOR_MAP_INTERLEAVE_NONE",
        "swizzle": "CU_TENSOR_MAP_SWIZZLE_64B", "promotion": "CU_TENSOR_MAP_L2_PROMOTION_NONE",
        "fill": "CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE",
    } | changes  # fmt: skip
    return cu.cuTensorMapEncodeTiled(*given.values())


def test_the_driver_makes_maps(rng):
    import ctypes

    cu = Bindings()
    code, made = _encoded(cu, 1 << 20)
    assert code == Result.CUDA_SUCCESS
    found = TensorMap.decoded(ctypes.string_at(int(made.getPtr()), 128))
    assert found == TensorMap(1 << 20, 2, 64, (64, 40), (128,), (32, 16))


@pytest.mark.parametrize(
    "changes",
    [
        {"address": (1 << 20) + 8}, {"strides": (120,)}, {"strides": (1 << 40,)}, {"box": (32, 257)},
        {"box": (64, 16)}, {"box": (4, 16)}, {"lengths": (64, 0)}, {"rank": 3}, {"rank": 6},
    ],
)  # fmt: skip
def test_the_driver_refuses(changes):
    given = dict(changes)
    address = given.pop("address", 1 << 20)
    assert _encoded(Bindings(), address, **given)[0] == Result.CUDA_ERROR_INVALID_VALUE


@pytest.mark.skipif(ptxas() is None, reason="there is no ptxas")
@pytest.mark.parametrize("back", [None, (0, 0)])
def test_the_assembler_takes_it(back):
    assemble(text(2, 2048, (0, 0), back), "sm_90a")
