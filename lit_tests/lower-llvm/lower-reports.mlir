// RUN: %pykern-opt %s --kern-lower-reports | FileCheck %s

// The report's address is the kernel's last argument. The first failure of a launch writes its site's number plus one.

// CHECK-LABEL: func.func @assertion
// CHECK-NOT: kern.assert
// CHECK: %[[SITE:.*]] = arith.constant 3 : i64
// CHECK: %[[REPORT:.*]] = arith.index_cast %arg1 : index to i64
// CHECK: %[[FAILED:.*]] = arith.cmpi eq, %arg0, %false
// CHECK: scf.if %[[FAILED]]
// CHECK: llvm.call @kern.fail.0(%[[REPORT]], %[[SITE]])
func.func @assertion(%good: i1, %report: index) attributes {kern.kernel, kern.rank = 1 : i64} {
  "kern.assert"(%good) {site = 3 : i64, message = ""} : (i1) -> ()
  return
}

// Whether the time is over is read from memory each time: another thread says so.

// CHECK-LABEL: func.func @timeout
// CHECK: %[[VALUE:.*]] = llvm.load volatile
// CHECK: arith.cmpi ne, %[[VALUE]], %{{.*}} : i64
func.func @timeout(%x: memref<1xi1>, %report: index) attributes {kern.kernel, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %over = "kern.expired"() : () -> i1
  memref.store %over, %x[%c0] : memref<1xi1>
  return
}

// CHECK-LABEL: llvm.func internal @kern.fail.0(%arg0: i64, %arg1: i64)
// CHECK: %[[MARK:.*]] = llvm.add %arg1, %{{.*}} : i64
// CHECK: llvm.cmpxchg %{{.*}}, %{{.*}}, %[[MARK]] acq_rel monotonic
