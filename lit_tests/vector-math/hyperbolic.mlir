// RUN: %pykern-opt %s --kern-expand-math | FileCheck %s

// From e^x; near 0, where that cancels, from a polynomial.

// CHECK-LABEL: func.func @tanh_f32(
// CHECK: arith.divf
// CHECK-NOT: math.tanh
// CHECK: math.copysign
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
