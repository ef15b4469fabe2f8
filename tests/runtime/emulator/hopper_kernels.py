"""PTX for sm_90a by hand: a product of a warpgroup, and one fed by a producer through a ring of copies.

Comes in: forms, shapes. Goes out: texts, and what a launch of them leaves. Layouts are written here by themselves,
from the PTX ISA: chunks of 16 bytes of a row lie at their number exclusive-or the row's.
"""

from __future__ import annotations

import numpy as np

from pykern.runtime.emulator.device_memory import DeviceMemory
from pykern.runtime.emulator.program import LoadedText
from pykern.runtime.emulator.tensor_maps import TensorMap
from tests.runtime.emulator.ptx_kernels import HEAD, fetched, place

CHUNK = 16
MODES = {0: 0, 128: 1, 64: 2, 32: 3}


def chunk_at(row: int, chunk: int, width: int) -> int:
    """Which chunk of its row (of `width` bytes) a chunk becomes, for rows that lie one after the other."""
    rows_together = 128 // width  # lie in 128 bytes
    return chunk ^ (row // rows_together % (width // CHUNK))


def descriptor(begin: int, leading: int, stride: int, width: int) -> int:
    return begin >> 4 | (leading >> 4) << 16 | (stride >> 4) << 32 | MODES[width] << 62


def laid_out(matrix: np.ndarray, width: int, transposed: bool) -> tuple[bytes, int, int]:
    """Lines by terms of 32 bytes, as an operand of a product: its bytes, leading and stride bytes."""
    lines = len(matrix)
    raw = np.ascontiguousarray(matrix).view(np.uint8).reshape(lines, -1)
    if transposed:  # 16 bits: each chunk has eight lines of a term
        turned = np.ascontiguousarray(matrix.T).view(np.uint8).reshape(16, -1, CHUNK)
        chunks = turned.shape[1]
        found = np.zeros(16 * chunks * CHUNK, np.uint8)
        if width == 0:
            leading, stride = 128 * chunks, 128
            for term in range(16):
                for chunk in range(chunks):
                    at = term // 8 * leading + chunk * stride + term % 8 * CHUNK
                    found[at : at + CHUNK] = turned[term, chunk]
            return found.tobytes(), leading, stride
        panel = width // CHUNK
        leading, stride = 16 * width, 8 * width
        for term in range(16):
            for chunk in range(chunks):
                at = chunk // panel * leading + term * width + chunk_at(term, chunk % panel, width) * CHUNK
                found[at : at + CHUNK] = turned[term, chunk]
        return found.tobytes(), leading, stride
    if width == 0:
        leading, stride = 128, 256
        found = np.zeros(32 * lines, np.uint8)
        for line in range(lines):
            for chunk in (0, 1):
                at = line // 8 * stride + chunk * leading + line % 8 * CHUNK
                found[at : at + CHUNK] = raw[line, CHUNK * chunk : CHUNK * (chunk + 1)]
        return found.tobytes(), leading, stride
    found = np.zeros(lines * width, np.uint8)
    for line in range(lines):
        for chunk in (0, 1):
            at = line * width + chunk_at(line, chunk, width) * CHUNK
            found[at : at + CHUNK] = raw[line, CHUNK * chunk : CHUNK * (chunk + 1)]
    return found.tobytes(), CHUNK, 8 * width


def registers(prefix: str, count: int) -> str:
    return f"{{{', '.join(f'%{prefix}{n}' for n in range(count))}}}"


def launched(text: str, parameters: bytes, memory: DeviceMemory, threads: int, grid=(1, 1, 1)) -> None:
    loaded = LoadedText(text, memory)
    try:
        loaded.program("f").launch(grid, (threads, 1, 1), 0, parameters)
    finally:
        loaded.unload()


def product_text(form: str, columns: int, a_registers: int, operands: str, nbytes: int, mutate=()) -> str:
    """A warpgroup copies an image into shared memory, multiplies once, and writes its sums."""
    sums = columns // 2
    kind = "s32" if ".s32." in form else "f32"
    left = registers("a", 4) if a_registers else "%rd8"
    text = f"""{HEAD.replace("8.0", "8.4")}
.file 1 "product.py"
.shared .align 1024 .b8 held[{nbytes}];
.visible .entry f(.param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u64 p3, .param .u64 p4, .param .u64 p5)
{{
.reg .b32 %r<8>;
.reg .b64 %rd<12>;
.reg .pred %p<4>;
.reg .{kind} %d<{sums}>;
.reg .b32 %a<4>;
.reg .b32 %w<4>;
mov.u32 %r0, %tid.x;
ld.param.u64 %rd0, [p0];
ld.param.u64 %rd1, [p1];
ld.param.u64 %rd2, [p2];
ld.param.u64 %rd8, [p4];
ld.param.u64 %rd9, [p5];
mad.wide.u32 %rd3, %r0, {4 * sums}, %rd1;
mad.wide.u32 %rd4, %r0, 16, %rd2;
mov.u32 %r1, held;
shl.b32 %r2, %r0, 4;
$next:
setp.ge.u32 %p0, %r2, {nbytes};
@%p0 bra $filled;
cvt.u64.u32 %rd5, %r2;
add.s64 %rd6, %rd0, %rd5;
add.u32 %r3, %r1, %r2;
ld.global.v4.b32 {registers("w", 4)}, [%rd6];
st.shared.v4.b32 [%r3], {registers("w", 4)};
add.u32 %r2, %r2, 2048;
bra $next;
$filled:
fence.proxy.async.shared::cta;
bar.sync 0;
ld.global.v4.b32 {registers("a", 4)}, [%rd4];
"""
    text += "".join(f"ld.global.b32 %d{n}, [%rd3+{4 * n}];\n" for n in range(sums))
    text += f"""setp.ne.b32 %p1, %r1, -1;
.loc 1 7 3
wgmma.fence.sync.aligned;
wgmma.mma_async.sync.aligned.{form} {registers("d", sums)}, {left}, %rd9, {operands};
wgmma.commit_group.sync.aligned;
wgmma.wait_group.sync.aligned 0;
"""
    text += "".join(f"st.global.b32 [%rd3+{4 * n}], %d{n};\n" for n in range(sums)) + "ret;\n}\n"
    for old, new in mutate:
        assert old in text
        text = text.replace(old, new)
    return text


def sums_at(columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows and columns of the sums of each thread, by the figure of the ISA's fragment D."""
    rows, across = np.zeros((128, columns // 2), int), np.zeros((128, columns // 2), int)
    for thread in range(128):
        for number in range(columns // 2):
            rows[thread, number] = 16 * (thread // 32) + thread % 32 // 4 + 8 * (number // 2 % 2)
            across[thread, number] = 8 * (number // 4) + 2 * (thread % 4) + number % 2
    return rows, across


RING = """{head}
.file 1 "ring.py"
.shared .align 1024 .b8 ring[{ring}];
.shared .align 8 .b8 full[16];
.shared .align 8 .b8 empty[16];
.visible .entry f({maps}, .param .u32 steps)
{{
.reg .b32 %r<32>;
.reg .b64 %rd<32>;
.reg .pred %p<8>;
.reg .f32 %d<{sums}>;
.reg .b32 %h<{sums}>;
mov.u32 %r0, %tid.x;
ld.param.u32 %r9, [steps];
mov.b64 %rd0, ta;
mov.b64 %rd1, tb;
mov.b64 %rd2, tc;
cvta.param.u64 %rd0, %rd0;
cvta.param.u64 %rd1, %rd1;
cvta.param.u64 %rd2, %rd2;
mov.u32 %r1, ring;
mov.u32 %r2, full;
mov.u32 %r3, empty;
mov.u32 %r20, %ctaid.x;
mul.lo.u32 %r21, %r20, 64;
mov.u32 %r22, %ctaid.y;
mul.lo.u32 %r22, %r22, {columns};
setp.ne.u32 %p0, %r0, 0;
@%p0 bra $ready;
mbarrier.init.shared::cta.b64 [%r2], 1;
mbarrier.init.shared::cta.b64 [%r2+8], 1;
mbarrier.init.shared::cta.b64 [%r3], 1;
mbarrier.init.shared::cta.b64 [%r3+8], 1;
fence.mbarrier_init.release.cluster;
$ready:
bar.sync 0;
mov.u32 %r4, 0;
mov.u32 %r5, 0;
mov.u32 %r6, 0;
setp.lt.u32 %p1, %r0, 128;
@%p1 bra $consumer;
setmaxnreg.dec.sync.aligned.u32 40;
elect.sync %r23|%p2, -1;
@!%p2 bra $end;
$produce:
setp.ge.u32 %p0, %r6, %r9;
@%p0 bra $end;
shl.b32 %r7, %r4, 3;
add.u32 %r8, %r3, %r7;
add.u32 %r7, %r2, %r7;
xor.b32 %r10, %r5, 1;
$wait_empty:
mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r8], %r10;
@!%p3 bra $wait_empty;
mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r7], {slot};
mad.lo.u32 %r11, %r4, {slot}, %r1;
shl.b32 %r12, %r6, 6;
.loc 1 20 1
cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r11], [%rd0, {{%r12, %r21}}], [%r7];
add.u32 %r11, %r11, 8192;
cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r11], [%rd1, {{%r12, %r22}}], [%r7];
add.u32 %r6, %r6, 1;
add.u32 %r4, %r4, 1;
setp.eq.u32 %p4, %r4, 2;
selp.b32 %r4, 0, %r4, %p4;
selp.b32 %r13, 1, 0, %p4;
xor.b32 %r5, %r5, %r13;
bra $produce;
$consumer:
setmaxnreg.inc.sync.aligned.u32 232;
{zeros}
$consume:
setp.ge.u32 %p0, %r6, %r9;
@%p0 bra $done;
shl.b32 %r7, %r4, 3;
add.u32 %r8, %r3, %r7;
add.u32 %r7, %r2, %r7;
$wait_full:
mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r7], %r5;
@!%p3 bra $wait_full;
mad.lo.u32 %r11, %r4, {slot}, %r1;
shr.u32 %r14, %r11, 4;
and.b32 %r14, %r14, 16383;
cvt.u64.u32 %rd3, %r14;
or.b64 %rd3, %rd3, {constant};
add.s64 %rd4, %rd3, 512;
wgmma.fence.sync.aligned;
{products}
wgmma.commit_group.sync.aligned;
.loc 1 30 1
wgmma.wait_group.sync.aligned 0;
setp.ne.u32 %p5, %r0, 0;
@%p5 bra $released;
mbarrier.arrive.shared::cta.b64 %rd20, [%r8];
$released:
add.u32 %r6, %r6, 1;
add.u32 %r4, %r4, 1;
setp.eq.u32 %p4, %r4, 2;
selp.b32 %r4, 0, %r4, %p4;
selp.b32 %r13, 1, 0, %p4;
xor.b32 %r5, %r5, %r13;
bra $consume;
$done:
mov.u32 %r15, %laneid;
shr.u32 %r16, %r0, 5;
shl.b32 %r16, %r16, 4;
and.b32 %r17, %r15, 15;
add.u32 %r16, %r16, %r17;
shr.u32 %r17, %r15, 4;
bar.sync 1, 128;
{epilogue}
fence.proxy.async.shared::cta;
bar.sync 1, 128;
setp.ne.u32 %p5, %r0, 0;
@%p5 bra $end;
.loc 1 40 1
cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd2, {{%r22, %r21}}], [%r1];
cp.async.bulk.commit_group;
cp.async.bulk.wait_group 0;
$end:
ret;
}}
"""


def ring_text(columns: int = 64, mutate=()) -> str:
    """A product of bf16, 64 rows a block, terms 64 a step; its result in bf16 by a copy, too. 160 threads."""
    sums, slot = columns // 2, 8192 + 128 * columns
    form = f"wgmma.mma_async.sync.aligned.m64n{columns}k16.f32.bf16.bf16 {registers('d', sums)}"
    products = "\n".join(
        f"add.s64 %rd5, %rd3, {2 * k};\nadd.s64 %rd6, %rd4, {2 * k};\n{form}, %rd5, %rd6, 1, 1, 1, 0, 0;"
        for k in range(4)
    )
    epilogue = []
    for first in range(0, sums, 8):  # 16 columns of a warp's 16 rows: four matrices
        epilogue += [
            f"cvt.rn.bf16x2.f32 %h{first + n}, %d{first + 2 * n + 1}, %d{first + 2 * n};" for n in range(4)
        ]
        chunk, held = first // 4, f"{{{', '.join(f'%h{first + n}' for n in range(4))}}}"
        epilogue += [
            f"add.u32 %r18, %r17, {chunk};",
            "and.b32 %r19, %r16, 7;",
            "xor.b32 %r18, %r18, %r19;",
            "shl.b32 %r18, %r18, 4;",
            "mad.lo.u32 %r18, %r16, 128, %r18;",
            "add.u32 %r18, %r18, %r1;",
            f"stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r18], {held};",
        ]
    text = RING.format(
        head=HEAD,
        maps=", ".join(f".param .align 64 .b8 t{letter}[128]" for letter in "abc"),
        ring=2 * slot,
        slot=slot,
        sums=sums,
        columns=columns,
        zeros="\n".join(f"mov.f32 %d{n}, 0f00000000;" for n in range(sums)),
        constant=descriptor(0, CHUNK, 1024, 128),
        products=products,
        epilogue="\n".join(epilogue),
    )
    for old, new in mutate:
        assert old in text, old
        text = text.replace(old, new)
    return text


def ring_product(a: np.ndarray, b: np.ndarray, mutate=()) -> np.ndarray:
    """``a @ b.T``; rows of both begin at multiples of 16 bytes. 64 columns a block."""
    (rows, terms), columns = a.shape, len(b)
    c = np.zeros((rows, columns), a.dtype)
    memory = DeviceMemory(1 << 22)
    addresses = [memory.allocate(each.nbytes) for each in (a, b, c)]
    parameters = b""
    for address, each in zip(addresses, (a, b, c), strict=True):
        place(address, np.ascontiguousarray(each).view(np.uint8).ravel())
        tensor = TensorMap(address, 2, 128, each.shape[::-1], (2 * each.shape[1],), (64, 64))
        tensor.check()
        parameters += tensor.encoded()
    steps = -(-terms // 64)
    parameters += steps.to_bytes(8, "little")
    launched(ring_text(mutate=mutate), parameters, memory, 160, (-(-rows // 64), -(-columns // 64), 1))
    return fetched(addresses[2], c.view(np.uint8).ravel()).view(c.dtype).reshape(c.shape)
