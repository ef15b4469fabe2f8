// RUN: %pykern-opt %s --kern-round-once | FileCheck %s

// CHECK-LABEL: func.func @half
// CHECK: %[[NEAR:.*]] = arith.truncf %arg0 : f64 to f32
// CHECK: %[[BACK:.*]] = arith.extf %[[NEAR]] : f32 to f64
// CHECK: %[[INEXACT:.*]] = arith.cmpf one, %[[BACK]], %arg0 : f64
// CHECK: %[[BEYOND:.*]] = arith.cmpf ogt
// CHECK: %[[BITS:.*]] = arith.bitcast %[[NEAR]] : f32 to i32
// CHECK: arith.subi %[[BITS]]
// CHECK: %[[ODD:.*]] = arith.ori
// CHECK: %[[F32:.*]] = arith.bitcast %[[ODD]] : i32 to f32
// CHECK: arith.truncf %[[F32]] : f32 to f16
// CHECK-NOT: f64 to f16
func.func @half(%x: f64) -> f16 {
  %y = arith.truncf %x : f64 to f16
  return %y : f16
}

// CHECK-LABEL: func.func @bfloat
// CHECK: arith.truncf {{.*}} : vector<4xf32> to vector<4xbf16>
// CHECK-NOT: vector<4xf64> to vector<4xbf16>
func.func @bfloat(%x: vector<4xf64>) -> vector<4xbf16> {
  %y = arith.truncf %x : vector<4xf64> to vector<4xbf16>
  return %y : vector<4xbf16>
}

// What is one step, or an instruction of every machine, stays.
// CHECK-LABEL: func.func @others
// CHECK-NEXT: arith.truncf %arg0 : f64 to f32
// CHECK-NEXT: arith.truncf %arg1 : f32 to f16
// CHECK-NEXT: return
func.func @others(%x: f64, %y: f32) -> (f32, f16) {
  %a = arith.truncf %x : f64 to f32
  %b = arith.truncf %y : f32 to f16
  return %a, %b : f32, f16
}
