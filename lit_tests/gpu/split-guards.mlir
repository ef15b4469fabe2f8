// RUN: %pykern-opt %s --kern-split-guards | FileCheck %s

// What stands before a barrier and what stands behind it become branches of their own.

// CHECK-LABEL: func.func @early_exit
// CHECK: scf.if %arg1
// CHECK-NOT: kern.barrier
// CHECK: memref.store
// CHECK: }
// CHECK-NEXT: "kern.barrier"
// CHECK: scf.if %arg1
// CHECK: memref.load
// CHECK-NOT: kern.guard
func.func @early_exit(%x: memref<?xf32>, %here: i1) attributes {kern.kernel, kern.rank = 1 : i64, kern.workgroup = array<i64: 8>} {
  %i = gpu.thread_id x
  %s = "kern.shared"() : () -> memref<8xf32, #gpu.address_space<workgroup>>
  scf.if %here {
    "kern.guard"() : () -> ()
    %v = memref.load %x[%i] : memref<?xf32>
    memref.store %v, %s[%i] : memref<8xf32, #gpu.address_space<workgroup>>
    "kern.barrier"() : () -> ()
    %w = memref.load %s[%i] : memref<8xf32, #gpu.address_space<workgroup>>
    memref.store %w, %x[%i] : memref<?xf32>
  }
  return
}

// A value that crosses the barrier is the branch's result, zero for those who left; they add nothing to a sum.

// CHECK-LABEL: func.func @crosses
// CHECK: %[[V:.*]] = scf.if %arg1 -> (f32)
// CHECK: else
// CHECK: %[[ZERO:.*]] = arith.constant 0.000000e+00
// CHECK: scf.yield %[[ZERO]]
// CHECK: %[[NEUTRAL:.*]] = arith.constant -0.000000e+00
// CHECK: %[[MINE:.*]] = arith.select %arg1, %[[V]], %[[NEUTRAL]]
// CHECK: "kern.group_reduce"(%[[MINE]])
func.func @crosses(%x: memref<?xf32>, %here: i1) attributes {kern.kernel, kern.rank = 1 : i64, kern.workgroup = array<i64: 8>} {
  %i = gpu.thread_id x
  scf.if %here {
    "kern.guard"() : () -> ()
    %v = memref.load %x[%i] : memref<?xf32>
    %s = "kern.group_reduce"(%v) {kind = "add"} : (f32) -> f32
    memref.store %s, %x[%i] : memref<?xf32>
  }
  return
}
