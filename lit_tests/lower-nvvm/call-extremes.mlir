// RUN: %pykern-opt %s --kern-call-extremes | FileCheck %s

// CHECK-LABEL: func.func @extremes
// CHECK: llvm.intr.maximum(%arg0, %arg1) : (f32, f32) -> f32
// CHECK: llvm.intr.minimum(%arg0, %arg1) : (f32, f32) -> f32
// CHECK: arith.maximumf %arg2, %arg2 : f64
func.func @extremes(%x: f32, %y: f32, %z: f64) -> (f32, f32, f64) {
  %0 = arith.maximumf %x, %y : f32
  %1 = arith.minimumf %x, %y : f32
  %2 = arith.maximumf %z, %z : f64
  return %0, %1, %2 : f32, f32, f64
}
