// RUN: %pykern-opt %s --kern-reverse --canonicalize --cse | FileCheck %s

// Functions that are called by name have rules as ops have: d/dx = x / r, d/dy = y / r, and 0 at the origin.

// CHECK-LABEL: func.func @f.vjp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: f32{{.*}}, %[[Y:[a-z0-9]+]]: f32{{.*}}, %[[G:.*]]: f32
// CHECK: %[[R:.*]] = call @hypotf(%[[X]], %[[Y]])
// CHECK-DAG: %[[DX:.*]] = arith.divf %[[X]], %[[R]] : f32
// CHECK-DAG: %[[MX:.*]] = arith.mulf %[[G]], %[[DX]] : f32
// CHECK-DAG: %[[ORIGIN:.*]] = arith.cmpf oeq, %[[R]], %[[ZERO:.*]] : f32
// CHECK-DAG: %[[A:.*]] = arith.select %[[ORIGIN]], %[[ZERO]], %[[MX]] : f32
// CHECK-DAG: %[[DY:.*]] = arith.divf %[[Y]], %[[R]] : f32
// CHECK-DAG: %[[MY:.*]] = arith.mulf %[[G]], %[[DY]] : f32
// CHECK-DAG: %[[B:.*]] = arith.select %[[ORIGIN]], %[[ZERO]], %[[MY]] : f32
// CHECK: return %[[R]], %[[A]], %[[B]]
func.func private @hypotf(f32, f32) -> f32
func.func @f(%x: f32, %y: f32) -> f32 attributes {kern.program} {
  %r = func.call @hypotf(%x, %y) : (f32, f32) -> f32
  return %r : f32
}
