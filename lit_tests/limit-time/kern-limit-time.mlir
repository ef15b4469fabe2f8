// RUN: %pykern-opt %s --kern-limit-time | FileCheck %s

// CHECK-LABEL: func.func @sum
// CHECK: %[[LATE:.*]] = "kern.expired"() : () -> i1
// CHECK: scf.if %[[LATE]] {
// CHECK-NEXT: "kern.report_timeout"() : () -> ()
// CHECK: } else {
// CHECK: scf.while
// CHECK: %[[MORE:.*]] = arith.cmpi slt
// CHECK: %[[OVER:.*]] = "kern.expired"() : () -> i1
// CHECK: %[[CUT:.*]] = arith.andi %[[MORE]], %[[OVER]]
// CHECK: scf.if %[[CUT]] {
// CHECK-NEXT: "kern.report_timeout"() : () -> ()
// CHECK: %[[GO:.*]] = arith.xori %[[MORE]], %[[CUT]]
// CHECK: scf.condition(%[[GO]])
// CHECK: memref.store
func.func @sum(%x: memref<?xf64>, %n: index) attributes {kern.kernel, kern.plain, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> f64 {
    %v = memref.load %x[%i] : memref<?xf64>
    %t = arith.addf %s, %v : f64
    scf.yield %t : f64
  }
  memref.store %sum, %x[%c0] : memref<?xf64>
  return
}
