# RUN: %python %s source:msl+words+simd | FileCheck %s --check-prefixes=CHECK,LANES
# RUN: %python %s source:msl+words | FileCheck %s --check-prefixes=CHECK,SHARED
"""MSL for the device `metal`: words of 64 bits, a Python float among them, memory that a launch sizes, other lanes."""

import sys

import pykern as pk


@pk.kernel(workgroup=64)
def turned(out, x, rate):
    part = pk.shared(None, pk.f32)
    i, place = pk.index(), pk.local_index()
    part[place] = rate * pk.sin(x[i])
    pk.barrier()
    out[i] = part[63 - place] + pk.subgroup_shuffle(x[i], 5)
    pk.atomic_add(out, 0, 1.5)


spec = pk.spec((64,), pk.f32)
lowered = turned.lower(spec, spec, 2.0, ndrange=64, shared_bytes=256, target=sys.argv[1])
print(lowered.compile().source)

# CHECK: #include <metal_stdlib>
# CHECK: static int compare_exchange(device atomic_int *cell, int expected, int desired) {
# CHECK: struct Words {
# CHECK-NEXT: long out_at;
# CHECK-NOT: double
# CHECK: {{\[\[}}max_total_threads_per_threadgroup(64)]]
# CHECK-NEXT: kernel void turned(
# CHECK-NEXT: device atomic_int *out {{\[\[}}buffer(0)]],
# CHECK-NEXT: device const float *x {{\[\[}}buffer(1)]],
# CHECK-NEXT: constant Words &words {{\[\[}}buffer(2)]],
# CHECK-NEXT: threadgroup float *part {{\[\[}}threadgroup(0)]],
# CHECK-NEXT: uint3 local_id {{\[\[}}thread_position_in_threadgroup]],
# SHARED: threadgroup float memory[64];
# CHECK: precise::sin(
# CHECK: threadgroup_barrier(mem_flags::mem_threadgroup | mem_flags::mem_device);
# LANES: = simd_shuffle(as_type<int>({{.*}}), ushort(5));
# SHARED-NOT: simd_
# CHECK: compare_exchange(&out[words.out_at], {{.*}}as_type<int>(as_type<float>({{.*}}) + 1.5f))
