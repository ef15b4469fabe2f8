// RUN: %pykern-opt %s --kern-expand-ndrange --canonicalize --cse | FileCheck %s

// A barrier ends one loop over the work-items and begins the next; shared memory is a buffer.

// CHECK-LABEL: func.func @reverse
// CHECK: %[[T:.*]] = memref.alloca() {alignment = 64 : i64} : memref<16xf32>
// CHECK: scf.for
// CHECK: %[[ACTIVE:.*]] = arith.minsi
// CHECK: scf.for %[[L:.*]] = %c0{{.*}} to %[[ACTIVE]]
// CHECK: memref.store %{{.*}}, %[[T]][%[[L]]]
// CHECK: scf.for %[[M:.*]] = %c0{{.*}} to %[[ACTIVE]]
// CHECK: %[[R:.*]] = arith.subi %c15{{.*}}, %[[M]]
// CHECK: memref.load %[[T]][%[[R]]]
// CHECK-NOT: "kern.
func.func @reverse(%x: memref<?xf32>) attributes {kern.kernel, kern.plain, kern.rank = 1 : i64, kern.workgroup = array<i64: 16>} {
  %c15 = arith.constant 15 : index
  %t = "kern.shared"() : () -> memref<16xf32, #gpu.address_space<workgroup>>
  %i = "kern.global_id"() {dim = 0} : () -> index
  %l = "kern.local_id"() {dim = 0} : () -> index
  %v = memref.load %x[%i] : memref<?xf32>
  memref.store %v, %t[%l] : memref<16xf32, #gpu.address_space<workgroup>>
  "kern.barrier"() : () -> ()
  %r = arith.subi %c15, %l : index
  %w = memref.load %t[%r] : memref<16xf32, #gpu.address_space<workgroup>>
  memref.store %w, %x[%i] : memref<?xf32>
  return
}

// A value that lives across the barrier gets one cell a work-item; an index is computed again instead.

// CHECK-LABEL: func.func @crosses
// CHECK: %[[SLOT:.*]] = memref.alloca() {alignment = 64 : i64} : memref<8xf32>
// CHECK-NOT: memref.alloca
// CHECK: scf.for
// CHECK: scf.for %[[L:.*]] =
// CHECK: %[[V:.*]] = memref.load
// CHECK: memref.store %[[V]], %[[SLOT]][%[[L]]]
// CHECK: scf.for %[[M:.*]] =
// CHECK: memref.load %[[SLOT]][%[[M]]]
func.func @crosses(%x: memref<?xf32>) attributes {kern.kernel, kern.plain, kern.rank = 1 : i64, kern.workgroup = array<i64: 8>} {
  %c1 = arith.constant 1 : index
  %i = "kern.global_id"() {dim = 0} : () -> index
  %next = arith.addi %i, %c1 : index
  %v = memref.load %x[%next] : memref<?xf32>
  "kern.barrier"() : () -> ()
  memref.store %v, %x[%next] : memref<?xf32>
  return
}

// A uniform loop with a barrier stays one loop for the group; what it carries for each work-item is kept.

// CHECK-LABEL: func.func @uniform_loop
// CHECK: %[[ACC:.*]] = memref.alloca() {alignment = 64 : i64} : memref<8xf32>
// CHECK: scf.for
// CHECK: memref.store %{{.*}}, %[[ACC]]
// CHECK: scf.for %[[K:.*]] = %c0{{.*}} to %arg1
// CHECK: scf.for
// CHECK: memref.load %[[ACC]]
func.func @uniform_loop(%x: memref<?xf32>, %n: index) attributes {kern.kernel, kern.plain, kern.rank = 1 : i64, kern.workgroup = array<i64: 8>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %i = "kern.global_id"() {dim = 0} : () -> index
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (f32) {
    "kern.barrier"() : () -> ()
    %v = memref.load %x[%i] : memref<?xf32>
    %s = arith.addf %acc, %v : f32
    scf.yield %s : f32
  }
  memref.store %sum, %x[%i] : memref<?xf32>
  return
}
