# RUN: %python %s | FileCheck %s
"""Complex numbers are pairs of real ones, a complex array is the real array of its parts."""

import numpy as np

import pykern as pk


@pk.jit
def turned(z):
    return z * 1j + 0.5


@pk.kernel
def squared(y, z):
    i = pk.index()
    y[i] = z[i] * z[i]


z = np.ones(8, np.complex64)

# CHECK-LABEL: func.func @turned(%arg0: tensor<8x2xf32>
# CHECK: tensor.extract_slice %arg0[0, 0] [8, 1] [1, 1] : tensor<8x2xf32> to tensor<8xf32>
# CHECK: tensor.extract_slice %arg0[0, 1] [8, 1] [1, 1] : tensor<8x2xf32> to tensor<8xf32>
# CHECK: linalg.generic
# CHECK-NOT: complex
# CHECK: return %{{.*}} : tensor<8x2xf32>
print(turned.lower(z).as_text("kern"))

# CHECK-LABEL: func.func @squared(%arg0: memref<?x?xf32>
# CHECK: memref.load %arg1[%{{.*}}, %{{.*}}] : memref<?x?xf32>
# CHECK: memref.load %arg1[%{{.*}}, %{{.*}}] : memref<?x?xf32>
# CHECK: arith.mulf
# CHECK: arith.subf
# CHECK-NOT: complex
# CHECK: memref.store %{{.*}}, %arg0[%{{.*}}, %{{.*}}] : memref<?x?xf32>
# CHECK: memref.store %{{.*}}, %arg0[%{{.*}}, %{{.*}}] : memref<?x?xf32>
print(squared.lower(z, z, ndrange=8).as_text("kern"))
