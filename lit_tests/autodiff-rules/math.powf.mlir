// RUN: %pykern-opt %s --kern-reverse --canonicalize --cse | FileCheck %s
// RUN: %pykern-opt %s --kern-forward --canonicalize --cse | FileCheck %s --check-prefix=JVP

// `math.powf`: d/dx = where(y == 0, 0, y * pow(x, y - 1)); d/dy = where(x == 0, 0, r * log(x)).

// CHECK-LABEL: func.func @f.vjp(
// CHECK-SAME: %[[A0:[a-z0-9]+]]: f64{{.*}}, %[[A1:[a-z0-9]+]]: f64{{.*}}, %[[A2:.*]]: f64{{.*}}
// CHECK-DAG: %[[C0:.*]] = arith.constant 0.000000e+00 : f64
// CHECK-DAG: %[[C1:.*]] = arith.constant 1.000000e+00 : f64
// CHECK: %[[V0:.*]] = math.powf %[[A0]], %[[A1]] : f64
// CHECK: %[[V1:.*]] = arith.subf %[[A1]], %[[C1]] : f64
// CHECK: %[[V2:.*]] = math.powf %[[A0]], %[[V1]] : f64
// CHECK: %[[V3:.*]] = arith.mulf %[[A1]], %[[V2]] : f64
// CHECK: %[[V4:.*]] = arith.mulf %[[A2]], %[[V3]] : f64
// CHECK: %[[V5:.*]] = arith.cmpf oeq, %[[A1]], %[[C0]] : f64
// CHECK: %[[V6:.*]] = arith.select %[[V5]], %[[C0]], %[[V4]] : f64
// CHECK: %[[V7:.*]] = math.log %[[A0]] : f64
// CHECK: %[[V8:.*]] = arith.mulf %[[V0]], %[[V7]] : f64
// CHECK: %[[V9:.*]] = arith.mulf %[[A2]], %[[V8]] : f64
// CHECK: %[[V10:.*]] = arith.cmpf oeq, %[[A0]], %[[C0]] : f64
// CHECK: %[[V11:.*]] = arith.select %[[V10]], %[[C0]], %[[V9]] : f64
// CHECK: return %[[V0]], %[[V6]], %[[V11]] : f64, f64, f64

// JVP-LABEL: func.func @f.jvp(
// JVP-SAME: %[[A0:[a-z0-9]+]]: f64{{.*}}, %[[A1:[a-z0-9]+]]: f64{{.*}}, %[[A2:[a-z0-9]+]]: f64{{.*}}, %[[A3:.*]]: f64{{.*}}
// JVP-DAG: %[[C0:.*]] = arith.constant 0.000000e+00 : f64
// JVP-DAG: %[[C1:.*]] = arith.constant 1.000000e+00 : f64
// JVP: %[[V0:.*]] = math.powf %[[A0]], %[[A1]] : f64
// JVP: %[[V1:.*]] = arith.subf %[[A1]], %[[C1]] : f64
// JVP: %[[V2:.*]] = math.powf %[[A0]], %[[V1]] : f64
// JVP: %[[V3:.*]] = arith.mulf %[[A1]], %[[V2]] : f64
// JVP: %[[V4:.*]] = arith.mulf %[[A2]], %[[V3]] : f64
// JVP: %[[V5:.*]] = arith.cmpf oeq, %[[A1]], %[[C0]] : f64
// JVP: %[[V6:.*]] = arith.select %[[V5]], %[[C0]], %[[V4]] : f64
// JVP: %[[V7:.*]] = math.log %[[A0]] : f64
// JVP: %[[V8:.*]] = arith.mulf %[[V0]], %[[V7]] : f64
// JVP: %[[V9:.*]] = arith.mulf %[[A3]], %[[V8]] : f64
// JVP: %[[V10:.*]] = arith.cmpf oeq, %[[A0]], %[[C0]] : f64
// JVP: %[[V11:.*]] = arith.select %[[V10]], %[[C0]], %[[V9]] : f64
// JVP: %[[V12:.*]] = arith.addf %[[V6]], %[[V11]] : f64
// JVP: return %[[V0]], %[[V12]] : f64, f64
func.func @f(%x: f64, %y: f64) -> f64 attributes {kern.program} {
  %r = math.powf %x, %y : f64
  return %r : f64
}
