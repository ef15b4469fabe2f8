// RUN: %pykern-opt %s --kern-expand-library | FileCheck %s
// RUN: %pykern-opt %s --kern-expand-library=functions=hypot | FileCheck %s --check-prefix=SOME

// Only what is named is written out; the others stay calls.

// SOME-NOT: call @hypotf
// SOME: call @remainder

// Calls of the C library become arithmetic, f32 by way of f64 where squares would leave the range.

// CHECK-NOT: func.func private
// CHECK-LABEL: func.func @hypot_f32
// CHECK: arith.extf %{{.*}} : f32 to f64
// CHECK: math.sqrt
// CHECK: arith.truncf %{{.*}} : f64 to f32
// CHECK-NOT: call
func.func private @hypotf(f32, f32) -> f32
func.func private @remainder(f64, f64) -> f64
func.func @hypot_f32(%x: f32, %y: f32) -> f32 {
  %0 = func.call @hypotf(%x, %y) : (f32, f32) -> f32
  return %0 : f32
}

// The remainder is that of twice the divisor, brought near by two subtractions at most.

// CHECK-LABEL: func.func @remainder_f64
// CHECK: %[[TWICE:.*]] = arith.addf %[[B:.*]], %[[B]]
// CHECK: arith.remf %{{.*}}, %[[TWICE]]
// CHECK-COUNT-2: arith.subf %{{.*}}, %[[B]]
// CHECK-NOT: call
func.func @remainder_f64(%x: f64, %y: f64) -> f64 {
  %0 = func.call @remainder(%x, %y) : (f64, f64) -> f64
  return %0 : f64
}
