// RUN: %pykern-opt %s --kern-aggregate-atomics | FileCheck %s
// RUN: %pykern-opt %s --pass-pipeline="builtin.module(kern-aggregate-atomics{floats-only=true})" | FileCheck %s --check-prefix=FLOATS

// All work-items add to one cell: the lanes of a subgroup join their values, the first one makes the access.

// CHECK-LABEL: func.func @total
// CHECK: %[[LANE:.*]] = arith.remui
// CHECK: "kern.guard"
// CHECK: %[[V:.*]] = memref.load
// CHECK: %[[SUM:.*]] = "kern.subgroup_reduce"(%[[V]]) {kind = "add"} : (f32) -> f32
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[LANE]]
// CHECK: scf.if %[[FIRST]] {
// CHECK-NEXT: "kern.atomic_rmw"(%[[SUM]]
// FLOATS-LABEL: func.func @total
// FLOATS: kern.subgroup_reduce
func.func @total(%x: memref<?xf32>, %t: memref<?xf32>, %count: index) attributes {kern.kernel, kern.rank = 1 : i64, kern.workgroup = array<i64: 64>} {
  %c0 = arith.constant 0 : index
  %item = gpu.thread_id x {kern.range = array<i64: 0, 63>}
  %inside = arith.cmpi slt, %item, %count : index
  scf.if %inside {
    "kern.guard"() : () -> ()
    %v = memref.load %x[%item] : memref<?xf32>
    %old = "kern.atomic_rmw"(%v, %t, %c0) {kind = "add"} : (f32, memref<?xf32>, index) -> f32
  }
  return
}

// At the end of a branch: who does not take it brings what changes nothing. What is subtracted is added up before.
// An assembler that joins integers itself is left to it.

// CHECK-LABEL: func.func @some
// CHECK: %[[MINE:.*]] = scf.if %{{.*}} -> (i32) {
// CHECK: memref.store
// CHECK: scf.yield %[[V:.*]] : i32
// CHECK: } else {
// CHECK: arith.constant 0 : i32
// CHECK: "kern.subgroup_reduce"(%[[MINE]]) {kind = "add"} : (i32) -> i32
// CHECK: "kern.atomic_rmw"
// CHECK-SAME: kind = "sub"
// FLOATS-LABEL: func.func @some
// FLOATS-NOT: kern.subgroup_reduce
// FLOATS-LABEL: func.func @loop
func.func @some(%x: memref<?xi32>, %t: memref<?xi32>, %count: index) attributes {kern.kernel, kern.rank = 1 : i64, kern.workgroup = array<i64: 64>} {
  %c0 = arith.constant 0 : index
  %item = gpu.thread_id x {kern.range = array<i64: 0, 63>}
  %inside = arith.cmpi slt, %item, %count : index
  scf.if %inside {
    "kern.guard"() : () -> ()
    %v = memref.load %x[%item] : memref<?xi32>
    %odd = arith.trunci %v : i32 to i1
    scf.if %odd {
      memref.store %v, %x[%item] : memref<?xi32>
      %old = "kern.atomic_rmw"(%v, %t, %c0) {kind = "sub"} : (i32, memref<?xi32>, index) -> i32
    }
  }
  return
}

// Not in loops, not where the old value is asked for, not where cells differ, and not where the first lane of a subgroup
// may be outside of the launch while others are inside: rows of 24.

// CHECK-LABEL: func.func @loop
// CHECK-NOT: kern.subgroup_reduce
// CHECK: return
func.func @loop(%t: memref<?xf32>, %v: f32, %count: index) attributes {kern.kernel, kern.rank = 1 : i64, kern.workgroup = array<i64: 64>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %k = %c0 to %count step %c1 {
    %old = "kern.atomic_rmw"(%v, %t, %c0) {kind = "add"} : (f32, memref<?xf32>, index) -> f32
  }
  %one = "kern.atomic_rmw"(%v, %t, %c0) {kind = "add"} : (f32, memref<?xf32>, index) -> f32
  memref.store %one, %t[%c1] : memref<?xf32>
  %item = gpu.thread_id x {kern.range = array<i64: 0, 63>}
  %mine = "kern.atomic_rmw"(%v, %t, %item) {kind = "add"} : (f32, memref<?xf32>, index) -> f32
  return
}

// CHECK-LABEL: func.func @rows
// CHECK-NOT: kern.subgroup_reduce
// CHECK: return
func.func @rows(%t: memref<?xf32>, %v: f32) attributes {kern.kernel, kern.rank = 2 : i64, kern.workgroup = array<i64: 4, 24>} {
  %c0 = arith.constant 0 : index
  %old = "kern.atomic_rmw"(%v, %t, %c0) {kind = "add"} : (f32, memref<?xf32>, index) -> f32
  return
}
