// RUN: %pykern-opt %s --split-input-file --kern-lower-atomics | FileCheck %s

// Nobody but the work-items of the launch can meet in the cell: a call that does all of them needs no atomic.

// CHECK-LABEL: func.func @alone
// CHECK-SAME: %[[N:[a-z0-9]+]]: index, %[[LO:[a-z0-9]+]]: index, %[[HI:[a-z0-9]+]]: index
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[LO]], %c0
// CHECK: %[[LAST:.*]] = arith.cmpi eq, %[[HI]], %[[N]]
// CHECK: %[[ALONE:.*]] = arith.andi %[[FIRST]], %[[LAST]]
// CHECK: scf.if %[[ALONE]]
// CHECK-NOT: llvm.atomicrmw
// CHECK: memref.store
// CHECK: else
// CHECK: llvm.atomicrmw fadd
func.func @alone(%x: memref<?xf64>, %n: index, %lo: index, %hi: index, %report: index)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f64
  %old = "kern.atomic_rmw"(%one, %x, %c0) {kind = "add", kern.launch_scope} : (f64, memref<?xf64>, index) -> f64
  return
}

// -----

// A user's atomic may meet other launches.

// CHECK-LABEL: func.func @others
// CHECK-NOT: scf.if
// CHECK: llvm.atomicrmw fadd
func.func @others(%x: memref<?xf64>, %n: index, %lo: index, %hi: index, %report: index)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f64
  %old = "kern.atomic_rmw"(%one, %x, %c0) {kind = "add"} : (f64, memref<?xf64>, index) -> f64
  return
}
