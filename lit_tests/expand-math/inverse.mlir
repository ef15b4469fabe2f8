// RUN: %pykern-opt %s --kern-expand-math | FileCheck %s

// Inverse functions: of angles, of hyperbolic functions, of the cube.

// CHECK-LABEL: func.func @atan2_f32(
// CHECK: arith.divf
// CHECK-NOT: math.atan2
// CHECK: return
func.func @atan2_f32(%x0: f32, %x1: f32) -> f32 {
  %r = math.atan2 %x0, %x1 : f32
  return %r : f32
}

// CHECK-LABEL: func.func @asin_f64(
// CHECK: math.sqrt
// CHECK-NOT: math.asin
// CHECK: return
func.func @asin_f64(%x0: f64) -> f64 {
  %r = math.asin %x0 : f64
  return %r : f64
}

// CHECK-LABEL: func.func @acosh_f64(
// CHECK: math.sqrt
// CHECK-NOT: math.acosh
// CHECK: return
func.func @acosh_f64(%x0: f64) -> f64 {
  %r = math.acosh %x0 : f64
  return %r : f64
}

// CHECK-LABEL: func.func @cbrt_f64(
// CHECK: arith.divf
// CHECK-NOT: math.cbrt
// CHECK: math.copysign
// CHECK: return
func.func @cbrt_f64(%x0: f64) -> f64 {
  %r = math.cbrt %x0 : f64
  return %r : f64
}
