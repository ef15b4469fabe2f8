# RUN: %python %s source:c+comments | FileCheck %s --check-prefix=C
# RUN: %python %s opencl-c | FileCheck %s --check-prefix=OPENCL
# RUN: %python %s cuda-cpp | FileCheck %s --check-prefix=CUDA
# RUN: %python %s hip-cpp | FileCheck %s --check-prefix=CUDA
# RUN: %python %s msl | FileCheck %s --check-prefix=MSL
# RUN: %python %s wgsl | FileCheck %s --check-prefix=WGSL
"""One kernel in every language: its names, a loop that carries a sum, a branch."""

import sys

import pykern as pk


@pk.kernel
def smoothed(out, x, weight):
    row = pk.index()
    total = pk.f32(0)
    for k in range(x.shape[1]):
        if x[row, k] > 0:
            total += weight * x[row, k]
    out[row] = total


print(
    smoothed.lower(pk.spec((64,), pk.f32), pk.spec((64, 9), pk.f32), 2.0, ndrange=64, target=sys.argv[1])
    .compile()
    .source
)

# OPENCL: __kernel __attribute__((reqd_work_group_size(256, 1, 1)))
# OPENCL-NEXT: void smoothed(
# OPENCL-NEXT: __global float *out,
# OPENCL: __global const float *x,
# OPENCL: float weight
# OPENCL: const int row = (int)get_group_id(0) * 256 + (int)get_local_id(0);
# OPENCL-NEXT: if (row < 64) {
# OPENCL-NEXT: float total = 0.0f;
# OPENCL-NEXT: for (int k = 0; k < 9; k++) {
# OPENCL-NEXT: const int [[AT:.*]] = row * 9 + k;
# OPENCL-NEXT: if (x{{\[}}[[AT]]] > 0.0f) {
# OPENCL-NEXT: total = total + weight * x{{\[}}[[AT]]];
# OPENCL: out[row] = total;

# C: #include <stdint.h>
# C: void smoothed(
# C-NEXT: float *restrict out,
# C-NEXT: const float *restrict x,
# C-NEXT: float weight
# C-NEXT: ) {
# C-NEXT: #pragma omp parallel for schedule(static)
# C-NEXT: for (int32_t row = 0; row < 64; row++) {
# C: // for k in range(x.shape[1]):
# C-NEXT: float total = 0.0f;
# C-NEXT: for (int32_t k = 0; k < 9; k++) {
# C-NEXT: // if x[row, k] > 0:
# C: if (x[
# C-NEXT: total = total + weight * x[
# C: // out[row] = total
# C-NEXT: out[row] = total;

# CUDA: extern "C" __global__ void __launch_bounds__(256) smoothed(
# CUDA-NEXT: float *__restrict__ out,
# CUDA: const int row = (int)blockIdx.x * 256 + (int)threadIdx.x;
# CUDA: total = total + weight * x[

# MSL: struct Words {
# MSL: float weight;
# MSL: kernel void smoothed(
# MSL-NEXT: device float *out {{\[\[}}buffer(0)]],
# MSL-NEXT: device const float *x {{\[\[}}buffer(1)]],
# MSL: const int row = (int)group_id.x * 256 + (int)local_id.x;
# MSL: total = total + words.weight * x[

# WGSL: @group(0) @binding(0) var<storage, read_write> out{{.*}}: array<f32>;
# WGSL-NEXT: @group(0) @binding(1) var<storage, read> x: array<f32>;
# WGSL: @compute @workgroup_size(256, 1, 1)
# WGSL: let row = i32(group_id.x) * 256 + i32(local_id.x);
# WGSL: var total: f32 = 0.0f;
# WGSL-NEXT: for (var k: i32 = 0; k < 9; k++) {
# WGSL: total = total + words.weight * x[
