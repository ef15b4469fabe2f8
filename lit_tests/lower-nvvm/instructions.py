# RUN: %python %s | FileCheck %s
"""The instructions that matter, in PTX."""

import numpy as np

import pykern as pk


def show(kernel, *args, ndrange="n", target="nvvm:sm_90a"):
    print(kernel.lower(*args, ndrange=ndrange, target=target).compile().asm())


f32 = pk.spec(None, pk.f32)


@pk.kernel
def streams(out, x, y):
    i = pk.index()
    out[i] = pk.sqrt(x[i]) / y[i]


# Every parameter is a cell of 8 bytes; what nobody writes comes through the read-only cache; IEEE root and quotient.
# CHECK-LABEL: .visible .entry kern_streams(
# CHECK: .param .u64 .ptr .global .align 1 kern_streams_param_0,
# CHECK-NEXT: .param .u64 kern_streams_param_1,
# CHECK-NEXT: .param .u64 .ptr .global .align 1 kern_streams_param_2,
# CHECK: .maxntid 256, 1, 1
# CHECK-DAG: ld.global.nc.b32
# CHECK-DAG: sqrt.rn.f32
# CHECK: div.rn.f32
# CHECK: st.global.b32
show(streams, f32, f32, f32)


@pk.kernel(workgroup=(8, 32))
def turned(out, x):
    i, j = pk.index()
    li, lj = pk.local_index()
    s = pk.shared((8, 32), pk.f32)
    s[li, lj] = x[i, j]
    pk.barrier()
    out[i, j] = s[7 - li, 31 - lj]


# CHECK-LABEL: .visible .entry kern_turned(
# CHECK: .maxntid 32, 8, 1
# CHECK: .shared .align 16 .b8 {{.*}}[1024]
# CHECK: st.shared.b32
# CHECK: bar{{(rier)?}}.sync 0
# CHECK: ld.shared.b32
show(turned, pk.spec((None, None), pk.f32), pk.spec((None, None), pk.f32), ndrange=("n", "m"))


@pk.kernel(workgroup=64)
def sums(of_group, of_subgroup, x, n):
    i = pk.index()
    of_group[i] = pk.group_reduce(x[i])
    of_subgroup[i] = pk.subgroup_reduce(n[i])


# CHECK-LABEL: .visible .entry kern_sums(
# CHECK-COUNT-5: shfl.sync.bfly.b32
# CHECK: bar{{(rier)?}}.sync 0
# CHECK: redux.sync.add.s32
show(sums, f32, pk.spec(None, pk.i32), f32, pk.spec(None, pk.i32))


@pk.kernel
def adds(x, n):
    i = pk.index()
    pk.atomic_add(x, i // 2, 1)
    pk.atomic_max(n, i // 2, 5)


# CHECK-LABEL: .visible .entry kern_adds(
# CHECK: {{(atom|red)}}{{.*}}global.add.f64
# CHECK: {{(atom|red)}}{{.*}}global.max.s32
show(adds, pk.spec(None, pk.f64), pk.spec(None, pk.i32))


@pk.kernel
def fours(out, x):
    i = pk.index()
    for k in pk.unroll(range(4)):
        out[4 * i + k] = x[4 * i + k] + 1


# Where all arrays begin at a multiple of 16 bytes.
# CHECK-LABEL: .visible .entry kern_fours(
# CHECK: .param .u64 .ptr .global .align 16 kern_fours_param_0,
# CHECK: ld.global.nc.v4.b32
# CHECK: st.global.v4.b32
show(fours, f32, f32, target="nvvm:sm_80+aligned")


@pk.kernel(workgroup=(8, 32))
def rows(out, x):
    i, j = pk.index()
    out[i, j] = x[i, j]


# Where positions fit in 32 bits, they are computed in them; 64-bit products are slow.
# CHECK-LABEL: .visible .entry kern_rows(
# CHECK: mad.lo.s32
# CHECK-NOT: mad.lo.s64
# CHECK-NOT: mul.lo.s64
# CHECK: ld.global.nc.b32
# CHECK: ret
show(
    rows,
    pk.spec(("n", "m"), pk.f32),
    pk.spec(("n", "m"), pk.f32),
    target="nvvm:sm_90a+small",
    ndrange=("n", "m"),
)


@pk.kernel(workgroup=256, fastmath=True)
def rows(out, x):
    row, here = pk.group_index(), pk.local_index()
    largest = pk.f32(0)
    total = pk.f32(0)
    for k in range(here, x.shape[1], 256):
        largest = max(largest, x[row, k])
    for k in range(here, x.shape[1], 256):
        total += pk.exp(x[row, k])
    out[row, here] = largest + total


# A loop over a row counts in 32 bits and is unrolled: its loads are steps from one address. A maximum is one
# instruction, and a function needs no scaling of subnormals.
# CHECK-LABEL: .visible .entry kern_rows(
# CHECK: ld.global.nc.b32 %r{{[0-9]+}}, [%[[A:rd[0-9]+]]+-8192];
# CHECK-NEXT: max.ftz.NaN.f32
# CHECK-NEXT: ld.global.nc.b32 %r{{[0-9]+}}, [%[[A]]+-7168];
# CHECK-NEXT: max.ftz.NaN.f32
# CHECK: ex2.approx.ftz.f32
show(rows, pk.spec((None, None), pk.f32), pk.spec((None, None), pk.f32), target="nvvm:sm_80+aligned+small")


@pk.kernel
def inner(out, x):
    i, j = pk.index()
    if 0 < i < x.shape[0] - 1:
        out[i, j] = x[i - 1, j] + x[i + 1, j]


# One branch for the launch's guard and the kernel's; a launch of this kind is not cut along x.
# CHECK-LABEL: .visible .entry kern_inner(
# CHECK-COUNT-1: bra
# CHECK-NOT: bra
# CHECK: ret;
show(
    inner,
    pk.spec((None, None), pk.f32),
    pk.spec((None, None), pk.f32),
    ndrange=("n", "m"),
    target="nvvm:sm_80+small",
)


@pk.kernel
def around(out, x):
    i, j = pk.index()
    if 0 < i < x.shape[0] - 1 and 0 < j < x.shape[1] - 1:
        total = pk.f32(0)
        for a in range(3):
            for b in range(3):
                total += x[i + a - 1, j + b - 1]
        out[i, j] = total


# Arrays of one shape in a launch that is one grid: a work-item's number is one instruction along each axis, the taps
# of a filter are written out, each row of them steps from one address, and positions share the length of a row.
# CHECK-LABEL: .visible .entry kern_around(
# CHECK: .param .u32 kern_around_param_1,
# CHECK-COUNT-2: mad.lo.s32 %r{{[0-9]+}}, %r{{[0-9]+}}, {{4|64}}, %r{{[0-9]+}};
# CHECK-COUNT-1: bra
# CHECK-NOT: bra
# CHECK: mad.lo.s32
# CHECK-NOT: mad.lo
# CHECK-NOT: cvt.s64
# CHECK: ld.global.nc.b32 %r{{[0-9]+}}, [%[[A:rd[0-9]+]]+4];
# CHECK: ld.global.nc.b32 %r{{[0-9]+}}, [%[[A]]+8];
# CHECK: ret;
show(
    around,
    pk.spec((None, None), pk.f32),
    pk.spec((None, None), pk.f32),
    ndrange=("n", "m"),
    target="nvvm:sm_80+aligned+small+whole+alike",
)


@pk.kernel(workgroup=(16, 16))
def product(c, a, b):
    i, j = pk.index()
    row, column = pk.local_index()
    left, right = pk.shared((16, 17), pk.f32), pk.shared((16, 17), pk.f32)
    total = pk.f32(0)
    for start in range(0, a.shape[1], 16):
        left[row, column] = a[i, start + column]
        right[row, column] = b[start + row, j]
        pk.barrier()
        for k in range(16):
            total += left[row, k] * right[k, column]
        pk.barrier()
    c[i, j] = total


# Full groups run the loop without a branch between barriers; its terms are at constant distances in shared memory.
# CHECK-LABEL: .visible .entry kern_product(
# CHECK: bar{{(rier)?}}.sync 0
# CHECK-NOT: bra
# CHECK: ld.shared.b32 %r{{[0-9]+}}, [%[[R:rd[0-9]+]]+4];
# CHECK-NOT: bra
# CHECK: ld.shared.b32 %r{{[0-9]+}}, [%[[R]]+60];
# CHECK-NOT: bra
# CHECK: bar{{(rier)?}}.sync 0
# CHECK: ret;
show(
    product,
    pk.spec((None, None), pk.f32),
    pk.spec((None, None), pk.f32),
    pk.spec((None, None), pk.f32),
    ndrange=("n", "m"),
    target="nvvm:sm_80+aligned+small+whole",
)


@pk.kernel(workgroup=256)
def counted(bins, values):
    first = pk.group_index() * 4096 + pk.local_index()
    for k in range(16):
        p = first + k * 256
        if p < values.shape[0]:
            pk.atomic_add(bins, values[p], 1)


# Steps beyond a place of 64 bits are compared with what is left behind it: no sum of 64 bits a step.
# CHECK-LABEL: .visible .entry kern_counted(
# CHECK: sub.s64
# CHECK-NOT: {{(add|sub).s64 .*rd[0-9]+, (256|512)}}
# CHECK: ld.global.nc.b32 %r{{[0-9]+}}, [%[[V:rd[0-9]+]]+1024];
# CHECK: ld.global.nc.b32 %r{{[0-9]+}}, [%[[V]]+2048];
# CHECK: ret;
show(counted, pk.spec(None, pk.i32), pk.spec(None, pk.i32), target="nvvm:sm_80+aligned+small+whole")


@pk.kernel(fastmath=True)
def quotients(out, x, y):
    i = pk.index()
    out[i] = pk.rsqrt(x[i]) + x[i] / y[i] + pk.log2(y[i])


# Where a kernel allows approximations: one instruction each, subnormals are zero.
# CHECK-LABEL: .visible .entry kern_quotients(
# CHECK-DAG: rsqrt.approx.ftz.f32
# CHECK-DAG: div.approx.ftz.f32
# CHECK-DAG: lg2.approx.ftz.f32
# CHECK-NOT: div.rn
# CHECK: ret;
show(quotients, f32, f32, f32, target="nvvm:sm_80+aligned+small")


@pk.kernel
def total(result, x):
    pk.atomic_add(result, 0, x[pk.index()])


# All add to one cell: the lanes of a subgroup join first, one adds. ptxas does so with integers itself.
# CHECK-LABEL: .visible .entry kern_total(
# CHECK-COUNT-5: shfl.sync.bfly.b32
# CHECK-COUNT-1: {{(atom|red)}}{{.*}}global.add.f32
# CHECK-NOT: {{(atom|red)}}.
# CHECK: ret;
show(total, f32, f32, target="nvvm:sm_80+small")


@pk.kernel(workgroup=512)
def bounded(out, x):
    i = pk.index()
    out[i] = x[i]


# The assembler knows how large groups are, and with that how many registers there are.
# CHECK-LABEL: .visible .entry kern_bounded(
# CHECK: .maxntid 512, 1, 1
show(bounded, f32, f32)


@pk.jit
def product(a, b):
    return a @ b


def show_program(*args, target):
    print(product.lower(*args, target=target).as_text("ptx"))


# Chips without instructions for bf16: factors are widened before they lie in shared memory, which is read 16 bytes at
# once, and nothing is converted between the multiply-adds.
# CHECK-LABEL: .visible .entry kern_
# CHECK: st.shared.b32
# CHECK: bar{{(rier)?}}.sync 0
# CHECK: ld.shared.v4.b32
# CHECK-NOT: ld.shared.b
# CHECK-NOT: shl.b32
# CHECK-COUNT-64: fma.rn.f32
bf16 = pk.spec((1024, 1024), pk.bf16)
show_program(bf16, bf16, target="nvvm:sm_75+aligned+small")


# With them, factors come by a ring of copies of 16 bytes each.
# CHECK-LABEL: .visible .entry kern_
# CHECK: cp.async.cg.shared.global
# CHECK: cp.async.commit_group
# CHECK: cp.async.wait_group
# CHECK: ldmatrix.sync.aligned.m8n8.x4
# CHECK: mma.sync.aligned.m16n8k16
show_program(bf16, bf16, target="nvvm:sm_80+aligned+small")


@pk.jit(fastmath=True)
def rows_of_program(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


# A row of 1024 elements is a group's, four neighbours a work-item: one load and one store of 16 bytes.
# CHECK-LABEL: .visible .entry kern_
# CHECK-COUNT-1: ld.global.nc.v4.b32
# CHECK-NOT: ld.global
# CHECK: st.global.v4.b32
# CHECK: ret;
x = pk.spec((256, 1024), pk.f32)
print(rows_of_program.lower(x, target="nvvm:sm_80+aligned+small").as_text("ptx"))

# A row of 32 elements is a subgroup's: no barrier. One of 8 is a work-item's: no value moves.
# CHECK-LABEL: .visible .entry kern_
# CHECK: .maxntid 32, 1, 1
# CHECK-NOT: bar{{(rier)?}}.sync
# CHECK: shfl.sync.bfly
# CHECK-NOT: bar{{(rier)?}}.sync
# CHECK-LABEL: .visible .entry kern_
# CHECK-NOT: shfl
# CHECK: ret;
for length in (32, 8):
    print(rows_of_program.lower(pk.spec((256, length), pk.f32), target="nvvm:sm_80+small").as_text("ptx"))
