// RUN: %pykern-opt %s --kern-reverse --canonicalize --cse | FileCheck %s
// RUN: %pykern-opt %s --kern-forward --canonicalize --cse | FileCheck %s --check-prefix=JVP

// `arith.addf`: d/dx = 1; d/dy = 1.

// CHECK-LABEL: func.func @f.vjp(
// CHECK-SAME: %[[A0:[a-z0-9]+]]: f64{{.*}}, %[[A1:[a-z0-9]+]]: f64{{.*}}, %[[A2:.*]]: f64{{.*}}
// CHECK: %[[V0:.*]] = arith.addf %[[A0]], %[[A1]] : f64
// CHECK: return %[[V0]], %[[A2]], %[[A2]] : f64, f64, f64

// JVP-LABEL: func.func @f.jvp(
// JVP-SAME: %[[A0:[a-z0-9]+]]: f64{{.*}}, %[[A1:[a-z0-9]+]]: f64{{.*}}, %[[A2:[a-z0-9]+]]: f64{{.*}}, %[[A3:.*]]: f64{{.*}}
// JVP: %[[V0:.*]] = arith.addf %[[A0]], %[[A1]] : f64
// JVP: %[[V1:.*]] = arith.addf %[[A2]], %[[A3]] : f64
// JVP: return %[[V0]], %[[V1]] : f64, f64
func.func @f(%x: f64, %y: f64) -> f64 attributes {kern.program} {
  %r = arith.addf %x, %y : f64
  return %r : f64
}
