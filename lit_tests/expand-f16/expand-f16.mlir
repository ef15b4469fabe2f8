// RUN: %pykern-opt %s --kern-expand-f16 | FileCheck %s

// The bits of an f16 become those of an f32, and the other way round; what only travels stays.

// CHECK-LABEL: func.func @widened
// CHECK: arith.bitcast %arg0 : f16 to i16
// CHECK: arith.mulf
// CHECK-NOT: arith.extf
// CHECK: return {{.*}} : f32
func.func @widened(%x: f16) -> f32 {
  %wide = arith.extf %x : f16 to f32
  return %wide : f32
}

// CHECK-LABEL: func.func @narrowed
// CHECK-NOT: arith.truncf %arg0 : f32
// CHECK: arith.bitcast {{.*}} : i16 to f16
func.func @narrowed(%x: f32) -> f16 {
  %half = arith.truncf %x : f32 to f16
  return %half : f16
}

// A double is rounded to odd first.
// CHECK-LABEL: func.func @twice
// CHECK: arith.truncf %arg0 : f64 to f32
// CHECK: arith.bitcast {{.*}} : i16 to f16
func.func @twice(%x: f64) -> f16 {
  %half = arith.truncf %x : f64 to f16
  return %half : f16
}
