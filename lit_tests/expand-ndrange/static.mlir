// RUN: %pykern-opt %s --kern-check-bounds --kern-expand-ndrange --canonicalize --int-range-optimizations --canonicalize | FileCheck %s

// A static ndrange inside of a static shape: every bounds test is dead.

// CHECK-LABEL: func.func @inside
// CHECK: scf.for
// CHECK: scf.for
// CHECK-NOT: kern.report_bounds
// CHECK: memref.store
// CHECK-NOT: kern.report_bounds
// CHECK-LABEL: func.func @outside
// CHECK: kern.report_bounds
func.func @inside(%x: memref<64x32xf32>, %a: f32)
    attributes {kern.kernel, kern.plain, kern.rank = 2 : i64, kern.ndrange = array<i64: 64, 32>} {
  %i = "kern.global_id"() {dim = 0} : () -> index
  %j = "kern.global_id"() {dim = 1} : () -> index
  memref.store %a, %x[%i, %j] : memref<64x32xf32>
  return
}

// One more than there is: the test stays.

func.func @outside(%x: memref<64x32xf32>, %a: f32)
    attributes {kern.kernel, kern.plain, kern.rank = 2 : i64, kern.ndrange = array<i64: 65, 32>} {
  %i = "kern.global_id"() {dim = 0} : () -> index
  %j = "kern.global_id"() {dim = 1} : () -> index
  memref.store %a, %x[%i, %j] : memref<64x32xf32>
  return
}
