// RUN: %pykern-opt %s --kern-call-libdevice | FileCheck %s

// gamma of f32 is computed in f64: libdevice's own takes more than 4 units in the last place.

// CHECK-DAG: func.func private @__nv_hypotf(f32, f32) -> f32
// CHECK-DAG: func.func private @__nv_tgamma(f64) -> f64
// CHECK-NOT: func.func private @hypotf
// CHECK-LABEL: func.func @calls
// CHECK: call @__nv_hypotf(%arg0, %arg1) : (f32, f32) -> f32
// CHECK: %[[WIDE:.*]] = arith.extf %arg0 : f32 to f64
// CHECK: %[[GAMMA:.*]] = call @__nv_tgamma(%[[WIDE]]) : (f64) -> f64
// CHECK: arith.truncf %[[GAMMA]] : f64 to f32
// CHECK: call @other
func.func private @hypotf(f32, f32) -> f32
func.func private @tgammaf(f32) -> f32
func.func private @other(f32) -> f32
func.func @calls(%x: f32, %y: f32) -> (f32, f32, f32) {
  %0 = func.call @hypotf(%x, %y) : (f32, f32) -> f32
  %1 = func.call @tgammaf(%x) : (f32) -> f32
  %2 = func.call @other(%y) : (f32) -> f32
  return %0, %1, %2 : f32, f32, f32
}
