// RUN: %pykern-opt %s --kern-raise-to-linalg --canonicalize --cse | FileCheck %s

// Multiply and add, and nothing else.

// CHECK-LABEL: func.func @fma
// CHECK: ^bb0
// CHECK-NEXT: arith.mulf
// CHECK-NEXT: arith.addf
// CHECK-NEXT: linalg.yield
// CHECK-NOT: linalg.generic
// CHECK-NOT: scf.for
func.func @fma(%arg0: memref<?xf32> {kern.name = "y"}, %arg1: memref<?xf32> {kern.name = "x"})
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %cst = arith.constant 2.000000e+00 : f32
  %0 = "kern.global_id"() {dim = 0 : i64} : () -> index
  %1 = memref.load %arg0[%0] : memref<?xf32>
  %2 = memref.load %arg1[%0] : memref<?xf32>
  %3 = arith.mulf %1, %2 fastmath<contract> : f32
  %4 = arith.addf %3, %cst fastmath<contract> : f32
  memref.store %4, %arg0[%0] : memref<?xf32>
  return
}
