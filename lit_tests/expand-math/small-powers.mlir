// RUN: %pykern-opt %s --kern-expand-math | FileCheck %s

// A power whose exponent is known, a small whole number or half of an odd one, is made of products and roots.

// CHECK-LABEL: func.func @sixth
// CHECK-COUNT-3: arith.mulf %{{.*}} : f64
// CHECK-NOT: arith.divf
// CHECK: return
func.func @sixth(%x: f64) -> f64 {
  %six = arith.constant 6.0 : f64
  %y = math.powf %x, %six : f64
  return %y : f64
}

// CHECK-LABEL: func.func @inverse_root
// CHECK: arith.extf
// CHECK: math.sqrt %{{.*}} : vector<4xf64>
// CHECK: arith.truncf
func.func @inverse_root(%x: vector<4xf32>) -> vector<4xf32> {
  %n = arith.constant dense<-1.5> : vector<4xf32>
  %y = math.powf %x, %n : vector<4xf32>
  return %y : vector<4xf32>
}

// Others take the logarithm.

// CHECK-LABEL: func.func @third
// CHECK: arith.bitcast
func.func @third(%x: f64) -> f64 {
  %n = arith.constant 0.3 : f64
  %y = math.powf %x, %n : f64
  return %y : f64
}
