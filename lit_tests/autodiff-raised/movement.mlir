// RUN: %pykern-opt %s --kern-reverse=active=0,1 --canonicalize --cse | FileCheck %s

// What is put in is cut out of the cotangent, and what it covered gets zeros.
// CHECK-LABEL: func.func @insert.vjp
// CHECK: %[[XBAR:.*]] = tensor.extract_slice %[[BAR:.*]][2] [3] [1]
// CHECK: %[[ZEROS:.*]] = linalg.fill {{.*}} outs(%[[XBAR]] :
// CHECK: %[[YBAR:.*]] = tensor.insert_slice %[[ZEROS]] into %[[BAR]][2] [3] [1]
// CHECK: return %{{.*}}, %[[XBAR]], %[[YBAR]]
func.func @insert(%x: tensor<3xf64>, %y: tensor<8xf64>) -> tensor<8xf64> attributes {kern.program} {
  %r = tensor.insert_slice %x into %y[2] [3] [1] : tensor<3xf64> into tensor<8xf64>
  return %r : tensor<8xf64>
}

// What is cut out is put into zeros, then added to what is there.
// CHECK-LABEL: func.func @extract.vjp
// CHECK: %[[ZEROS:.*]] = linalg.fill
// CHECK: %[[ONE:.*]] = tensor.insert_slice %{{.*}} into %[[ZEROS]][0] [2] [3]
// CHECK: %[[PART:.*]] = tensor.extract_slice %[[ONE]][4] [3] [1]
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}}outs(%[[PART]] :
// CHECK: %[[BOTH:.*]] = tensor.insert_slice %[[SUM]] into %[[ONE]][4] [3] [1]
// CHECK: return %{{.*}}, %{{.*}}, %[[BOTH]], %cst
func.func @extract(%x: tensor<8xf64>, %y: f64) -> (tensor<3xf64>, tensor<2xf64>) attributes {kern.program} {
  %a = tensor.extract_slice %x[4] [3] [1] : tensor<8xf64> to tensor<3xf64>
  %b = tensor.extract_slice %x[0] [2] [3] : tensor<8xf64> to tensor<2xf64>
  return %a, %b : tensor<3xf64>, tensor<2xf64>
}

// CHECK-LABEL: func.func @elements.vjp
// CHECK-SAME: %[[I:[a-z0-9]+]]: index, %[[ABAR:[a-z0-9]+]]: f64 {{.*}}, %[[BBAR:[a-z0-9]+]]: tensor<8xf64> {
// CHECK: %[[YBAR:.*]] = tensor.extract %[[BBAR]][%[[I]]]
// CHECK: %[[LEFT:.*]] = tensor.insert %cst into %[[BBAR]][%[[I]]]
// CHECK: %[[OLD:.*]] = tensor.extract %[[LEFT]][%[[I]]]
// CHECK: %[[NEW:.*]] = arith.addf %[[OLD]], %[[ABAR]]
// CHECK: %[[XBAR:.*]] = tensor.insert %[[NEW]] into %[[LEFT]][%[[I]]]
// CHECK: return %{{.*}}, %{{.*}}, %[[XBAR]], %[[YBAR]]
func.func @elements(%x: tensor<8xf64>, %y: f64, %i: index) -> (f64, tensor<8xf64>) attributes {kern.program} {
  %a = tensor.extract %x[%i] : tensor<8xf64>
  %b = tensor.insert %y into %x[%i] : tensor<8xf64>
  return %a, %b : f64, tensor<8xf64>
}

// CHECK-LABEL: func.func @shapes.vjp
// CHECK: %[[YBAR:.*]] = tensor.extract_slice %{{.*}}[1] [4] [1] : tensor<7xf64> to tensor<4xf64>
// CHECK: %[[XBAR:.*]] = tensor.expand_shape %{{.*}} {{\[\[}}0, 1]] output_shape [2, 3]
// CHECK: return %{{.*}}, %{{.*}}, %[[XBAR]], %[[YBAR]]
func.func @shapes(%x: tensor<2x3xf64>, %y: tensor<4xf64>) -> (tensor<6xf64>, tensor<7xf64>) attributes {kern.program} {
  %zero = arith.constant 0.0 : f64
  %a = tensor.collapse_shape %x [[0, 1]] : tensor<2x3xf64> into tensor<6xf64>
  %b = tensor.pad %y low[1] high[2] {
  ^bb0(%i: index):
    tensor.yield %zero : f64
  } : tensor<4xf64> to tensor<7xf64>
  return %a, %b : tensor<6xf64>, tensor<7xf64>
}

// Reads at computed places: what flows to each read is made in parallel, and summed up in order.
// CHECK-LABEL: func.func @lookup.vjp
// The places are read where they are: nothing is computed for them.
// CHECK: %[[FLOW:.*]] = linalg.generic {{.*}} ins(%arg3, %arg1 : tensor<3xf64>, tensor<3xf64>) outs(%{{.*}} : tensor<3xf64>)
// CHECK: scf.for %[[I:.*]] = {{.*}} iter_args(%[[BAR:.*]] = %
// CHECK: %[[AT:.*]] = tensor.extract %arg2[%[[I]]]
// CHECK: %[[OLD:.*]] = tensor.extract %[[BAR]][%[[AT]]]
// CHECK: %[[PART:.*]] = tensor.extract %[[FLOW]][%[[I]]]
// CHECK: %[[NEW:.*]] = arith.addf %[[OLD]], %[[PART]]
// CHECK: tensor.insert %[[NEW]] into %[[BAR]][%[[AT]]]
func.func @lookup(%x: tensor<8xf64>, %y: tensor<3xf64>, %k: tensor<3xindex>) -> tensor<3xf64> attributes {kern.program} {
  %e = tensor.empty() : tensor<3xf64>
  %r = linalg.generic {
      indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]} ins(%y, %k : tensor<3xf64>, tensor<3xindex>) outs(%e : tensor<3xf64>) {
  ^bb0(%a: f64, %n: index, %o: f64):
    %v = tensor.extract %x[%n] : tensor<8xf64>
    %p = arith.mulf %v, %a : f64
    linalg.yield %p : f64
  } -> tensor<3xf64>
  return %r : tensor<3xf64>
}

// A row that is looked up has its elements where the loop is, and its place once for all of them.
// CHECK-LABEL: func.func @rows.vjp
// CHECK: %[[FLOW:.*]] = linalg.generic {{.*}} ins(%arg3, %arg1 : tensor<3x4xf64>, tensor<4xf64>)
// CHECK: %[[PLACES:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<3x1xindex>)
// CHECK: scf.for %[[I:[^ ]*]] =
// CHECK: scf.for %[[J:[^ ]*]] = {{.*}} iter_args(%[[BAR:.*]] = %
// CHECK: %[[ROW:.*]] = tensor.extract %[[PLACES]][%[[I]], %{{.*}}]
// CHECK: tensor.extract %[[BAR]][%[[ROW]], %[[J]]]
// CHECK: tensor.extract %[[FLOW]][%[[I]], %[[J]]]
func.func @rows(%x: tensor<8x4xf64>, %y: tensor<4xf64>, %k: tensor<3xi64>) -> tensor<3x4xf64> attributes {kern.program} {
  %e = tensor.empty() : tensor<3x4xf64>
  %r = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%y, %k : tensor<4xf64>, tensor<3xi64>) outs(%e : tensor<3x4xf64>) {
  ^bb0(%a: f64, %n: i64, %o: f64):
    %row = arith.index_cast %n : i64 to index
    %column = linalg.index 1 : index
    %v = tensor.extract %x[%row, %column] : tensor<8x4xf64>
    %p = arith.mulf %v, %a : f64
    linalg.yield %p : f64
  } -> tensor<3x4xf64>
  return %r : tensor<3x4xf64>
}
