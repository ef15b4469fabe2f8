"""`wgmma` of the emulator: one product of a warpgroup, all types and layouts, against NumPy; what is found wrong."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from pykern.errors import KernelError
from pykern.lowering.nvvm.ptxas import assemble, ptxas
from pykern.runtime.emulator.device_memory import DeviceMemory
from tests.runtime.emulator.hopper_kernels import descriptor, laid_out, launched, product_text, sums_at
from tests.runtime.emulator.ptx_kernels import fetched, place

DTYPES = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "tf32": np.float32,
    "e4m3": ml_dtypes.float8_e4m3fn,
    "e5m2": ml_dtypes.float8_e5m2,
    "s8": np.int8,
    "u8": np.uint8,
}
TYPES = [
    ("f16", "f16"),
    ("bf16", "bf16"),
    ("tf32", "tf32"),
    ("e4m3", "e5m2"),
    ("e5m2", "e5m2"),
    ("s8", "u8"),
    ("u8", "s8"),
]


class Sample:
    """One product: shape, types, swizzle; A in registers or in shared memory, lines or terms side by side."""

    def __init__(self, a, b, columns=24, width=128, in_registers=False, turned=(False, False), end=""):
        self.types, self.columns, self.width, self.in_registers = (a, b), columns, width, in_registers
        self.whole = a in ("s8", "u8")
        self.depth = 32 // np.dtype(DTYPES[a]).itemsize
        self.turned = turned
        self.form = f"m64n{columns}k{self.depth}{end}.{'s32' if self.whole else 'f32'}.{a}.{b}"
        given = [] if self.whole else ["1", "1"]
        if self.depth == 16:
            given += [str(int(flag)) for flag in (turned[1:] if in_registers else turned)]
        self.operands = ", ".join(["%p1", *given])

    def matrices(self, rng):
        found = []
        for kind, shape in zip(self.types, ((64, self.depth), (self.columns, self.depth)), strict=True):
            dtype = np.dtype(DTYPES[kind])
            if dtype.kind in "iu":
                limits = np.iinfo(dtype)
                found.append(rng.integers(limits.min, limits.max, shape, dtype, endpoint=True))
            else:
                found.append(rng.standard_normal(shape).astype(dtype))
        sums = (
            rng.integers(-(2**31), 2**31 - 1, (64, self.columns)).astype(np.int32)
            if self.whole
            else rng.standard_normal((64, self.columns)).astype(np.float32)
        )
        return *found, sums

    def text(self, mutate=()):
        lines = zip(self.types, (64, self.columns), strict=True)
        nothing = (np.zeros((n, self.depth), DTYPES[kind]) for kind, n in lines)
        nbytes = self._image(*nothing)[0]
        return product_text(
            self.form, self.columns, 4 * self.in_registers, self.operands, len(nbytes), mutate
        )

    def _image(self, a, b):
        left, *at_left = laid_out(a, self.width, self.turned[0] and not self.in_registers)
        begin = -(-len(left) // 1024) * 1024
        right, *at_right = laid_out(b, self.width, self.turned[1])
        image = left.ljust(begin, b"\0") + right
        image = image.ljust(-(-len(image) // 1024) * 1024, b"\0")
        return image, descriptor(0, *at_left, self.width), descriptor(begin, *at_right, self.width)

    def __call__(self, a, b, sums, mutate=(), threads=128):
        image, left, right = self._image(a, b)
        rows, columns = sums_at(self.columns)
        fragments = np.ascontiguousarray(sums[rows, columns])
        packed = 4 // a.dtype.itemsize
        held = np.zeros((128, 4, packed), a.dtype)
        for thread in range(128):
            for register in range(4):
                row = 16 * (thread // 32) + thread % 32 // 4 + 8 * (register % 2)
                term = packed * (thread % 4) + 4 * packed * (register // 2)
                held[thread, register] = a[row, term : term + packed]
        memory = DeviceMemory(1 << 20)
        arrays = [np.frombuffer(image, np.uint8), fragments, held.view(np.uint8)]
        addresses = [memory.allocate(each.nbytes) for each in arrays]
        for address, each in zip(addresses, arrays, strict=True):
            place(address, np.ascontiguousarray(each).view(np.uint8).ravel())
        words = b"".join(n.to_bytes(8, "little") for n in (*addresses, 0, left, right))
        launched(self.text(mutate), words, memory, threads)
        found = fetched(addresses[1], fragments)
        result = np.zeros_like(sums)
        result[rows, columns] = found
        return result


def expected(a, b, sums):
    if sums.dtype == np.int32:
        return (sums.astype(np.int64) + a.astype(np.int64) @ b.T.astype(np.int64)).astype(np.int32)
    if a.dtype == np.float32:
        a, b = ((x.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32) for x in (a, b))
    return sums + a.astype(np.float64) @ b.T.astype(np.float64)


def agrees(have, want):
    if have.dtype == np.int32:
        np.testing.assert_array_equal(have, want)
    else:
        np.testing.assert_allclose(have, want, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("a", "b"), TYPES)
@pytest.mark.parametrize("in_registers", [False, True])
def test_types(a, b, in_registers, rng):
    sample = Sample(a, b, in_registers=in_registers)
    matrices = sample.matrices(rng)
    agrees(sample(*matrices), expected(*matrices))


@pytest.mark.parametrize("width", [0, 32, 64, 128])
@pytest.mark.parametrize("turned", [(False, False), (True, False), (False, True), (True, True)])
def test_layouts(width, turned, rng):
    sample = Sample("bf16", "bf16", columns=128, width=width, turned=turned)
    matrices = sample.matrices(rng)
    agrees(sample(*matrices), expected(*matrices))


@pytest.mark.parametrize("columns", [8, 136, 256])
def test_columns(columns, rng):
    sample = Sample("f16", "f16", columns=columns)
    matrices = sample.matrices(rng)
    agrees(sample(*matrices), expected(*matrices))


def test_sums_that_do_not_count(rng):
    sample = Sample("bf16", "bf16")
    a, b, sums = sample.matrices(rng)
    agrees(sample(a, b, sums, [("setp.ne.b32", "setp.eq.b32")]), expected(a, b, 0 * sums))


def test_sums_saturate(rng):
    sample = Sample("s8", "s8", end=".satfinite")
    a, b, sums = sample.matrices(rng)
    wide = sums.astype(np.int64) + a.astype(np.int64) @ b.T.astype(np.int64)
    assert (sample(a, b, sums) == np.clip(wide, -(2**31), 2**31 - 1)).all()


def test_signs(rng):
    sample = Sample("f16", "f16")
    a, b, sums = sample.matrices(rng)
    agrees(sample(a, b, sums, [("%p1, 1, 1,", "%p1, -1, 1,")]), expected(-a, b, sums))


WAIT = "wgmma.wait_group.sync.aligned 0;\n"
OVERWRITE = "bar.sync 0;\nshl.b32 %r2, %r0, 2;\nadd.u32 %r2, %r1, %r2;\nst.shared.b32 [%r2], %r0;\n"


@pytest.mark.parametrize(
    ("mutate", "said"),
    [
        ([("wgmma.fence.sync.aligned;\n", "")], "with no wgmma.fence before"),
        ([("wgmma.wait_group.sync.aligned 0;\n", "")], "before wgmma.wait_group has waited"),
        ([("wait_group.sync.aligned 0", "wait_group.sync.aligned 1")], "before wgmma.wait_group has waited"),
        ([("wgmma.commit_group.sync.aligned;\n", "")], "before wgmma.wait_group has waited"),
        ([("fence.proxy.async.shared::cta;\n", "")], "without a fence.proxy.async"),
        ([("fence.proxy.async.shared::cta;\nbar.sync 0;", "bar.sync 0;\nfence.proxy.async.shared::cta;")], None),
        ([("bar.sync 0;\n", "")], "with no barrier between"),
        ([(WAIT, f"{OVERWRITE}{WAIT}")], "which was not waited for, may still use"),
        ([(WAIT, f"{WAIT}{OVERWRITE}")], None),
        ([("%rd9, %p1", "%rd8, %p1")], None),
    ],
)  # fmt: skip
def test_what_is_left_out_is_found(mutate, said, rng):
    sample = Sample("bf16", "bf16", columns=64)
    a, b, sums = sample.matrices(rng)
    if said is None:  # a second barrier behind the fence, a write behind the wait, the other descriptor
        have = sample(a, b, sums, mutate)
        same = mutate[0][0].startswith(("fence", "wgmma"))
        assert np.allclose(have, expected(a, b, sums), atol=1e-4) == same
        return
    with pytest.raises(KernelError, match=said):
        sample(a, b, sums, mutate)


@pytest.mark.parametrize("width", [0, 32, 64])
def test_another_swizzle_gives_other_numbers(width, rng):
    sample = Sample("bf16", "bf16", columns=64)
    a, b, sums = sample.matrices(rng)
    image = sample._image

    def wrong(a, b):
        found, left, right = image(a, b)
        low = (1 << 62) - 1
        mode = {0: 0, 64: 2, 32: 3}[width] << 62
        return found, left & low | mode, right & low | mode

    sample._image = wrong
    assert not np.allclose(sample(a, b, sums), expected(a, b, sums), atol=1e-2)


@pytest.mark.skipif(ptxas() is None, reason="there is no ptxas")
def test_the_assembler_takes_them():
    for a, b in TYPES:
        for in_registers in (False, True):
            assemble(Sample(a, b, in_registers=in_registers).text(), "sm_90a")
    assemble(Sample("bf16", "bf16", columns=128, turned=(True, True)).text(), "sm_90a")
