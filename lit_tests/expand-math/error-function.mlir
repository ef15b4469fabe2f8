// RUN: %pykern-opt %s --kern-expand-math | FileCheck %s

// A polynomial near 0, one in an exponential further out: both are computed, one is selected.

// CHECK-LABEL: func.func @erf_f64(
// CHECK: math.fma
// CHECK: arith.select
// CHECK-NOT: math.erf
// CHECK: math.copysign
// CHECK: return
func.func @erf_f64(%x0: f64) -> f64 {
  %r = math.erf %x0 : f64
  return %r : f64
}

// CHECK-LABEL: func.func @erfc_f32(
// CHECK: arith.extf
// CHECK-NOT: math.erf
// CHECK: arith.truncf
// CHECK: return
func.func @erfc_f32(%x0: f32) -> f32 {
  %r = math.erfc %x0 : f32
  return %r : f32
}

// In f32 one quotient of polynomials: no branch, no exponential.

// CHECK-LABEL: func.func @erf_f32(
// CHECK-NOT: math.copysign
// CHECK: %[[Q:.*]] = arith.divf
// CHECK-NEXT: %{{.*}} = arith.constant 2.500000e-01 : f32
// CHECK-NEXT: %[[X:.*]] = arith.mulf
// CHECK-NEXT: math.fma %[[Q]], %{{.*}}, %[[X]]
// CHECK: return
func.func @erf_f32(%x0: f32) -> f32 {
  %r = math.erf %x0 : f32
  return %r : f32
}
