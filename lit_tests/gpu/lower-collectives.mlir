// RUN: %pykern-opt %s --kern-lower-collectives --canonicalize --cse | FileCheck %s

// Through one cell of shared memory a work-item: halves are added until one cell is left.

// CHECK-LABEL: func.func @sum
// CHECK: %[[CELLS:.*]] = "kern.shared"() : () -> memref<4xf32, #gpu.address_space<workgroup>>
// CHECK: gpu.barrier
// CHECK-NEXT: memref.store %arg1, %[[CELLS]]
// CHECK-NEXT: gpu.barrier
// CHECK-COUNT-2: arith.addf
// CHECK: %[[SUM:.*]] = memref.load %[[CELLS]][%c0
// CHECK: memref.store %[[SUM]], %arg0
func.func @sum(%x: memref<?xf32>, %v: f32) attributes {kern.kernel, kern.rank = 1 : i64, kern.workgroup = array<i64: 4>} {
  %c0 = arith.constant 0 : index
  %s = "kern.group_reduce"(%v) {kind = "add"} : (f32) -> f32
  memref.store %s, %x[%c0] : memref<?xf32>
  return
}

// CHECK-LABEL: func.func @barrier
// CHECK: gpu.barrier
// CHECK-NOT: kern.barrier
func.func @barrier() attributes {kern.kernel, kern.rank = 1 : i64, kern.workgroup = array<i64: 4>} {
  "kern.barrier"() : () -> ()
  return
}
