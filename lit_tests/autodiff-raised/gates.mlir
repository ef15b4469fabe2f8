// RUN: %pykern-opt %s --kern-reverse --canonicalize --cse | FileCheck %s

// What flows to the root is zero where it was not chosen, and is cut to zero once more behind its partial derivative,
// which is infinite at zero: where anything flows goes along as bytes.

// CHECK-LABEL: func.func @f.vjp
// CHECK: tensor.empty() : tensor<4xi8>
// CHECK: %[[GATE:.*]] = linalg.generic
// CHECK: arith.cmpf ogt
// CHECK: arith.extui
// CHECK: } -> tensor<4xi8>
// CHECK: linalg.generic {{.*}} ins({{.*}}%[[GATE]]
// CHECK-DAG: %[[OPEN:.*]] = arith.trunci
// CHECK-DAG: %[[PART:.*]] = arith.mulf
// CHECK: arith.select %[[OPEN]], %[[PART]]
#map = affine_map<(d0) -> (d0)>
func.func @f(%x: tensor<4xf64>) -> tensor<4xf64> attributes {kern.program} {
  %e = tensor.empty() : tensor<4xf64>
  %z = arith.constant 0.0 : f64
  %s = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%x : tensor<4xf64>) outs(%e : tensor<4xf64>) {
  ^bb0(%in: f64, %out: f64):
    %y = math.sqrt %in : f64
    linalg.yield %y : f64
  } -> tensor<4xf64>
  %r = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%x, %s : tensor<4xf64>, tensor<4xf64>) outs(%e : tensor<4xf64>) {
  ^bb0(%in: f64, %b: f64, %out: f64):
    %c = arith.cmpf ogt, %in, %z : f64
    %y = arith.select %c, %b, %z : f64
    linalg.yield %y : f64
  } -> tensor<4xf64>
  return %r : tensor<4xf64>
}
