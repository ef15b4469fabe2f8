// RUN: %pykern-opt %s --kern-expand-ndrange --canonicalize --cse | FileCheck %s

// The first dimension lies along memory, and is the innermost loop; the part to do is one of the second.

// CHECK-LABEL: func.func @image
// CHECK-SAME: %[[NX:[a-z0-9]+]]: index, %[[NY:[a-z0-9]+]]: index, %[[LO:[a-z0-9]+]]: index, %[[HI:[a-z0-9]+]]: index,
// CHECK-SAME: kern.loop_order = array<i64: 1, 0>
// CHECK: scf.for %[[Y:.*]] = %[[LO]] to %[[HI]]
// CHECK: scf.for %[[X:.*]] = %c0{{.*}} to %[[NX]]
// CHECK: memref.load %{{.*}}[%[[Y]], %[[X]]]
// CHECK: kern.items
func.func @image(%x: memref<?x?xf32>) attributes {kern.kernel, kern.plain, kern.rank = 2 : i64} {
  %i = "kern.global_id"() {dim = 0} : () -> index
  %j = "kern.global_id"() {dim = 1} : () -> index
  %v = memref.load %x[%j, %i] : memref<?x?xf32>
  %w = arith.addf %v, %v : f32
  memref.store %w, %x[%j, %i] : memref<?x?xf32>
  return
}

// Rows of a length that is known when launched: `y * width + x`.

// CHECK-LABEL: func.func @flat
// CHECK-SAME: kern.loop_order = array<i64: 1, 0>
func.func @flat(%x: memref<?xf32>, %width: index) attributes {kern.kernel, kern.plain, kern.rank = 2 : i64} {
  %i = "kern.global_id"() {dim = 0} : () -> index
  %j = "kern.global_id"() {dim = 1} : () -> index
  %row = arith.muli %j, %width : index
  %at = arith.addi %row, %i : index
  %v = memref.load %x[%at] : memref<?xf32>
  %w = arith.addf %v, %v : f32
  memref.store %w, %x[%at] : memref<?xf32>
  return
}

// One array along each dimension: the order stays. So it does where atomics could tell.

// CHECK-LABEL: func.func @transposition
// CHECK-NOT: kern.loop_order
// CHECK: scf.for
func.func @transposition(%o: memref<?x?xf32>, %x: memref<?x?xf32>)
    attributes {kern.kernel, kern.plain, kern.rank = 2 : i64} {
  %i = "kern.global_id"() {dim = 0} : () -> index
  %j = "kern.global_id"() {dim = 1} : () -> index
  %v = memref.load %x[%j, %i] : memref<?x?xf32>
  memref.store %v, %o[%i, %j] : memref<?x?xf32>
  return
}

// CHECK-LABEL: func.func @atomics
// CHECK-NOT: kern.loop_order
// CHECK: scf.for
func.func @atomics(%o: memref<?xf32>, %x: memref<?x?xf32>)
    attributes {kern.kernel, kern.plain, kern.rank = 2 : i64} {
  %i = "kern.global_id"() {dim = 0} : () -> index
  %j = "kern.global_id"() {dim = 1} : () -> index
  %v = memref.load %x[%j, %i] : memref<?x?xf32>
  %before = "kern.atomic_rmw"(%v, %o, %i) {kind = "add"} : (f32, memref<?xf32>, index) -> f32
  return
}

// CHECK-LABEL: func.func @in_order
// CHECK-NOT: kern.loop_order
// CHECK: scf.for
func.func @in_order(%x: memref<?x?xf32>) attributes {kern.kernel, kern.plain, kern.rank = 2 : i64, kern.sequential} {
  %i = "kern.global_id"() {dim = 0} : () -> index
  %j = "kern.global_id"() {dim = 1} : () -> index
  %v = memref.load %x[%j, %i] : memref<?x?xf32>
  %w = arith.addf %v, %v : f32
  memref.store %w, %x[%j, %i] : memref<?x?xf32>
  return
}

// CHECK-LABEL: func.func @image.extent
// CHECK-SAME: %{{[a-z0-9]+}}: memref<?x?xf32>, %[[X:[a-z0-9]+]]: index, %[[Y:[a-z0-9]+]]: index,
// CHECK: arith.cmpi eq, %[[X]], %c0
// CHECK: arith.select %{{.*}}, %c0{{.*}}, %[[Y]]
