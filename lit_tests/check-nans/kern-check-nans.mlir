// RUN: %pykern-opt %s --kern-check-nans | FileCheck %s

// CHECK-LABEL: func.func @divide
// CHECK: %[[A:.*]] = memref.load
// CHECK-NOT: kern.report_nan
// CHECK: %[[Q:.*]] = arith.divf %[[A]], %[[B:.*]] : f32
// CHECK: %[[NAN:.*]] = arith.cmpf uno, %[[Q]], %[[Q]] : f32
// CHECK: arith.cmpf uno, %[[A]], %[[A]]
// CHECK: arith.cmpf uno, %[[B]], %[[B]]
// CHECK: scf.if
// CHECK: %[[ID:.*]] = "kern.global_id"() {dim = 0 : i64}
// CHECK: %[[WIDE:.*]] = arith.extf %[[A]] : f32 to f64
// CHECK: arith.bitcast %[[WIDE]] : f64 to i64
// CHECK: "kern.report_nan"({{.*}}) {rank = 1 : i64} : (i64, i64, i64) -> ()
// CHECK: math.sqrt
// CHECK: "kern.report_nan"({{.*}}) {rank = 1 : i64} : (i64, i64) -> ()
// CHECK: memref.store
func.func @divide(%x: memref<?xf32>, %b: f32) attributes {kern.kernel, kern.plain, kern.rank = 1 : i64} {
  %i = "kern.global_id"() {dim = 0 : i64} : () -> index
  %a = memref.load %x[%i] : memref<?xf32>
  %q = arith.divf %a, %b : f32
  %r = math.sqrt %q : f32
  memref.store %r, %x[%i] : memref<?xf32>
  return
}

// What only passes a NaN on, or has no float among its operands, is not looked at.
// CHECK-LABEL: func.func @passes_on
// CHECK-NOT: kern.report_nan
func.func @passes_on(%x: memref<?xf64>, %n: i64, %c: i1) attributes {kern.kernel, kern.plain, kern.rank = 1 : i64} {
  %i = "kern.global_id"() {dim = 0 : i64} : () -> index
  %a = memref.load %x[%i] : memref<?xf64>
  %f = arith.sitofp %n : i64 to f64
  %s = arith.select %c, %a, %f : f64
  %m = arith.negf %s : f64
  memref.store %m, %x[%i] : memref<?xf64>
  return
}
