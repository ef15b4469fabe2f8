// RUN: %pykern-opt %s --kern-outline-attention --canonicalize --cse | FileCheck %s

// Powers times the inverse of their sum, which is kept as a column: the same attention.

#map = affine_map<(d0, d1) -> (d1, d0)>
#map1 = affine_map<(d0, d1) -> (d0, d1)>
#map2 = affine_map<(d0, d1) -> ()>
#map3 = affine_map<(d0, d1, d2) -> (d0, d2)>
#map4 = affine_map<(d0, d1, d2) -> (d2, d1)>
#map5 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map6 = affine_map<(d0) -> ()>
#map7 = affine_map<(d0) -> (d0)>
#map8 = affine_map<(d0, d1) -> (d0)>

// CHECK-LABEL: func.func @program.inverse(
// CHECK-NEXT: %[[EMPTY:.*]] = tensor.empty() : tensor<64x16xf32>
// CHECK-NEXT: %[[R:.*]] = call @program.inverse.attention0(%arg0, %arg1, %arg2, %[[EMPTY]])
// CHECK-NEXT: return %[[R]]
// CHECK: func.func private @program.inverse.attention0.tiles
// CHECK-NOT: kern.unshifted
// CHECK: return
func.func @program.inverse(%arg0: tensor<64x16xf32>, %arg1: tensor<64x16xf32>, %arg2: tensor<64x16xf32>) -> tensor<64x16xf32> attributes {kern.program} {
  %cst = arith.constant 1.000000e+00 : f32
  %cst_0 = arith.constant 0xFF800000 : f32
  %cst_1 = arith.constant 0.000000e+00 : f32
  %0 = tensor.empty() : tensor<16x64xf32>
  %1 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg1 : tensor<64x16xf32>) outs(%0 : tensor<16x64xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<16x64xf32>
  %2 = tensor.empty() : tensor<64x64xf32>
  %3 = linalg.generic {indexing_maps = [#map2, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_1 : f32) outs(%2 : tensor<64x64xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<64x64xf32>
  %4 = linalg.generic {indexing_maps = [#map3, #map4, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg0, %1 : tensor<64x16xf32>, tensor<16x64xf32>) outs(%3 : tensor<64x64xf32>) {
  ^bb0(%in: f32, %in_2: f32, %out: f32):
    %18 = arith.mulf %in, %in_2 : f32
    %19 = arith.addf %out, %18 : f32
    linalg.yield %19 : f32
  } -> tensor<64x64xf32>
  %5 = tensor.empty() : tensor<64xf32>
  %6 = linalg.generic {indexing_maps = [#map6, #map7], iterator_types = ["parallel"]} ins(%cst_0 : f32) outs(%5 : tensor<64xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<64xf32>
  %7 = linalg.generic {indexing_maps = [#map1, #map8], iterator_types = ["parallel", "reduction"]} ins(%4 : tensor<64x64xf32>) outs(%6 : tensor<64xf32>) {
  ^bb0(%in: f32, %out: f32):
    %18 = arith.maximumf %out, %in : f32
    linalg.yield %18 : f32
  } -> tensor<64xf32>
  %8 = linalg.generic {indexing_maps = [#map1, #map8, #map1], iterator_types = ["parallel", "parallel"]} ins(%4, %7 : tensor<64x64xf32>, tensor<64xf32>) outs(%2 : tensor<64x64xf32>) {
  ^bb0(%in: f32, %in_2: f32, %out: f32):
    %18 = arith.subf %in, %in_2 fastmath<contract> : f32
    linalg.yield %18 : f32
  } -> tensor<64x64xf32>
  %9 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%8 : tensor<64x64xf32>) outs(%2 : tensor<64x64xf32>) {
  ^bb0(%in: f32, %out: f32):
    %18 = math.exp %in fastmath<contract> : f32
    linalg.yield %18 : f32
  } -> tensor<64x64xf32>
  %10 = linalg.generic {indexing_maps = [#map6, #map7], iterator_types = ["parallel"]} ins(%cst_1 : f32) outs(%5 : tensor<64xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<64xf32>
  %11 = linalg.generic {indexing_maps = [#map1, #map8], iterator_types = ["parallel", "reduction"]} ins(%9 : tensor<64x64xf32>) outs(%10 : tensor<64xf32>) {
  ^bb0(%in: f32, %out: f32):
    %18 = arith.addf %out, %in fastmath<contract> : f32
    linalg.yield %18 : f32
  } -> tensor<64xf32>
  %expanded = tensor.expand_shape %11 [[0, 1]] output_shape [64, 1] : tensor<64xf32> into tensor<64x1xf32>
  %12 = tensor.empty() : tensor<64x1xf32>
  %13 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%expanded : tensor<64x1xf32>) outs(%12 : tensor<64x1xf32>) {
  ^bb0(%in: f32, %out: f32):
    %18 = arith.divf %cst, %in fastmath<contract> : f32
    linalg.yield %18 : f32
  } -> tensor<64x1xf32>
  %collapsed = tensor.collapse_shape %13 [[0, 1]] : tensor<64x1xf32> into tensor<64xf32>
  %14 = linalg.generic {indexing_maps = [#map1, #map8, #map1], iterator_types = ["parallel", "parallel"]} ins(%9, %collapsed : tensor<64x64xf32>, tensor<64xf32>) outs(%2 : tensor<64x64xf32>) {
  ^bb0(%in: f32, %in_2: f32, %out: f32):
    %18 = arith.mulf %in, %in_2 fastmath<contract> : f32
    linalg.yield %18 : f32
  } -> tensor<64x64xf32>
  %15 = tensor.empty() : tensor<64x16xf32>
  %16 = linalg.generic {indexing_maps = [#map2, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_1 : f32) outs(%15 : tensor<64x16xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<64x16xf32>
  %17 = linalg.generic {indexing_maps = [#map3, #map4, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%14, %arg2 : tensor<64x64xf32>, tensor<64x16xf32>) outs(%16 : tensor<64x16xf32>) {
  ^bb0(%in: f32, %in_2: f32, %out: f32):
    %18 = arith.mulf %in, %in_2 : f32
    %19 = arith.addf %out, %18 : f32
    linalg.yield %19 : f32
  } -> tensor<64x16xf32>
  return %17 : tensor<64x16xf32>
}
