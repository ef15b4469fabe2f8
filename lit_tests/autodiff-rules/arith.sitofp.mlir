// RUN: %pykern-opt %s --kern-reverse --canonicalize --cse | FileCheck %s
// RUN: %pykern-opt %s --kern-forward --canonicalize --cse | FileCheck %s --check-prefix=JVP

// `arith.sitofp`: nothing flows through; what goes past it does.

// CHECK-LABEL: func.func @f.vjp(
// CHECK-SAME: %[[A0:[a-z0-9]+]]: f64{{.*}}, %[[A1:[a-z0-9]+]]: f64{{.*}}, %[[A2:.*]]: f64{{.*}}
// CHECK-DAG: %[[C0:.*]] = arith.constant 0.000000e+00 : f64
// CHECK: %[[V0:.*]] = arith.fptosi %[[A0]] : f64 to i8
// CHECK: %[[V1:.*]] = arith.sitofp %[[V0]] : i8 to f64
// CHECK: %[[V2:.*]] = arith.addf %[[V1]], %[[A1]] : f64
// CHECK: return %[[V2]], %[[C0]], %[[A2]] : f64, f64, f64

// JVP-LABEL: func.func @f.jvp(
// JVP-SAME: %[[A0:[a-z0-9]+]]: f64{{.*}}, %[[A1:[a-z0-9]+]]: f64{{.*}}, %[[A2:[a-z0-9]+]]: f64{{.*}}, %[[A3:.*]]: f64{{.*}}
// JVP: %[[V0:.*]] = arith.fptosi %[[A0]] : f64 to i8
// JVP: %[[V1:.*]] = arith.sitofp %[[V0]] : i8 to f64
// JVP: %[[V2:.*]] = arith.addf %[[V1]], %[[A1]] : f64
// JVP: return %[[V2]], %[[A3]] : f64, f64
func.func @f(%x: f64, %y: f64) -> f64 attributes {kern.program} {
  %n = arith.fptosi %x : f64 to i8
  %w = arith.sitofp %n : i8 to f64
  %r = arith.addf %w, %y : f64
  return %r : f64
}
