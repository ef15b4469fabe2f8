// RUN: %pykern-opt %s --kern-reverse --canonicalize --cse | FileCheck %s
// RUN: %pykern-opt %s --kern-forward --canonicalize --cse | FileCheck %s --check-prefix=JVP

// `math.atan2`: d/dx = y / (x * x + y * y); d/dy = -(x / (x * x + y * y)).

// CHECK-LABEL: func.func @f.vjp(
// CHECK-SAME: %[[A0:[a-z0-9]+]]: f64{{.*}}, %[[A1:[a-z0-9]+]]: f64{{.*}}, %[[A2:.*]]: f64{{.*}}
// CHECK: %[[V0:.*]] = math.atan2 %[[A0]], %[[A1]] : f64
// CHECK: %[[V1:.*]] = arith.mulf %[[A0]], %[[A0]] : f64
// CHECK: %[[V2:.*]] = arith.mulf %[[A1]], %[[A1]] : f64
// CHECK: %[[V3:.*]] = arith.addf %[[V1]], %[[V2]] : f64
// CHECK: %[[V4:.*]] = arith.divf %[[A1]], %[[V3]] : f64
// CHECK: %[[V5:.*]] = arith.mulf %[[A2]], %[[V4]] : f64
// CHECK: %[[V6:.*]] = arith.divf %[[A0]], %[[V3]] : f64
// CHECK: %[[V7:.*]] = arith.mulf %[[A2]], %[[V6]] : f64
// CHECK: %[[V8:.*]] = arith.negf %[[V7]] : f64
// CHECK: return %[[V0]], %[[V5]], %[[V8]] : f64, f64, f64

// JVP-LABEL: func.func @f.jvp(
// JVP-SAME: %[[A0:[a-z0-9]+]]: f64{{.*}}, %[[A1:[a-z0-9]+]]: f64{{.*}}, %[[A2:[a-z0-9]+]]: f64{{.*}}, %[[A3:.*]]: f64{{.*}}
// JVP: %[[V0:.*]] = math.atan2 %[[A0]], %[[A1]] : f64
// JVP: %[[V1:.*]] = arith.mulf %[[A0]], %[[A0]] : f64
// JVP: %[[V2:.*]] = arith.mulf %[[A1]], %[[A1]] : f64
// JVP: %[[V3:.*]] = arith.addf %[[V1]], %[[V2]] : f64
// JVP: %[[V4:.*]] = arith.divf %[[A1]], %[[V3]] : f64
// JVP: %[[V5:.*]] = arith.mulf %[[A2]], %[[V4]] : f64
// JVP: %[[V6:.*]] = arith.divf %[[A0]], %[[V3]] : f64
// JVP: %[[V7:.*]] = arith.mulf %[[A3]], %[[V6]] : f64
// JVP: %[[V8:.*]] = arith.negf %[[V7]] : f64
// JVP: %[[V9:.*]] = arith.addf %[[V5]], %[[V8]] : f64
// JVP: return %[[V0]], %[[V9]] : f64, f64
func.func @f(%x: f64, %y: f64) -> f64 attributes {kern.program} {
  %r = math.atan2 %x, %y : f64
  return %r : f64
}
