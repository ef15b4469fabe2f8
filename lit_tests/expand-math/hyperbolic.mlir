// RUN: %pykern-opt %s --kern-expand-math | FileCheck %s

// tanh of f32 is one quotient of polynomials; the others come from e^x.

// CHECK-LABEL: func.func @tanh_f32(
// CHECK-NOT: math.copysign
// CHECK: %[[Q:.*]] = arith.divf
// CHECK-NEXT: %{{.*}} = arith.constant 1.250000e-01 : f32
// CHECK-NEXT: %[[X:.*]] = arith.mulf
// CHECK-NEXT: math.fma %[[Q]], %{{.*}}, %[[X]]
// CHECK-NOT: math.tanh
// CHECK: return
func.func @tanh_f32(%x0: f32) -> f32 {
  %r = math.tanh %x0 : f32
  return %r : f32
}

// CHECK-LABEL: func.func @sinh_f64(
// CHECK: math.fma
// CHECK-NOT: math.sinh
// CHECK: return
func.func @sinh_f64(%x0: f64) -> f64 {
  %r = math.sinh %x0 : f64
  return %r : f64
}
