// RUN: %pykern-opt %s --kern-reverse --canonicalize --cse | FileCheck %s
// RUN: %pykern-opt %s --kern-forward --canonicalize --cse | FileCheck %s --check-prefix=JVP

// `arith.divf`: d/dx = 1 / y; d/dy = -(1 / y * r).

// CHECK-LABEL: func.func @f.vjp(
// CHECK-SAME: %[[A0:[a-z0-9]+]]: f64{{.*}}, %[[A1:[a-z0-9]+]]: f64{{.*}}, %[[A2:.*]]: f64{{.*}}
// CHECK: %[[V0:.*]] = arith.divf %[[A0]], %[[A1]] : f64
// CHECK: %[[V1:.*]] = arith.divf %[[A2]], %[[A1]] : f64
// CHECK: %[[V2:.*]] = arith.mulf %[[V1]], %[[V0]] : f64
// CHECK: %[[V3:.*]] = arith.negf %[[V2]] : f64
// CHECK: return %[[V0]], %[[V1]], %[[V3]] : f64, f64, f64

// JVP-LABEL: func.func @f.jvp(
// JVP-SAME: %[[A0:[a-z0-9]+]]: f64{{.*}}, %[[A1:[a-z0-9]+]]: f64{{.*}}, %[[A2:[a-z0-9]+]]: f64{{.*}}, %[[A3:.*]]: f64{{.*}}
// JVP: %[[V0:.*]] = arith.divf %[[A0]], %[[A1]] : f64
// JVP: %[[V1:.*]] = arith.divf %[[A2]], %[[A1]] : f64
// JVP: %[[V2:.*]] = arith.divf %[[A3]], %[[A1]] : f64
// JVP: %[[V3:.*]] = arith.mulf %[[V2]], %[[V0]] : f64
// JVP: %[[V4:.*]] = arith.negf %[[V3]] : f64
// JVP: %[[V5:.*]] = arith.addf %[[V1]], %[[V4]] : f64
// JVP: return %[[V0]], %[[V5]] : f64, f64
func.func @f(%x: f64, %y: f64) -> f64 attributes {kern.program} {
  %r = arith.divf %x, %y : f64
  return %r : f64
}
