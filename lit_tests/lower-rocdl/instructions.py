# RUN: %python %s | FileCheck %s
"""The instructions that matter, in AMD's assembly."""

import pykern as pk


def show(kernel, *args, ndrange="n", target="rocdl:gfx942"):
    print(kernel.lower(*args, ndrange=ndrange, target=target).compile().asm())


f32 = pk.spec(None, pk.f32)


@pk.kernel
def streams(out, x):
    i = pk.index()
    out[i] = x[i] + 1


# No argument is passed that nobody asked for: 2 arrays of memory and length, the count, the first group.
# CHECK-LABEL: kern_streams:
# CHECK: global_load_dword
# CHECK: global_store_dword
# CHECK: .amdhsa_kernarg_size 48
# CHECK: .max_flat_workgroup_size: 256
# CHECK: .wavefront_size: 64
show(streams, f32, f32)


@pk.kernel(workgroup=(16, 32))
def turned(out, x):
    i, j = pk.index()
    li, lj = pk.local_index()
    s = pk.shared((16, 32), pk.f32)
    s[li, lj] = x[i, j]
    pk.barrier()
    out[i, j] = s[15 - li, 31 - lj]


# CHECK-LABEL: kern_turned:
# CHECK: ds_write_b32
# CHECK: s_barrier
# CHECK: ds_read_b32
# CHECK: .amdhsa_group_segment_fixed_size 2048
show(turned, pk.spec((None, None), pk.f32), pk.spec((None, None), pk.f32), ndrange=("n", "m"))


@pk.kernel(workgroup=256)
def sums(of_group, x):
    i = pk.index()
    of_group[i] = pk.group_reduce(x[i])


# Sums within a row of 16 lanes are an addition each, whose operand comes from another lane. Rows meet by a permutation.
# CHECK-LABEL: kern_sums:
# CHECK: v_add_f32_dpp {{.*}} quad_perm:[1,0,3,2]
# CHECK: v_add_f32_dpp {{.*}} quad_perm:[2,3,0,1]
# CHECK: v_add_f32_dpp {{.*}} row_half_mirror
# CHECK: v_add_f32_dpp {{.*}} row_mirror
# CHECK: ds_swizzle_b32
# CHECK: ds_bpermute_b32
# CHECK: s_barrier
show(sums, f32, f32)

# CHECK-LABEL: kern_sums:
# CHECK-COUNT-4: v_add_f32_dpp
# CHECK-NOT: ds_bpermute
# CHECK: v_permlanex16_b32
# CHECK-NOT: ds_bpermute
# CHECK: s_barrier
show(sums, f32, f32, target="rocdl:gfx1100")


@pk.kernel
def adds(x, n):
    i = pk.index()
    pk.atomic_add(x, i // 2, 1)
    pk.atomic_add(n, i // 2, 5)


# CHECK-LABEL: kern_adds:
# CHECK-DAG: global_atomic_add_f32
# CHECK-DAG: global_atomic_add v
show(adds, f32, pk.spec(None, pk.i32))


@pk.kernel
def fours(out, x):
    i = pk.index()
    for k in pk.unroll(range(4)):
        out[4 * i + k] = x[4 * i + k] + 1


# CHECK-LABEL: kern_fours:
# CHECK: global_load_b128
# CHECK: global_store_b128
# CHECK: .amdhsa_workgroup_processor_mode 0
# CHECK: .wavefront_size: 32
show(fours, f32, f32, target="rocdl:gfx1100+cumode+aligned")


@pk.kernel(fastmath=True)
def forces(out, x):
    i = pk.index()
    total = pk.f32(0)
    for j in range(x.shape[0]):
        a = x[j] - x[i]
        total += a / (a * a * a + 1)
    out[i] = total


# What is the same for all work-items comes by scalar loads, several words at a time; neighbours in an unrolled loop
# are computed in pairs.
# CHECK-LABEL: kern_forces:
# CHECK: s_load_dwordx{{8|16}} {{.*}}, 0x{{[1-9]}}
# CHECK-DAG: v_pk_add_f32
# CHECK-DAG: v_pk_mul_f32
# CHECK-DAG: v_pk_fma_f32
# CHECK: global_store_dword
show(forces, f32, f32, target="rocdl:gfx942+aligned+small")


@pk.kernel
def extremes(out, x, y, z):
    i = pk.index()
    out[i] = max(x[i], y[i], z[i])


# A maximum that hands NaN on is a maximum and a test; where the chip has an instruction, two of them are one.
# CHECK-LABEL: kern_extremes:
# CHECK-COUNT-2: v_cmp_o_f32
# CHECK-NOT: v_cmp_{{.*}}f32
# CHECK: global_store_dword
# CHECK-LABEL: kern_extremes:
# CHECK-NOT: v_cmp_{{.*}}f32
# CHECK: v_maximum3_f32
# CHECK-NOT: v_cmp_{{.*}}f32
# CHECK: global_store_b32
show(extremes, f32, f32, f32, f32)
show(extremes, f32, f32, f32, f32, target="rocdl:gfx1201")


@pk.kernel
def total(result, x):
    pk.atomic_add(result, 0, x[pk.index()])


# All add to one cell: the lanes of a subgroup join first.
# CHECK-LABEL: kern_total:
# CHECK: v_add_f32_dpp {{.*}} row_mirror
# CHECK: global_atomic_add_f32
show(total, f32, f32)


@pk.kernel(workgroup=64)
def tree(out, x):
    cells = pk.shared(None, pk.f32)
    k = pk.local_index()
    cells[k] = x[pk.index()]
    pk.barrier()
    half = len(cells) // 2
    while half > 0:
        if k < half:
            cells[k] += cells[k + half]
        pk.barrier()
        half //= 2
    out[pk.group_index()] = cells[0]


# A barrier at the head of a loop waits for what was written at its end.
# CHECK-LABEL: kern_tree:
# CHECK: s_cmp_eq_u64
# CHECK-NEXT: s_waitcnt {{.*}}lgkmcnt(0)
# CHECK-NEXT: s_barrier
# CHECK: ds_store_b32
# CHECK: s_endpgm
print(
    tree.lower(f32, f32, ndrange="n", shared_bytes=256, target="rocdl:gfx1100+aligned+small").compile().asm()
)
