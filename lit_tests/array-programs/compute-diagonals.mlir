// RUN: %pykern-opt %s --pass-pipeline="builtin.module(kern-compute-diagonals,canonicalize,cse)" | FileCheck %s

// Only the diagonal of a product is read: a sum of products for each place of it.

// CHECK-DAG: #[[ROW:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[COLUMN:.*]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-DAG: #[[AT:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: func.func @diagonal
// CHECK-NOT: tensor<8x8xf32>
// CHECK: linalg.generic {indexing_maps = [#[[ROW]], #[[COLUMN]], #[[AT]]], iterator_types = ["parallel", "reduction"]} ins(%arg0, %arg1
// CHECK: arith.mulf
// CHECK: arith.addf
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @diagonal(%a: tensor<8x5xf32>, %b: tensor<5x8xf32>) -> tensor<8xf32> {
  %zero = arith.constant 0.0 : f32
  %0 = tensor.empty() : tensor<8x8xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> ()>, affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]} ins(%zero : f32) outs(%0 : tensor<8x8xf32>) {
  ^bb0(%x: f32, %out: f32):
    linalg.yield %x : f32
  } -> tensor<8x8xf32>
  %2 = linalg.generic {
      indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<8x5xf32>, tensor<5x8xf32>) outs(%1 : tensor<8x8xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %out, %p : f32
    linalg.yield %s : f32
  } -> tensor<8x8xf32>
  %3 = tensor.empty() : tensor<8xf32>
  %4 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0, d0)>, affine_map<(d0) -> (d0)>],
      iterator_types = ["parallel"]} ins(%2 : tensor<8x8xf32>) outs(%3 : tensor<8xf32>) {
  ^bb0(%x: f32, %out: f32):
    linalg.yield %x : f32
  } -> tensor<8xf32>
  return %4 : tensor<8xf32>
}

// The whole product is read, too.
// CHECK-LABEL: func.func @both
// CHECK: iterator_types = ["parallel", "parallel", "reduction"]
// CHECK: return
func.func @both(%a: tensor<8x5xf32>, %b: tensor<5x8xf32>) -> (tensor<8xf32>, tensor<8x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %0 = tensor.empty() : tensor<8x8xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> ()>, affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]} ins(%zero : f32) outs(%0 : tensor<8x8xf32>) {
  ^bb0(%x: f32, %out: f32):
    linalg.yield %x : f32
  } -> tensor<8x8xf32>
  %2 = linalg.generic {
      indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<8x5xf32>, tensor<5x8xf32>) outs(%1 : tensor<8x8xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %out, %p : f32
    linalg.yield %s : f32
  } -> tensor<8x8xf32>
  %3 = tensor.empty() : tensor<8xf32>
  %4 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0, d0)>, affine_map<(d0) -> (d0)>],
      iterator_types = ["parallel"]} ins(%2 : tensor<8x8xf32>) outs(%3 : tensor<8xf32>) {
  ^bb0(%x: f32, %out: f32):
    linalg.yield %x : f32
  } -> tensor<8xf32>
  return %4, %2 : tensor<8xf32>, tensor<8x8xf32>
}
