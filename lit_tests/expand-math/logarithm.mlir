// RUN: %pykern-opt %s --kern-expand-math | FileCheck %s

// The exponent of x comes from its bits; what is not positive is selected at the end.

// CHECK-LABEL: func.func @log_f32(
// CHECK: arith.bitcast %{{.*}} : f32 to i32
// CHECK: arith.shrui
// CHECK-NOT: math.log
// CHECK: arith.select
// CHECK: return
func.func @log_f32(%x0: f32) -> f32 {
  %r = math.log %x0 : f32
  return %r : f32
}

// CHECK-LABEL: func.func @log1p_f64(
// CHECK: arith.divf
// CHECK-NOT: math.log
// CHECK: math.copysign
// CHECK: return
func.func @log1p_f64(%x0: f64) -> f64 {
  %r = math.log1p %x0 : f64
  return %r : f64
}
