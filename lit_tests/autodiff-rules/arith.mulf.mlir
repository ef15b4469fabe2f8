// RUN: %pykern-opt %s --kern-reverse --canonicalize --cse | FileCheck %s
// RUN: %pykern-opt %s --kern-forward --canonicalize --cse | FileCheck %s --check-prefix=JVP

// `arith.mulf`: d/dx = y; d/dy = x.

// CHECK-LABEL: func.func @f.vjp(
// CHECK-SAME: %[[A0:[a-z0-9]+]]: f64{{.*}}, %[[A1:[a-z0-9]+]]: f64{{.*}}, %[[A2:.*]]: f64{{.*}}
// CHECK: %[[V0:.*]] = arith.mulf %[[A0]], %[[A1]] : f64
// CHECK: %[[V1:.*]] = arith.mulf %[[A2]], %[[A1]] : f64
// CHECK: %[[V2:.*]] = arith.mulf %[[A2]], %[[A0]] : f64
// CHECK: return %[[V0]], %[[V1]], %[[V2]] : f64, f64, f64

// JVP-LABEL: func.func @f.jvp(
// JVP-SAME: %[[A0:[a-z0-9]+]]: f64{{.*}}, %[[A1:[a-z0-9]+]]: f64{{.*}}, %[[A2:[a-z0-9]+]]: f64{{.*}}, %[[A3:.*]]: f64{{.*}}
// JVP: %[[V0:.*]] = arith.mulf %[[A0]], %[[A1]] : f64
// JVP: %[[V1:.*]] = arith.mulf %[[A2]], %[[A1]] : f64
// JVP: %[[V2:.*]] = arith.mulf %[[A3]], %[[A0]] : f64
// JVP: %[[V3:.*]] = arith.addf %[[V1]], %[[V2]] : f64
// JVP: return %[[V0]], %[[V3]] : f64, f64
func.func @f(%x: f64, %y: f64) -> f64 attributes {kern.program} {
  %r = arith.mulf %x, %y : f64
  return %r : f64
}
