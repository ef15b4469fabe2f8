// RUN: %pykern-opt %s --kern-version-groups | FileCheck %s

// A group whose last work-item is inside of the launch runs the loop with its barrier as it is; others ask who is there.

// CHECK-LABEL: func.func @tiles
// CHECK: %[[INSIDE:.*]] = arith.cmpi slt
// CHECK: %[[C63:.*]] = arith.constant 63 : index
// CHECK: %[[LAST:.*]] = arith.addi %[[FIRST:.*]], %[[C63]] : index
// CHECK: %[[FULL:.*]] = arith.cmpi slt, %[[LAST]], %[[COUNT:.*]] : index
// CHECK: scf.if %[[FULL]] {
// CHECK-NEXT: scf.for
// CHECK: "kern.barrier"
// CHECK: } else {
// CHECK-NEXT: scf.if %[[INSIDE]] {
// CHECK-NEXT: "kern.guard"
// CHECK-NEXT: scf.for
// CHECK: "kern.barrier"
func.func @tiles(%x: memref<?xf32>, %count: index) attributes {kern.kernel, kern.rank = 1 : i64, kern.workgroup = array<i64: 64>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %local = gpu.thread_id x {kern.range = array<i64: 0, 63>}
  %group = gpu.block_id x
  %first = arith.muli %group, %c64 : index
  %item = arith.addi %first, %local : index
  %inside = arith.cmpi slt, %item, %count : index
  scf.if %inside {
    "kern.guard"() : () -> ()
    scf.for %k = %c0 to %count step %c1 {
      %v = memref.load %x[%k] : memref<?xf32>
      "kern.barrier"() : () -> ()
      memref.store %v, %x[%item] : memref<?xf32>
    }
  }
  return
}

// Without a loop around the barrier nothing is gained, and a body with an array of its own is not written twice.

// CHECK-LABEL: func.func @once
// CHECK-COUNT-1: "kern.barrier"
// CHECK-NOT: "kern.barrier"
// CHECK-LABEL: func.func @array
// CHECK-COUNT-1: "kern.barrier"
// CHECK-NOT: "kern.barrier"
func.func @once(%x: memref<?xf32>, %count: index, %v: f32) attributes {kern.kernel, kern.rank = 1 : i64, kern.workgroup = array<i64: 64>} {
  %local = gpu.thread_id x {kern.range = array<i64: 0, 63>}
  %item = arith.addi %count, %local : index
  %inside = arith.cmpi slt, %item, %count : index
  scf.if %inside {
    "kern.guard"() : () -> ()
    "kern.barrier"() : () -> ()
    memref.store %v, %x[%item] : memref<?xf32>
  }
  return
}
func.func @array(%x: memref<?xf32>, %count: index, %v: f32) attributes {kern.kernel, kern.rank = 1 : i64, kern.workgroup = array<i64: 64>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %local = gpu.thread_id x {kern.range = array<i64: 0, 63>}
  %item = arith.addi %count, %local : index
  %inside = arith.cmpi slt, %item, %count : index
  scf.if %inside {
    "kern.guard"() : () -> ()
    %own = "kern.private"() : () -> memref<4xf32, #gpu.address_space<private>>
    scf.for %k = %c0 to %count step %c1 {
      memref.store %v, %own[%c0] : memref<4xf32, #gpu.address_space<private>>
      "kern.barrier"() : () -> ()
      memref.store %v, %x[%item] : memref<?xf32>
    }
  }
  return
}
