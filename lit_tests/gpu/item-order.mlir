// RUN: %pykern-opt %s --kern-place-work-items --canonicalize --cse | FileCheck %s

// The first dimension lies along memory: with a square group the two ids of the hardware change places.

// CHECK-LABEL: func.func @image
// CHECK-SAME: kern.item_order = array<i64: 1, 0>
// CHECK-SAME: kern.workgroup = array<i64: 16, 16>
// CHECK-DAG: %[[TX:.*]] = gpu.thread_id x
// CHECK-DAG: %[[TY:.*]] = gpu.thread_id y
// CHECK-DAG: %[[BX:.*]] = gpu.block_id x
// CHECK-DAG: %[[BY:.*]] = gpu.block_id y
// CHECK: %[[X:.*]] = arith.addi %{{.*}}, %[[TX]]
// CHECK: %[[Y:.*]] = arith.addi %{{.*}}, %[[TY]]
// CHECK-NOT: arith.remui
// CHECK: memref.load %{{.*}}[%[[Y]], %[[X]]]
func.func @image(%x: memref<?x?xf32>) attributes {kern.kernel, kern.plain, kern.rank = 2 : i64} {
  %i = "kern.global_id"() {dim = 0} : () -> index
  %j = "kern.global_id"() {dim = 1} : () -> index
  %v = memref.load %x[%j, %i] : memref<?x?xf32>
  memref.store %v, %x[%j, %i] : memref<?x?xf32>
  return
}

// A group that the launch names keeps its shape: its work-items are numbered anew. Loops that begin at an id go along memory as
// it does.

// CHECK-LABEL: func.func @named
// CHECK-SAME: kern.item_order = array<i64: 1, 0>
// CHECK-SAME: kern.workgroup = array<i64: 32, 8>
// CHECK: %[[ROW:.*]] = arith.muli %thread_id_y, %c8
// CHECK: %[[N:.*]] = arith.addi %[[ROW]], %thread_id_x
// CHECK: arith.remui %[[N]], %c32{{.*}} {kern.range = array<i64: 0, 31>}
// CHECK: arith.divui %[[N]], %c32{{.*}} {kern.range = array<i64: 0, 7>}
func.func @named(%x: memref<?x?xf32>, %n: index, %step: index) attributes {kern.kernel, kern.plain, kern.rank = 2 : i64, kern.workgroup = array<i64: 32, 8>} {
  %c = arith.constant 1.0 : f32
  %i = "kern.global_id"() {dim = 0} : () -> index
  %j = "kern.global_id"() {dim = 1} : () -> index
  scf.for %k = %i to %n step %step {
    memref.store %c, %x[%j, %k] : memref<?x?xf32>
  }
  return
}

// As much goes along the last dimension, so the order stays; and where lanes are seen, and tapes, whose slots are numbered.

// CHECK-LABEL: func.func @transposition
// CHECK-NOT: kern.item_order
// CHECK-SAME: kern.workgroup = array<i64: 4, 64>
func.func @transposition(%x: memref<?x?xf32>, %y: memref<?x?xf32>) attributes {kern.kernel, kern.plain, kern.rank = 2 : i64} {
  %i = "kern.global_id"() {dim = 0} : () -> index
  %j = "kern.global_id"() {dim = 1} : () -> index
  %v = memref.load %x[%j, %i] : memref<?x?xf32>
  memref.store %v, %y[%i, %j] : memref<?x?xf32>
  return
}

// CHECK-LABEL: func.func @lanes
// CHECK-NOT: kern.item_order
// CHECK: return
func.func @lanes(%x: memref<?x?xindex>) attributes {kern.kernel, kern.plain, kern.rank = 2 : i64} {
  %i = "kern.global_id"() {dim = 0} : () -> index
  %j = "kern.global_id"() {dim = 1} : () -> index
  %lane = "kern.lane_id"() : () -> index
  memref.store %lane, %x[%j, %i] : memref<?x?xindex>
  return
}

// What is in a loop weighs more than what is outside; memory of the group does not count.

// CHECK-LABEL: func.func @tile
// CHECK-SAME: kern.item_order = array<i64: 1, 0>
func.func @tile(%x: memref<?x?xf32>, %y: memref<?x?xf32>, %n: index) attributes {kern.kernel, kern.plain, kern.rank = 2 : i64, kern.workgroup = array<i64: 8, 8>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile = "kern.shared"() : () -> memref<8x8xf32, #gpu.address_space<workgroup>>
  %i = "kern.global_id"() {dim = 0} : () -> index
  %j = "kern.global_id"() {dim = 1} : () -> index
  %ti = "kern.local_id"() {dim = 0} : () -> index
  %tj = "kern.local_id"() {dim = 1} : () -> index
  scf.for %k = %c0 to %n step %c1 {
    %v = memref.load %x[%k, %i] : memref<?x?xf32>
    memref.store %v, %tile[%ti, %tj] : memref<8x8xf32, #gpu.address_space<workgroup>>
  }
  %w = memref.load %y[%i, %j] : memref<?x?xf32>
  memref.store %w, %y[%i, %j] : memref<?x?xf32>
  return
}

// Too few work-items along that dimension to fill a square.

// CHECK-LABEL: func.func @channels
// CHECK-NOT: kern.item_order
// CHECK: return
func.func @channels(%x: memref<?x3xf32>) attributes {kern.kernel, kern.ndrange = array<i64: 3, 500>, kern.plain, kern.rank = 2 : i64} {
  %c = arith.constant 1.0 : f32
  %i = "kern.global_id"() {dim = 0} : () -> index
  %j = "kern.global_id"() {dim = 1} : () -> index
  memref.store %c, %x[%j, %i] : memref<?x3xf32>
  return
}
