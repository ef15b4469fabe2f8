// RUN: %pykern-opt %s --kern-reverse --canonicalize --cse | FileCheck %s
// RUN: %pykern-opt %s --kern-forward --canonicalize --cse | FileCheck %s --check-prefix=JVP

// `math.fpowi`: d/dx = where(y == 0, 0, real(y) * powi(x, y - 1)); nothing flows to y.

// CHECK-LABEL: func.func @f.vjp(
// CHECK-SAME: %[[A0:[a-z0-9]+]]: f64{{.*}}, %[[A1:[a-z0-9]+]]: i32{{.*}}, %[[A2:.*]]: f64{{.*}}
// CHECK-DAG: %[[C0:.*]] = arith.constant 0.000000e+00 : f64
// CHECK-DAG: %[[C1:.*]] = arith.constant 0 : i32
// CHECK-DAG: %[[C2:.*]] = arith.constant 1 : i32
// CHECK: %[[V0:.*]] = math.fpowi %[[A0]], %[[A1]] : f64, i32
// CHECK: %[[V1:.*]] = arith.sitofp %[[A1]] : i32 to f64
// CHECK: %[[V2:.*]] = arith.subi %[[A1]], %[[C2]] : i32
// CHECK: %[[V3:.*]] = math.fpowi %[[A0]], %[[V2]] : f64, i32
// CHECK: %[[V4:.*]] = arith.mulf %[[V1]], %[[V3]] : f64
// CHECK: %[[V5:.*]] = arith.mulf %[[A2]], %[[V4]] : f64
// CHECK: %[[V6:.*]] = arith.cmpi eq, %[[A1]], %[[C1]] : i32
// CHECK: %[[V7:.*]] = arith.select %[[V6]], %[[C0]], %[[V5]] : f64
// CHECK: return %[[V0]], %[[V7]] : f64, f64

// JVP-LABEL: func.func @f.jvp(
// JVP-SAME: %[[A0:[a-z0-9]+]]: f64{{.*}}, %[[A1:[a-z0-9]+]]: i32{{.*}}, %[[A2:.*]]: f64{{.*}}
// JVP-DAG: %[[C0:.*]] = arith.constant 0.000000e+00 : f64
// JVP-DAG: %[[C1:.*]] = arith.constant 0 : i32
// JVP-DAG: %[[C2:.*]] = arith.constant 1 : i32
// JVP: %[[V0:.*]] = math.fpowi %[[A0]], %[[A1]] : f64, i32
// JVP: %[[V1:.*]] = arith.sitofp %[[A1]] : i32 to f64
// JVP: %[[V2:.*]] = arith.subi %[[A1]], %[[C2]] : i32
// JVP: %[[V3:.*]] = math.fpowi %[[A0]], %[[V2]] : f64, i32
// JVP: %[[V4:.*]] = arith.mulf %[[V1]], %[[V3]] : f64
// JVP: %[[V5:.*]] = arith.mulf %[[A2]], %[[V4]] : f64
// JVP: %[[V6:.*]] = arith.cmpi eq, %[[A1]], %[[C1]] : i32
// JVP: %[[V7:.*]] = arith.select %[[V6]], %[[C0]], %[[V5]] : f64
// JVP: return %[[V0]], %[[V7]] : f64, f64
func.func @f(%x: f64, %y: i32) -> f64 attributes {kern.program} {
  %r = math.fpowi %x, %y : f64, i32
  return %r : f64
}
