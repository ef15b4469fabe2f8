// RUN: %pykern-opt %s --kern-reverse --canonicalize --cse | FileCheck %s
// RUN: %pykern-opt %s --kern-forward --canonicalize --cse | FileCheck %s --check-prefix=JVP

// `arith.subf`: d/dx = 1; d/dy = -1.

// CHECK-LABEL: func.func @f.vjp(
// CHECK-SAME: %[[A0:[a-z0-9]+]]: f64{{.*}}, %[[A1:[a-z0-9]+]]: f64{{.*}}, %[[A2:.*]]: f64{{.*}}
// CHECK: %[[V0:.*]] = arith.subf %[[A0]], %[[A1]] : f64
// CHECK: %[[V1:.*]] = arith.negf %[[A2]] : f64
// CHECK: return %[[V0]], %[[A2]], %[[V1]] : f64, f64, f64

// JVP-LABEL: func.func @f.jvp(
// JVP-SAME: %[[A0:[a-z0-9]+]]: f64{{.*}}, %[[A1:[a-z0-9]+]]: f64{{.*}}, %[[A2:[a-z0-9]+]]: f64{{.*}}, %[[A3:.*]]: f64{{.*}}
// JVP: %[[V0:.*]] = arith.subf %[[A0]], %[[A1]] : f64
// JVP: %[[V1:.*]] = arith.negf %[[A3]] : f64
// JVP: %[[V2:.*]] = arith.addf %[[A2]], %[[V1]] : f64
// JVP: return %[[V0]], %[[V2]] : f64, f64
func.func @f(%x: f64, %y: f64) -> f64 attributes {kern.program} {
  %r = arith.subf %x, %y : f64
  return %r : f64
}
