// RUN: %pykern-opt %s --kern-expand-math | FileCheck %s

// Moderate angles without a branch; a larger one is the business of a function that has vector forms.
// That function is added once, with a list of names that keeps it.

// CHECK: llvm.func internal @kern.huge_angle(
// CHECK-SAME: vector-function-abi-variant
// CHECK: llvm.func internal @kern.huge_angle.2(
// CHECK: llvm.mlir.global appending @llvm.compiler.used
// CHECK-NOT: llvm.func internal

// CHECK-LABEL: func.func @sin_f32(
// CHECK: arith.extf %{{.*}} : f32 to f64
// CHECK: math.fma
// CHECK: arith.truncf
// CHECK: scf.if
// CHECK: llvm.call @kern.huge_angle(%{{.*}}, %c0_i32{{.*}})
// CHECK-NOT: math.sin
// CHECK: return
func.func @sin_f32(%x0: f32) -> f32 {
  %r = math.sin %x0 : f32
  return %r : f32
}

// CHECK-LABEL: func.func @cos_f64(
// CHECK: math.fma
// CHECK: scf.if
// CHECK: llvm.call @kern.huge_angle(%{{.*}}, %c1_i32{{.*}})
// CHECK-NOT: math.cos
// CHECK: return
func.func @cos_f64(%x0: f64) -> f64 {
  %r = math.cos %x0 : f64
  return %r : f64
}
