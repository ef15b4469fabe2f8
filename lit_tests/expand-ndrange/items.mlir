// RUN: %pykern-opt %s --kern-expand-ndrange --canonicalize | FileCheck %s

// One loop a dimension; dimension 0 is cut into parts, the last one is innermost.

// CHECK-LABEL: func.func @plain
// CHECK-SAME: (%[[X:.*]]: memref<?x?xf32>, %[[N0:.*]]: index, %[[N1:.*]]: index, %[[LO:.*]]: index, %[[HI:.*]]: index, %{{.*}}: index)
func.func @plain(%x: memref<?x?xf32>) attributes {kern.kernel, kern.plain, kern.rank = 2 : i64} {
  // CHECK: scf.for %[[I:.*]] = %[[LO]] to %[[HI]]
  // CHECK: scf.for %[[J:.*]] = %c0{{.*}} to %[[N1]]
  // CHECK: memref.load %[[X]][%[[I]], %[[J]]]
  %i = "kern.global_id"() {dim = 0} : () -> index
  %j = "kern.global_id"() {dim = 1} : () -> index
  %v = memref.load %x[%i, %j] : memref<?x?xf32>
  memref.store %v, %x[%j, %i] : memref<?x?xf32>
  return
}

// A range: coordinate = start + number * step.

// CHECK-LABEL: func.func @ranged
// CHECK-SAME: (%[[X:.*]]: memref<?xf32>, %{{.*}}: index, %[[START:.*]]: index, %[[STEP:.*]]: index, %[[LO:.*]]: index, %[[HI:.*]]: index, %{{.*}}: index)
func.func @ranged(%x: memref<?xf32>) attributes {kern.kernel, kern.rank = 1 : i64} {
  // CHECK: scf.for %[[I:.*]] = %[[LO]] to %[[HI]]
  // CHECK: %[[M:.*]] = arith.muli %[[I]], %[[STEP]]
  // CHECK: %[[C:.*]] = arith.addi %[[START]], %[[M]]
  // CHECK: memref.load %[[X]][%[[C]]]
  %i = "kern.global_id"() {dim = 0} : () -> index
  %v = memref.load %x[%i] : memref<?xf32>
  memref.store %v, %x[%i] : memref<?xf32>
  return
}

// Ranges of step 1: the loop runs over coordinates.

// CHECK-LABEL: func.func @unit
// CHECK-SAME: (%[[X:.*]]: memref<?xf32>, %{{.*}}: index, %[[START:.*]]: index, %{{.*}}: index, %[[LO:.*]]: index, %[[HI:.*]]: index, %{{.*}}: index)
func.func @unit(%x: memref<?xf32>) attributes {kern.kernel, kern.unit, kern.rank = 1 : i64} {
  // CHECK: %[[FIRST:.*]] = arith.addi %[[START]], %[[LO]]
  // CHECK: %[[END:.*]] = arith.addi %[[START]], %[[HI]]
  // CHECK: scf.for %[[I:.*]] = %[[FIRST]] to %[[END]]
  // CHECK-NEXT: memref.load %[[X]][%[[I]]]
  %i = "kern.global_id"() {dim = 0} : () -> index
  %v = memref.load %x[%i] : memref<?xf32>
  memref.store %v, %x[%i] : memref<?xf32>
  return
}

// Private memory without groups is a local buffer.

// CHECK-LABEL: func.func @private
func.func @private(%x: memref<?xf32>) attributes {kern.kernel, kern.plain, kern.rank = 1 : i64} {
  // CHECK: memref.alloca() : memref<3xf32>
  // CHECK: scf.for
  %c0 = arith.constant 0 : index
  %i = "kern.global_id"() {dim = 0} : () -> index
  %p = "kern.private"() : () -> memref<3xf32, #gpu.address_space<private>>
  %v = memref.load %x[%i] : memref<?xf32>
  memref.store %v, %p[%c0] : memref<3xf32, #gpu.address_space<private>>
  %w = memref.load %p[%c0] : memref<3xf32, #gpu.address_space<private>>
  memref.store %w, %x[%i] : memref<?xf32>
  return
}

// What the launcher asks: the length of dimension 0 (0 where an inner one is empty), and an estimate of the work.

// CHECK-LABEL: func.func @plain.work
// CHECK: arith.muli %arg1, %arg2
// CHECK-LABEL: func.func @plain.extent
// CHECK: %[[EMPTY:.*]] = arith.cmpi eq, %arg2, %c0
// CHECK: arith.select %[[EMPTY]], %c0{{.*}}, %arg1
