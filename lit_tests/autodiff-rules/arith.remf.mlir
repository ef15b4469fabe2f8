// RUN: %pykern-opt %s --kern-reverse --canonicalize --cse | FileCheck %s
// RUN: %pykern-opt %s --kern-forward --canonicalize --cse | FileCheck %s --check-prefix=JVP

// `arith.remf`: d/dx = 1; d/dy = -roundeven((x - r) / y): what is rounded is a whole number, but for rounding.

// CHECK-LABEL: func.func @f.vjp(
// CHECK-SAME: %[[A0:[a-z0-9]+]]: f64{{.*}}, %[[A1:[a-z0-9]+]]: f64{{.*}}, %[[A2:.*]]: f64{{.*}}
// CHECK: %[[V0:.*]] = arith.remf %[[A0]], %[[A1]] : f64
// CHECK: %[[D:.*]] = arith.subf %[[A0]], %[[V0]] : f64
// CHECK: %[[V1:.*]] = arith.divf %[[D]], %[[A1]] : f64
// CHECK: %[[V2:.*]] = math.roundeven %[[V1]] : f64
// CHECK: %[[V3:.*]] = arith.mulf %[[A2]], %[[V2]] : f64
// CHECK: %[[V4:.*]] = arith.negf %[[V3]] : f64
// CHECK: return %[[V0]], %[[A2]], %[[V4]] : f64, f64, f64

// JVP-LABEL: func.func @f.jvp(
// JVP-SAME: %[[A0:[a-z0-9]+]]: f64{{.*}}, %[[A1:[a-z0-9]+]]: f64{{.*}}, %[[A2:[a-z0-9]+]]: f64{{.*}}, %[[A3:.*]]: f64{{.*}}
// JVP: %[[V0:.*]] = arith.remf %[[A0]], %[[A1]] : f64
// JVP: %[[D:.*]] = arith.subf %[[A0]], %[[V0]] : f64
// JVP: %[[V1:.*]] = arith.divf %[[D]], %[[A1]] : f64
// JVP: %[[V2:.*]] = math.roundeven %[[V1]] : f64
// JVP: %[[V3:.*]] = arith.mulf %[[A3]], %[[V2]] : f64
// JVP: %[[V4:.*]] = arith.negf %[[V3]] : f64
// JVP: %[[V5:.*]] = arith.addf %[[A2]], %[[V4]] : f64
// JVP: return %[[V0]], %[[V5]] : f64, f64
func.func @f(%x: f64, %y: f64) -> f64 attributes {kern.program} {
  %r = arith.remf %x, %y : f64
  return %r : f64
}
