// RUN: %pykern-opt %s --kern-reverse --canonicalize --cse | FileCheck %s
// RUN: %pykern-opt %s --kern-forward --canonicalize --cse | FileCheck %s --check-prefix=JVP

// `math.cbrt`: d/dx = 1 / (3 * (r * r)).

// CHECK-LABEL: func.func @f.vjp(
// CHECK-SAME: %[[A0:[a-z0-9]+]]: f64{{.*}}, %[[A1:.*]]: f64{{.*}}
// CHECK-DAG: %[[C0:.*]] = arith.constant 3.000000e+00 : f64
// CHECK: %[[V0:.*]] = math.cbrt %[[A0]] : f64
// CHECK: %[[V1:.*]] = arith.mulf %[[V0]], %[[V0]] : f64
// CHECK: %[[V2:.*]] = arith.mulf %[[V1]], %[[C0]] : f64
// CHECK: %[[V3:.*]] = arith.divf %[[A1]], %[[V2]] : f64
// CHECK: return %[[V0]], %[[V3]] : f64, f64

// JVP-LABEL: func.func @f.jvp(
// JVP-SAME: %[[A0:[a-z0-9]+]]: f64{{.*}}, %[[A1:.*]]: f64{{.*}}
// JVP-DAG: %[[C0:.*]] = arith.constant 3.000000e+00 : f64
// JVP: %[[V0:.*]] = math.cbrt %[[A0]] : f64
// JVP: %[[V1:.*]] = arith.mulf %[[V0]], %[[V0]] : f64
// JVP: %[[V2:.*]] = arith.mulf %[[V1]], %[[C0]] : f64
// JVP: %[[V3:.*]] = arith.divf %[[A1]], %[[V2]] : f64
// JVP: return %[[V0]], %[[V3]] : f64, f64
func.func @f(%x: f64) -> f64 attributes {kern.program} {
  %r = math.cbrt %x : f64
  return %r : f64
}
