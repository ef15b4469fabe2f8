// RUN: %pykern-opt %s --kern-raise-to-linalg --canonicalize --cse | FileCheck %s

// Below the diagonal the new value, above it the old one.

// CHECK-LABEL: func.func @triangular
// CHECK: ^bb0(%[[NEW:.*]]: f32, %[[OLD:.*]]: f32):
// CHECK: %[[I:.*]] = linalg.index 0
// CHECK: %[[J:.*]] = linalg.index 1
// CHECK: %[[IN:.*]] = arith.cmpi sle, %[[J]], %[[I]]
// CHECK: arith.select %[[IN]], %[[NEW]], %[[OLD]]
func.func @triangular(%arg0: memref<?x?xf32> {kern.name = "y"}, %arg1: memref<?x?xf32> {kern.name = "x"})
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 2 : i64} {
  %0 = "kern.global_id"() {dim = 1 : i64} : () -> index
  %1 = "kern.global_id"() {dim = 0 : i64} : () -> index
  %2 = arith.cmpi sle, %0, %1 : index
  scf.if %2 {
    %3 = memref.load %arg1[%1, %0] : memref<?x?xf32>
    memref.store %3, %arg0[%1, %0] : memref<?x?xf32>
  }
  return
}
