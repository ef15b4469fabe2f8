// RUN: %pykern-opt %s --kern-reverse --canonicalize --cse | FileCheck %s
// RUN: %pykern-opt %s --kern-forward --canonicalize --cse | FileCheck %s --check-prefix=JVP

// `math.roundeven`: nothing flows to x.

// CHECK-LABEL: func.func @f.vjp(
// CHECK-SAME: %[[A0:[a-z0-9]+]]: f64{{.*}}, %[[A1:.*]]: f64{{.*}}
// CHECK-DAG: %[[C0:.*]] = arith.constant 0.000000e+00 : f64
// CHECK: %[[V0:.*]] = math.roundeven %[[A0]] : f64
// CHECK: return %[[V0]], %[[C0]] : f64, f64

// JVP-LABEL: func.func @f.jvp(
// JVP-SAME: %[[A0:[a-z0-9]+]]: f64{{.*}}, %[[A1:.*]]: f64{{.*}}
// JVP-DAG: %[[C0:.*]] = arith.constant 0.000000e+00 : f64
// JVP: %[[V0:.*]] = math.roundeven %[[A0]] : f64
// JVP: return %[[V0]], %[[C0]] : f64, f64
func.func @f(%x: f64) -> f64 attributes {kern.program} {
  %r = math.roundeven %x : f64
  return %r : f64
}
