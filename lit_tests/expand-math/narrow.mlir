// RUN: %pykern-opt %s --kern-expand-math | FileCheck %s

// f16 and bf16 are computed in f32; what has no rule stays.

// CHECK-LABEL: func.func @exp_bf16(
// CHECK: arith.extf %{{.*}} : bf16 to f32
// CHECK-NOT: math.exp
// CHECK: arith.truncf %{{.*}} : f32 to bf16
// CHECK: return
func.func @exp_bf16(%x0: bf16) -> bf16 {
  %r = math.exp %x0 : bf16
  return %r : bf16
}

// CHECK-LABEL: func.func @floor(
// CHECK-NEXT: math.floor
// CHECK-NEXT: return
func.func @floor(%x0: f32) -> f32 {
  %r = math.floor %x0 : f32
  return %r : f32
}
