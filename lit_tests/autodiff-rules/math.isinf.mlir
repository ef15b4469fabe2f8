// RUN: %pykern-opt %s --kern-reverse --canonicalize --cse | FileCheck %s
// RUN: %pykern-opt %s --kern-forward --canonicalize --cse | FileCheck %s --check-prefix=JVP

// `math.isinf`: nothing flows through; what goes past it does.

// CHECK-LABEL: func.func @f.vjp(
// CHECK-SAME: %[[A0:[a-z0-9]+]]: f64{{.*}}, %[[A1:[a-z0-9]+]]: f64{{.*}}, %[[A2:.*]]: f64{{.*}}
// CHECK-DAG: %[[C0:.*]] = arith.constant 0.000000e+00 : f64
// CHECK: %[[V0:.*]] = math.isinf %[[A0]] : f64
// CHECK: %[[V1:.*]] = arith.select %[[V0]], %[[A1]], %[[A0]] : f64
// CHECK: %[[V2:.*]] = arith.select %[[V0]], %[[A2]], %[[C0]] : f64
// CHECK: %[[V3:.*]] = arith.select %[[V0]], %[[C0]], %[[A2]] : f64
// CHECK: return %[[V1]], %[[V3]], %[[V2]] : f64, f64, f64

// JVP-LABEL: func.func @f.jvp(
// JVP-SAME: %[[A0:[a-z0-9]+]]: f64{{.*}}, %[[A1:[a-z0-9]+]]: f64{{.*}}, %[[A2:[a-z0-9]+]]: f64{{.*}}, %[[A3:.*]]: f64{{.*}}
// JVP-DAG: %[[C0:.*]] = arith.constant 0.000000e+00 : f64
// JVP: %[[V0:.*]] = math.isinf %[[A0]] : f64
// JVP: %[[V1:.*]] = arith.select %[[V0]], %[[A1]], %[[A0]] : f64
// JVP: %[[V2:.*]] = arith.select %[[V0]], %[[A3]], %[[C0]] : f64
// JVP: %[[V3:.*]] = arith.select %[[V0]], %[[C0]], %[[A2]] : f64
// JVP: %[[V4:.*]] = arith.addf %[[V2]], %[[V3]] : f64
// JVP: return %[[V1]], %[[V4]] : f64, f64
func.func @f(%x: f64, %y: f64) -> f64 attributes {kern.program} {
  %c = math.isinf %x : f64
  %r = arith.select %c, %y, %x : f64
  return %r : f64
}
