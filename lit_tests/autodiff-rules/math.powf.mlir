// RUN: %pykern-opt %s --kern-reverse --canonicalize --cse | FileCheck %s
// RUN: %pykern-opt %s --kern-forward --canonicalize --cse | FileCheck %s --check-prefix=JVP

// `math.powf`: d/dx = y * where(x == 0, where(y == 0, 0, pow(x, y - 1)), pow(x, y - 1)): 0 where both are 0;
// d/dy = where(x == 0, 0, r * log(x)).

// CHECK-LABEL: func.func @f.vjp(
// CHECK-SAME: %[[A0:[a-z0-9]+]]: f64{{.*}}, %[[A1:[a-z0-9]+]]: f64{{.*}}, %[[A2:.*]]: f64{{.*}}
// CHECK-DAG: %[[C0:.*]] = arith.constant 0.000000e+00 : f64
// CHECK-DAG: %[[C1:.*]] = arith.constant 1.000000e+00 : f64
// CHECK: %[[V0:.*]] = math.powf %[[A0]], %[[A1]] : f64
// CHECK: %[[V1:.*]] = arith.cmpf oeq, %[[A0]], %[[C0]] : f64
// CHECK: %[[V2:.*]] = arith.cmpf oeq, %[[A1]], %[[C0]] : f64
// CHECK: %[[V3:.*]] = arith.subf %[[A1]], %[[C1]] : f64
// CHECK: %[[V4:.*]] = math.powf %[[A0]], %[[V3]] : f64
// CHECK: %[[V5:.*]] = arith.select %[[V2]], %[[C0]], %[[V4]] : f64
// CHECK: %[[V6:.*]] = arith.select %[[V1]], %[[V5]], %[[V4]] : f64
// CHECK: %[[V7:.*]] = arith.mulf %[[A1]], %[[V6]] : f64
// CHECK: %[[V8:.*]] = arith.mulf %[[A2]], %[[V7]] : f64
// CHECK: %[[V9:.*]] = math.log %[[A0]] : f64
// CHECK: %[[V10:.*]] = arith.mulf %[[V0]], %[[V9]] : f64
// CHECK: %[[V11:.*]] = arith.mulf %[[A2]], %[[V10]] : f64
// CHECK: %[[V12:.*]] = arith.select %[[V1]], %[[C0]], %[[V11]] : f64
// CHECK: return %[[V0]], %[[V8]], %[[V12]] : f64, f64, f64

// JVP-LABEL: func.func @f.jvp(
// JVP-SAME: %[[A0:[a-z0-9]+]]: f64{{.*}}, %[[A1:[a-z0-9]+]]: f64{{.*}}, %[[A2:[a-z0-9]+]]: f64{{.*}}, %[[A3:.*]]: f64{{.*}}
// JVP-DAG: %[[C0:.*]] = arith.constant 0.000000e+00 : f64
// JVP-DAG: %[[C1:.*]] = arith.constant 1.000000e+00 : f64
// JVP: %[[V0:.*]] = math.powf %[[A0]], %[[A1]] : f64
// JVP: %[[V1:.*]] = arith.cmpf oeq, %[[A0]], %[[C0]] : f64
// JVP: %[[V2:.*]] = arith.cmpf oeq, %[[A1]], %[[C0]] : f64
// JVP: %[[V3:.*]] = arith.subf %[[A1]], %[[C1]] : f64
// JVP: %[[V4:.*]] = math.powf %[[A0]], %[[V3]] : f64
// JVP: %[[V5:.*]] = arith.select %[[V2]], %[[C0]], %[[V4]] : f64
// JVP: %[[V6:.*]] = arith.select %[[V1]], %[[V5]], %[[V4]] : f64
// JVP: %[[V7:.*]] = arith.mulf %[[A1]], %[[V6]] : f64
// JVP: %[[V8:.*]] = arith.mulf %[[A2]], %[[V7]] : f64
// JVP: %[[V9:.*]] = math.log %[[A0]] : f64
// JVP: %[[V10:.*]] = arith.mulf %[[V0]], %[[V9]] : f64
// JVP: %[[V11:.*]] = arith.mulf %[[A3]], %[[V10]] : f64
// JVP: %[[V12:.*]] = arith.select %[[V1]], %[[C0]], %[[V11]] : f64
// JVP: %[[V13:.*]] = arith.addf %[[V8]], %[[V12]] : f64
// JVP: return %[[V0]], %[[V13]] : f64, f64
func.func @f(%x: f64, %y: f64) -> f64 attributes {kern.program} {
  %r = math.powf %x, %y : f64
  return %r : f64
}
