// RUN: %pykern-opt %s --kern-reverse --canonicalize --cse | FileCheck %s
// RUN: %pykern-opt %s --kern-forward --canonicalize --cse | FileCheck %s --check-prefix=JVP

// `math.erfc`: d/dx = -(2 / SQRT_PI) * exp(-(x * x)).

// CHECK-LABEL: func.func @f.vjp(
// CHECK-SAME: %[[A0:[a-z0-9]+]]: f64{{.*}}, %[[A1:.*]]: f64{{.*}}
// CHECK-DAG: %[[C0:.*]] = arith.constant -1.1283791670955126 : f64
// CHECK: %[[V0:.*]] = math.erfc %[[A0]] : f64
// CHECK: %[[V1:.*]] = arith.mulf %[[A0]], %[[A0]] : f64
// CHECK: %[[V2:.*]] = arith.negf %[[V1]] : f64
// CHECK: %[[V3:.*]] = math.exp %[[V2]] : f64
// CHECK: %[[V4:.*]] = arith.mulf %[[V3]], %[[C0]] : f64
// CHECK: %[[V5:.*]] = arith.mulf %[[A1]], %[[V4]] : f64
// CHECK: return %[[V0]], %[[V5]] : f64, f64

// JVP-LABEL: func.func @f.jvp(
// JVP-SAME: %[[A0:[a-z0-9]+]]: f64{{.*}}, %[[A1:.*]]: f64{{.*}}
// JVP-DAG: %[[C0:.*]] = arith.constant -1.1283791670955126 : f64
// JVP: %[[V0:.*]] = math.erfc %[[A0]] : f64
// JVP: %[[V1:.*]] = arith.mulf %[[A0]], %[[A0]] : f64
// JVP: %[[V2:.*]] = arith.negf %[[V1]] : f64
// JVP: %[[V3:.*]] = math.exp %[[V2]] : f64
// JVP: %[[V4:.*]] = arith.mulf %[[V3]], %[[C0]] : f64
// JVP: %[[V5:.*]] = arith.mulf %[[A1]], %[[V4]] : f64
// JVP: return %[[V0]], %[[V5]] : f64, f64
func.func @f(%x: f64) -> f64 attributes {kern.program} {
  %r = math.erfc %x : f64
  return %r : f64
}
