// RUN: %pykern-opt %s --kern-reverse --canonicalize --cse | FileCheck %s

// One op on elements: the cotangent is one parallel op that reads only what the rules read.

// CHECK-LABEL: func.func @f.vjp
// CHECK-SAME: (%[[X:[a-z0-9]+]]: tensor<4xf64>, %[[Y:[a-z0-9]+]]: tensor<4xf64>, %[[BAR:[a-z0-9]+]]: tensor<4xf64> {kern.name = "result0.cotangent"})
// CHECK: %[[R:.*]] = linalg.generic
// CHECK: %[[BARS:.*]]:2 = linalg.generic
// CHECK-SAME: iterator_types = ["parallel"]
// CHECK-SAME: ins(%[[BAR]], %[[Y]], %[[X]] :
// CHECK: ^bb0(%[[B:[a-z0-9_]+]]: f64, %[[V:[a-z0-9_]+]]: f64, %[[U:[a-z0-9_]+]]: f64,
// CHECK-DAG: %[[P:.*]] = arith.mulf %[[B]], %[[V]]
// CHECK-DAG: %[[E:.*]] = math.exp %[[U]]
// CHECK-DAG: %[[YBAR:.*]] = arith.mulf %[[B]], %[[E]]
// CHECK-DAG: %[[XBAR:.*]] = arith.mulf %[[P]], %[[E]]
// CHECK: linalg.yield %[[XBAR]], %[[YBAR]]
// CHECK: return %[[R]], %[[BARS]]#0, %[[BARS]]#1
func.func @f(%x: tensor<4xf64>, %y: tensor<4xf64>) -> tensor<4xf64> attributes {kern.program} {
  %e = tensor.empty() : tensor<4xf64>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]} ins(%x, %y : tensor<4xf64>, tensor<4xf64>) outs(%e : tensor<4xf64>) {
  ^bb0(%a: f64, %b: f64, %o: f64):
    %s = math.exp %a : f64
    %p = arith.mulf %s, %b : f64
    linalg.yield %p : f64
  } -> tensor<4xf64>
  return %r : tensor<4xf64>
}
