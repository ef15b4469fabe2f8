// RUN: %pykern-opt %s --kern-reverse --canonicalize --cse | FileCheck %s
// RUN: %pykern-opt %s --kern-forward --canonicalize --cse | FileCheck %s --check-prefix=JVP

// `math.copysign`: d/dx = sign(x) * sign(r); nothing flows to y.

// CHECK-LABEL: func.func @f.vjp(
// CHECK-SAME: %[[A0:[a-z0-9]+]]: f64{{.*}}, %[[A1:[a-z0-9]+]]: f64{{.*}}, %[[A2:.*]]: f64{{.*}}
// CHECK-DAG: %[[C0:.*]] = arith.constant 0.000000e+00 : f64
// CHECK-DAG: %[[C1:.*]] = arith.constant 1.000000e+00 : f64
// CHECK: %[[V0:.*]] = math.copysign %[[A0]], %[[A1]] : f64
// CHECK: %[[V1:.*]] = math.copysign %[[C1]], %[[A0]] : f64
// CHECK: %[[V2:.*]] = arith.cmpf oeq, %[[A0]], %[[C0]] : f64
// CHECK: %[[V3:.*]] = arith.select %[[V2]], %[[C0]], %[[V1]] : f64
// CHECK: %[[V4:.*]] = math.copysign %[[C1]], %[[V0]] : f64
// CHECK: %[[V5:.*]] = arith.cmpf oeq, %[[V0]], %[[C0]] : f64
// CHECK: %[[V6:.*]] = arith.select %[[V5]], %[[C0]], %[[V4]] : f64
// CHECK: %[[V7:.*]] = arith.mulf %[[V3]], %[[V6]] : f64
// CHECK: %[[V8:.*]] = arith.mulf %[[A2]], %[[V7]] : f64
// CHECK: return %[[V0]], %[[V8]], %[[C0]] : f64, f64, f64

// JVP-LABEL: func.func @f.jvp(
// JVP-SAME: %[[A0:[a-z0-9]+]]: f64{{.*}}, %[[A1:[a-z0-9]+]]: f64{{.*}}, %[[A2:[a-z0-9]+]]: f64{{.*}}, %[[A3:.*]]: f64{{.*}}
// JVP-DAG: %[[C0:.*]] = arith.constant 0.000000e+00 : f64
// JVP-DAG: %[[C1:.*]] = arith.constant 1.000000e+00 : f64
// JVP: %[[V0:.*]] = math.copysign %[[A0]], %[[A1]] : f64
// JVP: %[[V1:.*]] = math.copysign %[[C1]], %[[A0]] : f64
// JVP: %[[V2:.*]] = arith.cmpf oeq, %[[A0]], %[[C0]] : f64
// JVP: %[[V3:.*]] = arith.select %[[V2]], %[[C0]], %[[V1]] : f64
// JVP: %[[V4:.*]] = math.copysign %[[C1]], %[[V0]] : f64
// JVP: %[[V5:.*]] = arith.cmpf oeq, %[[V0]], %[[C0]] : f64
// JVP: %[[V6:.*]] = arith.select %[[V5]], %[[C0]], %[[V4]] : f64
// JVP: %[[V7:.*]] = arith.mulf %[[V3]], %[[V6]] : f64
// JVP: %[[V8:.*]] = arith.mulf %[[A2]], %[[V7]] : f64
// JVP: return %[[V0]], %[[V8]] : f64, f64
func.func @f(%x: f64, %y: f64) -> f64 attributes {kern.program} {
  %r = math.copysign %x, %y : f64
  return %r : f64
}
