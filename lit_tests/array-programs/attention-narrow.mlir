// RUN: %pykern-opt %s --kern-outline-attention --convert-elementwise-to-linalg --canonicalize --cse | FileCheck %s

// f16, no maximum taken off, the sum divides behind the second product: scores, powers and sums are f32, conversions
// between the operations are gone, the result is written as f16 at once. Powers may be rounded to what they are here.

#map = affine_map<(d0, d1) -> (d1, d0)>
#map1 = affine_map<(d0, d1) -> (d0, d1)>
#map2 = affine_map<(d0, d1) -> ()>
#map3 = affine_map<(d0, d1, d2) -> (d0, d2)>
#map4 = affine_map<(d0, d1, d2) -> (d2, d1)>
#map5 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map6 = affine_map<(d0) -> ()>
#map7 = affine_map<(d0) -> (d0)>
#map8 = affine_map<(d0, d1) -> (d0)>

// CHECK-LABEL: func.func @program.narrow(
// CHECK: %[[R:.*]] = call @program.narrow.attention0(%arg0, %arg1, %arg2, %{{.*}}) : ({{.*}}) -> tensor<64x16xf16>
// CHECK-NEXT: return %[[R]]
// CHECK-NOT: math.exp
// CHECK: func.func private @program.narrow.attention0.score(%[[S:.*]]: f32, %{{.*}}: index, %{{.*}}: index) -> f32
// CHECK-NEXT: return %[[S]] : f32
// CHECK: func.func private @program.narrow.attention0.tiles(memref<64x16xf16>, memref<64x16xf16>, memref<64x16xf16>, memref<64x16xf16>)
// CHECK-SAME: kern.unshifted, kern.weights = f16
func.func @program.narrow(%arg0: tensor<64x16xf16>, %arg1: tensor<64x16xf16>, %arg2: tensor<64x16xf16>) -> tensor<64x16xf16> attributes {kern.program} {
  %cst = arith.constant 0.000000e+00 : f32
  %0 = tensor.empty() : tensor<16x64xf16>
  %1 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg1 : tensor<64x16xf16>) outs(%0 : tensor<16x64xf16>) {
  ^bb0(%in: f16, %out: f16):
    linalg.yield %in : f16
  } -> tensor<16x64xf16>
  %2 = tensor.empty() : tensor<64x64xf32>
  %3 = linalg.generic {indexing_maps = [#map2, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst : f32) outs(%2 : tensor<64x64xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<64x64xf32>
  %4 = linalg.generic {indexing_maps = [#map3, #map4, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg0, %1 : tensor<64x16xf16>, tensor<16x64xf16>) outs(%3 : tensor<64x64xf32>) {
  ^bb0(%in: f16, %in_0: f16, %out: f32):
    %19 = arith.extf %in : f16 to f32
    %20 = arith.extf %in_0 : f16 to f32
    %21 = arith.mulf %19, %20 fastmath<contract> : f32
    %22 = arith.addf %out, %21 fastmath<contract> : f32
    linalg.yield %22 : f32
  } -> tensor<64x64xf32>
  %5 = tensor.empty() : tensor<64x64xf16>
  %6 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%4 : tensor<64x64xf32>) outs(%5 : tensor<64x64xf16>) {
  ^bb0(%in: f32, %out: f16):
    %19 = arith.truncf %in : f32 to f16
    linalg.yield %19 : f16
  } -> tensor<64x64xf16>
  %7 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%6 : tensor<64x64xf16>) outs(%5 : tensor<64x64xf16>) {
  ^bb0(%in: f16, %out: f16):
    %19 = math.exp %in fastmath<contract> : f16
    linalg.yield %19 : f16
  } -> tensor<64x64xf16>
  %8 = tensor.empty() : tensor<64x16xf32>
  %9 = linalg.generic {indexing_maps = [#map2, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst : f32) outs(%8 : tensor<64x16xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<64x16xf32>
  %10 = linalg.generic {indexing_maps = [#map3, #map4, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%7, %arg2 : tensor<64x64xf16>, tensor<64x16xf16>) outs(%9 : tensor<64x16xf32>) {
  ^bb0(%in: f16, %in_0: f16, %out: f32):
    %19 = arith.extf %in : f16 to f32
    %20 = arith.extf %in_0 : f16 to f32
    %21 = arith.mulf %19, %20 fastmath<contract> : f32
    %22 = arith.addf %out, %21 fastmath<contract> : f32
    linalg.yield %22 : f32
  } -> tensor<64x16xf32>
  %11 = tensor.empty() : tensor<64x16xf16>
  %12 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%10 : tensor<64x16xf32>) outs(%11 : tensor<64x16xf16>) {
  ^bb0(%in: f32, %out: f16):
    %19 = arith.truncf %in : f32 to f16
    linalg.yield %19 : f16
  } -> tensor<64x16xf16>
  %13 = tensor.empty() : tensor<64xf32>
  %14 = linalg.generic {indexing_maps = [#map6, #map7], iterator_types = ["parallel"]} ins(%cst : f32) outs(%13 : tensor<64xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<64xf32>
  %15 = linalg.generic {indexing_maps = [#map1, #map8], iterator_types = ["parallel", "reduction"]} ins(%7 : tensor<64x64xf16>) outs(%14 : tensor<64xf32>) {
  ^bb0(%in: f16, %out: f32):
    %19 = arith.extf %in : f16 to f32
    %20 = arith.addf %out, %19 fastmath<contract> : f32
    linalg.yield %20 : f32
  } -> tensor<64xf32>
  %16 = tensor.empty() : tensor<64xf16>
  %17 = linalg.generic {indexing_maps = [#map7, #map7], iterator_types = ["parallel"]} ins(%15 : tensor<64xf32>) outs(%16 : tensor<64xf16>) {
  ^bb0(%in: f32, %out: f16):
    %19 = arith.truncf %in : f32 to f16
    linalg.yield %19 : f16
  } -> tensor<64xf16>
  %18 = linalg.generic {indexing_maps = [#map1, #map8, #map1], iterator_types = ["parallel", "parallel"]} ins(%12, %17 : tensor<64x16xf16>, tensor<64xf16>) outs(%11 : tensor<64x16xf16>) {
  ^bb0(%in: f16, %in_0: f16, %out: f16):
    %19 = arith.divf %in, %in_0 fastmath<contract> : f16
    linalg.yield %19 : f16
  } -> tensor<64x16xf16>
  return %18 : tensor<64x16xf16>
}
