// RUN: %pykern-opt %s --kern-raise-to-linalg --canonicalize --cse | FileCheck %s

// A condition on two indices is a select over the box.

// CHECK-LABEL: func.func @affine
// CHECK: linalg.generic
// CHECK: %[[J:.*]] = linalg.index 1
// CHECK: %[[RIGHT:.*]] = arith.addi %[[J]], %c3
// CHECK: %[[I:.*]] = linalg.index 0
// CHECK: %[[LEFT:.*]] = arith.muli %[[I]], %c2
// CHECK: %[[IN:.*]] = arith.cmpi slt, %[[LEFT]], %[[RIGHT]]
// CHECK: arith.select %[[IN]]
func.func @affine(%arg0: memref<?x?xf32> {kern.name = "y"}, %arg1: memref<?x?xf32> {kern.name = "x"})
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 2 : i64} {
  %c3 = arith.constant 3 : index
  %c2 = arith.constant 2 : index
  %0 = "kern.global_id"() {dim = 1 : i64} : () -> index
  %1 = "kern.global_id"() {dim = 0 : i64} : () -> index
  %2 = arith.muli %1, %c2 : index
  %3 = arith.addi %0, %c3 : index
  %4 = arith.cmpi slt, %2, %3 : index
  scf.if %4 {
    %5 = memref.load %arg1[%1, %0] : memref<?x?xf32>
    memref.store %5, %arg0[%1, %0] : memref<?x?xf32>
  }
  return
}
