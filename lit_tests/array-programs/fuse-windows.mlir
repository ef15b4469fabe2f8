// RUN: %pykern-opt %s --kern-fuse-windows | FileCheck %s

// The squares of what windows differ from their mean by: added up as they are computed.

// CHECK-DAG: #[[SUM:.*]] = affine_map<(d0, d1) -> (d0 + d1)>
// CHECK-DAG: #[[ROW:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK-DAG: #[[IN:.*]] = affine_map<(d0, d1) -> (d1)>
// CHECK-LABEL: func.func @variance
// CHECK: %[[LENGTH:.*]] = tensor.empty() : tensor<4xf32>
// CHECK: linalg.generic {indexing_maps = [#[[SUM]], #[[ROW]], #[[IN]], #[[ROW]]], iterator_types = ["parallel", "reduction"]} ins(%arg0, %arg1, %[[LENGTH]] :
// CHECK: arith.subf
// CHECK: arith.mulf
// CHECK: arith.addf
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @variance(%x: tensor<12xf32>, %mean: tensor<9xf32>, %start: tensor<9xf32>) -> tensor<9xf32> {
  %0 = tensor.empty() : tensor<9x4xf32>
  %1 = linalg.generic {
      indexing_maps = [affine_map<(d0, d1) -> (d0 + d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]} ins(%x, %mean : tensor<12xf32>, tensor<9xf32>) outs(%0 : tensor<9x4xf32>) {
  ^bb0(%a: f32, %m: f32, %out: f32):
    %d = arith.subf %a, %m : f32
    %q = arith.mulf %d, %d : f32
    linalg.yield %q : f32
  } -> tensor<9x4xf32>
  %2 = linalg.generic {
      indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>],
      iterator_types = ["parallel", "reduction"]} ins(%1 : tensor<9x4xf32>) outs(%start : tensor<9xf32>) {
  ^bb0(%a: f32, %out: f32):
    %s = arith.addf %out, %a : f32
    linalg.yield %s : f32
  } -> tensor<9xf32>
  return %2 : tensor<9xf32>
}

// What another one reads, too, is kept.
// CHECK-LABEL: func.func @read_twice
// CHECK-COUNT-2: linalg.generic
// CHECK: return
func.func @read_twice(%x: tensor<12xf32>, %start: tensor<9xf32>) -> (tensor<9xf32>, tensor<9x4xf32>) {
  %0 = tensor.empty() : tensor<9x4xf32>
  %1 = linalg.generic {
      indexing_maps = [affine_map<(d0, d1) -> (d0 + d1)>, affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]} ins(%x : tensor<12xf32>) outs(%0 : tensor<9x4xf32>) {
  ^bb0(%a: f32, %out: f32):
    %q = arith.mulf %a, %a : f32
    linalg.yield %q : f32
  } -> tensor<9x4xf32>
  %2 = linalg.generic {
      indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>],
      iterator_types = ["parallel", "reduction"]} ins(%1 : tensor<9x4xf32>) outs(%start : tensor<9xf32>) {
  ^bb0(%a: f32, %out: f32):
    %s = arith.addf %out, %a : f32
    linalg.yield %s : f32
  } -> tensor<9xf32>
  return %2, %1 : tensor<9xf32>, tensor<9x4xf32>
}
