// RUN: %pykern-opt %s --kern-expand-ndrange | FileCheck %s

// Shared memory sized at launch: one buffer a thread, in front of the groups; its length is counted.

// CHECK-LABEL: func.func @reverse
// CHECK-SAME: %[[BYTES:[a-z0-9]+]]: index, %{{.*}}: index, %{{.*}}: index, %{{.*}}: index, %{{.*}}: index)
// CHECK: %[[N:.*]] = arith.divui %[[BYTES]], %c4
// CHECK: %[[BUFFER:.*]] = memref.alloc(%[[N]]) {alignment = 64 : i64} : memref<?xf32>
// CHECK: scf.for
// CHECK: %[[LENGTH:.*]] = arith.divui %[[BYTES]], %c4
// CHECK: arith.subi %[[LENGTH]], %c1
// CHECK: scf.for
// CHECK: memref.store %{{.*}}, %[[BUFFER]]
// CHECK: scf.for
// CHECK: memref.load %[[BUFFER]]
// CHECK: memref.dealloc %[[BUFFER]]
// CHECK-NEXT: return
func.func @reverse(%x: memref<?xf32>, %bytes: index)
    attributes {kern.kernel, kern.plain, kern.rank = 1 : i64, kern.workgroup = array<i64: 16>} {
  %s = "kern.dynamic_shared"(%bytes) : (index) -> memref<?xf32, #gpu.address_space<workgroup>>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %s, %c0 : memref<?xf32, #gpu.address_space<workgroup>>
  %last = arith.subi %n, %c1 : index
  %i = "kern.global_id"() {dim = 0 : i64} : () -> index
  %l = "kern.local_id"() {dim = 0 : i64} : () -> index
  %v = memref.load %x[%i] : memref<?xf32>
  memref.store %v, %s[%l] : memref<?xf32, #gpu.address_space<workgroup>>
  "kern.barrier"() : () -> ()
  %m = arith.subi %last, %l : index
  %w = memref.load %s[%m] : memref<?xf32, #gpu.address_space<workgroup>>
  memref.store %w, %x[%i] : memref<?xf32>
  return
}
