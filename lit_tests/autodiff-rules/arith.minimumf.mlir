// RUN: %pykern-opt %s --kern-reverse --canonicalize --cse | FileCheck %s
// RUN: %pykern-opt %s --kern-forward --canonicalize --cse | FileCheck %s --check-prefix=JVP

// `arith.minimumf`: d/dx = where(x < y, 1, where(x == y, 0.5, 0)); d/dy = where(y < x, 1, where(x == y, 0.5, 0)).

// CHECK-LABEL: func.func @f.vjp(
// CHECK-SAME: %[[A0:[a-z0-9]+]]: f64{{.*}}, %[[A1:[a-z0-9]+]]: f64{{.*}}, %[[A2:.*]]: f64{{.*}}
// CHECK-DAG: %[[C0:.*]] = arith.constant 0.000000e+00 : f64
// CHECK-DAG: %[[C1:.*]] = arith.constant 5.000000e-01 : f64
// CHECK: %[[V0:.*]] = arith.minimumf %[[A0]], %[[A1]] : f64
// CHECK: %[[V1:.*]] = arith.mulf %[[A2]], %[[C1]] : f64
// CHECK: %[[V2:.*]] = arith.cmpf oeq, %[[A0]], %[[A1]] : f64
// CHECK: %[[V3:.*]] = arith.select %[[V2]], %[[V1]], %[[C0]] : f64
// CHECK: %[[V4:.*]] = arith.cmpf olt, %[[A0]], %[[A1]] : f64
// CHECK: %[[V5:.*]] = arith.select %[[V4]], %[[A2]], %[[V3]] : f64
// CHECK: %[[V6:.*]] = arith.cmpf olt, %[[A1]], %[[A0]] : f64
// CHECK: %[[V7:.*]] = arith.select %[[V6]], %[[A2]], %[[V3]] : f64
// CHECK: return %[[V0]], %[[V5]], %[[V7]] : f64, f64, f64

// JVP-LABEL: func.func @f.jvp(
// JVP-SAME: %[[A0:[a-z0-9]+]]: f64{{.*}}, %[[A1:[a-z0-9]+]]: f64{{.*}}, %[[A2:[a-z0-9]+]]: f64{{.*}}, %[[A3:.*]]: f64{{.*}}
// JVP-DAG: %[[C0:.*]] = arith.constant 0.000000e+00 : f64
// JVP-DAG: %[[C1:.*]] = arith.constant 5.000000e-01 : f64
// JVP: %[[V0:.*]] = arith.minimumf %[[A0]], %[[A1]] : f64
// JVP: %[[V1:.*]] = arith.mulf %[[A2]], %[[C1]] : f64
// JVP: %[[V2:.*]] = arith.cmpf oeq, %[[A0]], %[[A1]] : f64
// JVP: %[[V3:.*]] = arith.select %[[V2]], %[[V1]], %[[C0]] : f64
// JVP: %[[V4:.*]] = arith.cmpf olt, %[[A0]], %[[A1]] : f64
// JVP: %[[V5:.*]] = arith.select %[[V4]], %[[A2]], %[[V3]] : f64
// JVP: %[[V6:.*]] = arith.mulf %[[A3]], %[[C1]] : f64
// JVP: %[[V7:.*]] = arith.select %[[V2]], %[[V6]], %[[C0]] : f64
// JVP: %[[V8:.*]] = arith.cmpf olt, %[[A1]], %[[A0]] : f64
// JVP: %[[V9:.*]] = arith.select %[[V8]], %[[A3]], %[[V7]] : f64
// JVP: %[[V10:.*]] = arith.addf %[[V5]], %[[V9]] : f64
// JVP: return %[[V0]], %[[V10]] : f64, f64
func.func @f(%x: f64, %y: f64) -> f64 attributes {kern.program} {
  %r = arith.minimumf %x, %y : f64
  return %r : f64
}
