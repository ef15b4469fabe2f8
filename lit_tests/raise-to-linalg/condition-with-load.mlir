// RUN: %pykern-opt %s --kern-raise-to-linalg --canonicalize --cse | FileCheck %s

// What is loaded under a condition is not loaded outside of its array: the box has no such positions.

// CHECK-LABEL: func.func @load_under_a_condition
// CHECK: %[[LEN:.*]] = memref.dim %arg2
// CHECK: %[[LAST:.*]] = arith.addi %[[LEN]], %c-1
// CHECK: %[[HALF:.*]] = arith.floordivsi %[[LAST]], %c2
// CHECK: %[[COUNT:.*]] = arith.addi %[[HALF]], %c1
// CHECK: arith.minsi %{{.*}}, %[[COUNT]]
// CHECK: linalg.generic
// CHECK: ^bb0(%[[X:.*]]: f32, %[[FLAG:.*]]: f32, %[[OLD:.*]]: f32):
// CHECK: %[[YES:.*]] = arith.cmpf ogt, %[[FLAG]]
// CHECK: arith.select %[[YES]], %[[X]], %[[OLD]]
// CHECK: linalg.generic
// CHECK: ^bb0(%[[FLAG:.*]]: f32, %[[OLD:.*]]: f32):
// CHECK: %[[YES:.*]] = arith.cmpf ogt, %[[FLAG]]
// CHECK: arith.select %[[YES]], %[[OLD]], %{{.*}}
func.func @load_under_a_condition(%arg0: memref<?xf32> {kern.name = "y"},
                                  %arg1: memref<?xf32> {kern.name = "flag"},
                                  %arg2: memref<?xf32> {kern.name = "x"})
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c2 = arith.constant 2 : index
  %cst = arith.constant 0.000000e+00 : f32
  %0 = "kern.global_id"() {dim = 0 : i64} : () -> index
  %1 = memref.load %arg1[%0] : memref<?xf32>
  %2 = arith.cmpf ogt, %1, %cst : f32
  scf.if %2 {
    %3 = arith.muli %0, %c2 : index
    %4 = memref.load %arg2[%3] : memref<?xf32>
    memref.store %4, %arg0[%0] : memref<?xf32>
  } else {
    memref.store %cst, %arg0[%0] : memref<?xf32>
  }
  return
}
