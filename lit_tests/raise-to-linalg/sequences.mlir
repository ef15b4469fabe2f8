// RUN: %pykern-opt %s --kern-raise-to-linalg --canonicalize --cse | FileCheck %s

// A recurrence stays a loop, over all work-items at once.

// CHECK-LABEL: func.func @scan
// CHECK: scf.for %[[K:.*]] = %c1 to %{{.*}} step %c1 iter_args(%[[Y:.*]] = %{{.*}}) -> (tensor<?x?xf32>)
// CHECK: tensor.extract_slice %[[Y]][0, %[[K]]] [%arg2, 1] [1, 1]
// CHECK: linalg.generic {{.*}}["parallel"]
// CHECK: %[[NEW:.*]] = tensor.insert_slice
// CHECK: scf.yield %[[NEW]]
func.func @scan(%y: memref<?x?xf32>, %x: memref<?x?xf32>)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c1 = arith.constant 1 : index
  %i = "kern.global_id"() {dim = 0 : i64} : () -> index
  %m = memref.dim %x, %c1 : memref<?x?xf32>
  scf.for %k = %c1 to %m step %c1 {
    %p = arith.subi %k, %c1 : index
    %0 = memref.load %y[%i, %p] : memref<?x?xf32>
    %1 = memref.load %x[%i, %k] : memref<?x?xf32>
    %2 = arith.addf %0, %1 : f32
    memref.store %2, %y[%i, %k] : memref<?x?xf32>
  }
  return
}

// A place that is looked up is taken element by element where it is written, and where it is read not.

// CHECK-LABEL: func.func @histogram
// CHECK: scf.for %[[I:.*]] = %c0 to %arg3 step %c1 iter_args(%[[H:.*]] = %{{.*}}) -> (tensor<?xi32>)
// CHECK: %[[AT:.*]] = arith.index_cast
// CHECK: %[[OLD:.*]] = tensor.extract %[[H]][%[[AT]]]
// CHECK: %[[SUM:.*]] = arith.addi %[[OLD]]
// CHECK: %[[NEW:.*]] = tensor.insert %[[SUM]] into %[[H]][%[[AT]]]
// CHECK: scf.yield %[[NEW]]
func.func @histogram(%h: memref<?xi32>, %x: memref<?xi32>, %w: memref<?xi32>)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %i = "kern.global_id"() {dim = 0 : i64} : () -> index
  %0 = memref.load %x[%i] : memref<?xi32>
  %1 = memref.load %w[%i] : memref<?xi32>
  %2 = arith.index_cast %0 : i32 to index
  %3 = "kern.atomic_rmw"(%1, %h, %2) {kind = "add"} : (i32, memref<?xi32>, index) -> i32
  return
}

// CHECK-LABEL: func.func @gather
// CHECK: linalg.generic
// CHECK-NEXT: ^bb0(%[[AT:.*]]: i32, %{{.*}}: f32):
// CHECK: %[[N:.*]] = arith.index_cast %[[AT]]
// CHECK: tensor.extract %{{.*}}[%[[N]]]
func.func @gather(%y: memref<?xf32>, %x: memref<?xf32>, %index: memref<?xi32>)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %i = "kern.global_id"() {dim = 0 : i64} : () -> index
  %0 = memref.load %index[%i] : memref<?xi32>
  %1 = arith.index_cast %0 : i32 to index
  %2 = memref.load %x[%1] : memref<?xf32>
  memref.store %2, %y[%i] : memref<?xf32>
  return
}
