// RUN: %pykern-opt %s --kern-expand-math | FileCheck %s

// f32: y log x in f64. f64: the logarithm in two words, whose products are exact by fma.

// CHECK-LABEL: func.func @pow_f32(
// CHECK: arith.extf
// CHECK-NOT: math.powf
// CHECK: arith.truncf
// CHECK: return
func.func @pow_f32(%x0: f32, %x1: f32) -> f32 {
  %r = math.powf %x0, %x1 : f32
  return %r : f32
}

// CHECK-LABEL: func.func @pow_f64(
// CHECK: math.trunc
// CHECK-NOT: math.powf
// CHECK: return
func.func @pow_f64(%x0: f64, %x1: f64) -> f64 {
  %r = math.powf %x0, %x1 : f64
  return %r : f64
}
