// RUN: %pykern-opt %s --kern-reverse --canonicalize --cse | FileCheck %s
// RUN: %pykern-opt %s --kern-forward --canonicalize --cse | FileCheck %s --check-prefix=JVP

// `math.absf`: d/dx = sign(x).

// CHECK-LABEL: func.func @f.vjp(
// CHECK-SAME: %[[A0:[a-z0-9]+]]: f64{{.*}}, %[[A1:.*]]: f64{{.*}}
// CHECK-DAG: %[[C0:.*]] = arith.constant 0.000000e+00 : f64
// CHECK-DAG: %[[C1:.*]] = arith.constant 1.000000e+00 : f64
// CHECK: %[[V0:.*]] = math.absf %[[A0]] : f64
// CHECK: %[[V1:.*]] = math.copysign %[[C1]], %[[A0]] : f64
// CHECK: %[[V2:.*]] = arith.cmpf oeq, %[[A0]], %[[C0]] : f64
// CHECK: %[[V3:.*]] = arith.select %[[V2]], %[[C0]], %[[V1]] : f64
// CHECK: %[[V4:.*]] = arith.mulf %[[A1]], %[[V3]] : f64
// CHECK: return %[[V0]], %[[V4]] : f64, f64

// JVP-LABEL: func.func @f.jvp(
// JVP-SAME: %[[A0:[a-z0-9]+]]: f64{{.*}}, %[[A1:.*]]: f64{{.*}}
// JVP-DAG: %[[C0:.*]] = arith.constant 0.000000e+00 : f64
// JVP-DAG: %[[C1:.*]] = arith.constant 1.000000e+00 : f64
// JVP: %[[V0:.*]] = math.absf %[[A0]] : f64
// JVP: %[[V1:.*]] = math.copysign %[[C1]], %[[A0]] : f64
// JVP: %[[V2:.*]] = arith.cmpf oeq, %[[A0]], %[[C0]] : f64
// JVP: %[[V3:.*]] = arith.select %[[V2]], %[[C0]], %[[V1]] : f64
// JVP: %[[V4:.*]] = arith.mulf %[[A1]], %[[V3]] : f64
// JVP: return %[[V0]], %[[V4]] : f64, f64
func.func @f(%x: f64) -> f64 attributes {kern.program} {
  %r = math.absf %x : f64
  return %r : f64
}
