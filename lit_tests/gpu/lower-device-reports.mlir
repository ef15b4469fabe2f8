// RUN: %pykern-opt %s --kern-lower-device-reports --canonicalize --cse | FileCheck %s

// The report is the last argument. The first failure takes the ticket and writes its site's number + 1.

// CHECK-LABEL: func.func @assertion
// CHECK-SAME: , %[[R:[a-z0-9]+]]: memref<32xi32>
// CHECK-SAME: kern.report
// CHECK: %[[FAILED:.*]] = arith.xori %arg1, %true
// CHECK: scf.if %[[FAILED]]
// CHECK: %[[TICKET:.*]] = "kern.atomic_rmw"(%c1_i32, %[[R]], %c30) {kind = "add"}
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[TICKET]], %c0_i32
// CHECK: scf.if %[[FIRST]]
// CHECK: memref.store %c4_i32, %[[R]][%c0]
// CHECK: memref.store %c0_i32, %[[R]][%c1]
func.func @assertion(%x: memref<?xf32>, %good: i1) attributes {kern.kernel, kern.rank = 1 : i64} {
  "kern.assert"(%good) {site = 3 : i64, message = ""} : (i1) -> ()
  return
}

// CHECK-LABEL: func.func @nothing
// CHECK-NOT: memref<32xi32>
// CHECK: return
func.func @nothing(%x: memref<?xf32>) attributes {kern.kernel, kern.rank = 1 : i64} {
  return
}
