// RUN: %pykern-opt %s --kern-reverse --canonicalize --cse | FileCheck %s
// RUN: %pykern-opt %s --kern-forward --canonicalize --cse | FileCheck %s --check-prefix=JVP

// `math.cos`: d/dx = -sin(x).

// CHECK-LABEL: func.func @f.vjp(
// CHECK-SAME: %[[A0:[a-z0-9]+]]: f64{{.*}}, %[[A1:.*]]: f64{{.*}}
// CHECK: %[[V0:.*]] = math.cos %[[A0]] : f64
// CHECK: %[[V1:.*]] = math.sin %[[A0]] : f64
// CHECK: %[[V2:.*]] = arith.mulf %[[A1]], %[[V1]] : f64
// CHECK: %[[V3:.*]] = arith.negf %[[V2]] : f64
// CHECK: return %[[V0]], %[[V3]] : f64, f64

// JVP-LABEL: func.func @f.jvp(
// JVP-SAME: %[[A0:[a-z0-9]+]]: f64{{.*}}, %[[A1:.*]]: f64{{.*}}
// JVP: %[[V0:.*]] = math.cos %[[A0]] : f64
// JVP: %[[V1:.*]] = math.sin %[[A0]] : f64
// JVP: %[[V2:.*]] = arith.mulf %[[A1]], %[[V1]] : f64
// JVP: %[[V3:.*]] = arith.negf %[[V2]] : f64
// JVP: return %[[V0]], %[[V3]] : f64, f64
func.func @f(%x: f64) -> f64 attributes {kern.program} {
  %r = math.cos %x : f64
  return %r : f64
}
