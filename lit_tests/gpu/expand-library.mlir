// RUN: %pykern-opt %s --kern-expand-library | FileCheck %s

// CHECK-NOT: func.func private
// CHECK-LABEL: func.func @hypot_f32
// CHECK: %[[X:.*]] = arith.extf %arg0 : f32 to f64
// CHECK: %[[Y:.*]] = arith.extf %arg1 : f32 to f64
// CHECK: %[[YY:.*]] = arith.mulf %[[Y]], %[[Y]]
// CHECK: %[[SUM:.*]] = math.fma %[[X]], %[[X]], %[[YY]]
// CHECK: math.sqrt %[[SUM]]
func.func private @hypotf(f32, f32) -> f32
func.func @hypot_f32(%x: f32, %y: f32) -> f32 {
  %0 = func.call @hypotf(%x, %y) : (f32, f32) -> f32
  return %0 : f32
}

// CHECK-LABEL: func.func @fmod
// CHECK: arith.remui
// CHECK: scf.while
// CHECK: arith.shli
// CHECK: arith.remui
// CHECK-NOT: arith.remf
func.func @fmod(%x: f64, %y: f64) -> f64 {
  %0 = arith.remf %x, %y : f64
  return %0 : f64
}
