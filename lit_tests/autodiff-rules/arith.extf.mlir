// RUN: %pykern-opt %s --kern-reverse --canonicalize --cse | FileCheck %s
// RUN: %pykern-opt %s --kern-forward --canonicalize --cse | FileCheck %s --check-prefix=JVP

// `arith.extf`: what flows is cast back.

// CHECK-LABEL: func.func @f.vjp(
// CHECK-SAME: %[[A0:[a-z0-9]+]]: f32{{.*}}, %[[A1:.*]]: f64{{.*}}
// CHECK: %[[V0:.*]] = arith.extf %[[A0]] : f32 to f64
// CHECK: %[[V1:.*]] = arith.truncf %[[A1]] : f64 to f32
// CHECK: return %[[V0]], %[[V1]] : f64, f32

// JVP-LABEL: func.func @f.jvp(
// JVP-SAME: %[[A0:[a-z0-9]+]]: f32{{.*}}, %[[A1:.*]]: f32{{.*}}
// JVP: %[[V0:.*]] = arith.extf %[[A0]] : f32 to f64
// JVP: %[[V1:.*]] = arith.extf %[[A1]] : f32 to f64
// JVP: return %[[V0]], %[[V1]] : f64, f64
func.func @f(%x: f32) -> f64 attributes {kern.program} {
  %r = arith.extf %x : f32 to f64
  return %r : f64
}
