// RUN: %pykern-opt %s --kern-reverse --canonicalize --cse | FileCheck %s
// RUN: %pykern-opt %s --kern-forward --canonicalize --cse | FileCheck %s --check-prefix=JVP

// `arith.truncf`: what flows is cast back.

// CHECK-LABEL: func.func @f.vjp(
// CHECK-SAME: %[[A0:[a-z0-9]+]]: f64{{.*}}, %[[A1:.*]]: f32{{.*}}
// CHECK: %[[V0:.*]] = arith.truncf %[[A0]] : f64 to f32
// CHECK: %[[V1:.*]] = arith.extf %[[A1]] : f32 to f64
// CHECK: return %[[V0]], %[[V1]] : f32, f64

// JVP-LABEL: func.func @f.jvp(
// JVP-SAME: %[[A0:[a-z0-9]+]]: f64{{.*}}, %[[A1:.*]]: f64{{.*}}
// JVP: %[[V0:.*]] = arith.truncf %[[A0]] : f64 to f32
// JVP: %[[V1:.*]] = arith.truncf %[[A1]] : f64 to f32
// JVP: return %[[V0]], %[[V1]] : f32, f32
func.func @f(%x: f64) -> f32 attributes {kern.program} {
  %r = arith.truncf %x : f64 to f32
  return %r : f32
}
