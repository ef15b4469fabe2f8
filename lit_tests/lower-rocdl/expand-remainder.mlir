// RUN: %pykern-opt %s --kern-expand-remainder | FileCheck %s

// CHECK-LABEL: func.func @f
// CHECK: scf.while
// CHECK: arith.addf
// CHECK: scf.while
// CHECK: arith.subf
// CHECK: math.copysign
// CHECK-NOT: arith.remf
func.func @f(%x: f32, %y: f32) -> f32 {
  %0 = arith.remf %x, %y : f32
  return %0 : f32
}
