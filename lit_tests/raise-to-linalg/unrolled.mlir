// RUN: %pykern-opt %s --kern-raise-to-linalg --canonicalize --cse | FileCheck %s

// An unrolled loop is a chain in one body.

// CHECK-LABEL: func.func @unrolled
// CHECK: linalg.generic {{.*}}["parallel"]
// CHECK-NEXT: ^bb0
// CHECK-COUNT-3: arith.addf
// CHECK-NEXT: linalg.yield
// CHECK-NOT: linalg.generic
func.func @unrolled(%arg0: memref<?xf32> {kern.name = "y"}, %arg1: memref<?xf32> {kern.name = "x"})
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c2 = arith.constant 2 : index
  %c1 = arith.constant 1 : index
  %cst = arith.constant 0.000000e+00 : f32
  %0 = "kern.global_id"() {dim = 0 : i64} : () -> index
  %1 = memref.load %arg1[%0] : memref<?xf32>
  %2 = arith.addf %1, %cst fastmath<contract> : f32
  %3 = arith.addi %0, %c1 : index
  %4 = memref.load %arg1[%3] : memref<?xf32>
  %5 = arith.addf %2, %4 fastmath<contract> : f32
  %6 = arith.addi %0, %c2 : index
  %7 = memref.load %arg1[%6] : memref<?xf32>
  %8 = arith.addf %5, %7 fastmath<contract> : f32
  memref.store %8, %arg0[%0] : memref<?xf32>
  return
}
