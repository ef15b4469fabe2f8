// RUN: %pykern-opt %s --kern-check-bounds | FileCheck %s

// A load outside gives 0 and is reported; a store outside is left out.

// CHECK-LABEL: func.func @copy
func.func @copy(%x: memref<?xf32> {kern.name = "x"}, %y: memref<?x?xf32> {kern.name = "y"})
    attributes {kern.kernel, kern.plain, kern.rank = 1 : i64} {
  %i = "kern.global_id"() {dim = 0} : () -> index
  // CHECK: %[[N:.*]] = memref.dim %arg0
  // CHECK: %[[OK:.*]] = arith.cmpi ult, %[[I:.*]], %[[N]]
  // CHECK: %[[V:.*]] = scf.if %[[OK]] -> (f32) {
  // CHECK-NEXT: memref.load %arg0[%[[I]]]
  // CHECK: } else {
  // CHECK-NEXT: "kern.report_bounds"(%[[I]], %[[N]]) {array = "x"}
  // CHECK: arith.constant 0.000000e+00
  %v = memref.load %x[%i] : memref<?xf32>
  // CHECK: arith.cmpi ult
  // CHECK: arith.cmpi ult
  // CHECK: arith.andi
  // CHECK: scf.if
  // CHECK-NEXT: memref.store %[[V]]
  // CHECK: "kern.report_bounds"({{.*}}) {array = "y"} : (index, index, index, index) -> ()
  memref.store %v, %y[%i, %i] : memref<?x?xf32>
  return
}

// CHECK-LABEL: func.func @atomic
func.func @atomic(%x: memref<?xi32>, %v: i32) attributes {kern.kernel, kern.plain, kern.rank = 1 : i64} {
  %i = "kern.global_id"() {dim = 0} : () -> index
  // CHECK: scf.if {{.*}} -> (i32)
  // CHECK-NEXT: "kern.atomic_rmw"
  %old = "kern.atomic_rmw"(%v, %x, %i) {kind = "add"} : (i32, memref<?xi32>, index) -> i32
  return
}
