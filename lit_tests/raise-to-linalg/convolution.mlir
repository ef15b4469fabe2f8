// RUN: %pykern-opt %s --kern-raise-to-linalg --canonicalize --cse | FileCheck %s

// A window over an array has a name.

// CHECK-LABEL: func.func @convolution
// CHECK: linalg.fill
// CHECK: linalg.conv_1d ins(%{{.*}}, %{{.*}} : tensor<?xf32>, tensor<?xf32>)
// CHECK-NOT: scf.for
func.func @convolution(%arg0: memref<?xf32> {kern.name = "y"},
                       %arg1: memref<?xf32> {kern.name = "x"},
                       %arg2: memref<?xf32> {kern.name = "w"})
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %cst = arith.constant 0.000000e+00 : f32
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  %0 = "kern.global_id"() {dim = 0 : i64} : () -> index
  %dim = memref.dim %arg2, %c0 : memref<?xf32>
  %1 = scf.for %arg3 = %c0 to %dim step %c1 iter_args(%arg4 = %cst) -> (f32) {
    %2 = arith.addi %0, %arg3 : index
    %3 = memref.load %arg1[%2] : memref<?xf32>
    %4 = memref.load %arg2[%arg3] : memref<?xf32>
    %5 = arith.mulf %3, %4 fastmath<contract> : f32
    %6 = arith.addf %arg4, %5 fastmath<contract> : f32
    scf.yield %6 : f32
  }
  memref.store %1, %arg0[%0] : memref<?xf32>
  return
}
