// RUN: %pykern-opt %s --kern-reverse --canonicalize --cse | FileCheck %s
// RUN: %pykern-opt %s --kern-forward --canonicalize --cse | FileCheck %s --check-prefix=JVP

// `arith.select`: to the value that was chosen.

// CHECK-LABEL: func.func @f.vjp(
// CHECK-SAME: %[[A0:[a-z0-9]+]]: i1{{.*}}, %[[A1:[a-z0-9]+]]: f64{{.*}}, %[[A2:[a-z0-9]+]]: f64{{.*}}, %[[A3:.*]]: f64{{.*}}
// CHECK-DAG: %[[C0:.*]] = arith.constant 0.000000e+00 : f64
// CHECK: %[[V0:.*]] = arith.select %[[A0]], %[[A1]], %[[A2]] : f64
// CHECK: %[[V1:.*]] = arith.select %[[A0]], %[[A3]], %[[C0]] : f64
// CHECK: %[[V2:.*]] = arith.select %[[A0]], %[[C0]], %[[A3]] : f64
// CHECK: return %[[V0]], %[[V1]], %[[V2]] : f64, f64, f64

// JVP-LABEL: func.func @f.jvp(
// JVP-SAME: %[[A0:[a-z0-9]+]]: i1{{.*}}, %[[A1:[a-z0-9]+]]: f64{{.*}}, %[[A2:[a-z0-9]+]]: f64{{.*}}, %[[A3:[a-z0-9]+]]: f64{{.*}}, %[[A4:.*]]: f64{{.*}}
// JVP-DAG: %[[C0:.*]] = arith.constant 0.000000e+00 : f64
// JVP: %[[V0:.*]] = arith.select %[[A0]], %[[A1]], %[[A2]] : f64
// JVP: %[[V1:.*]] = arith.select %[[A0]], %[[A3]], %[[C0]] : f64
// JVP: %[[V2:.*]] = arith.select %[[A0]], %[[C0]], %[[A4]] : f64
// JVP: %[[V3:.*]] = arith.addf %[[V1]], %[[V2]] : f64
// JVP: return %[[V0]], %[[V3]] : f64, f64
func.func @f(%c: i1, %x: f64, %y: f64) -> f64 attributes {kern.program} {
  %r = arith.select %c, %x, %y : f64
  return %r : f64
}
