// RUN: %pykern-opt %s --kern-slice-first --canonicalize --cse | FileCheck %s

#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (j)>

// Read in two slices alone: computed for each of them, from slices of what it is made of.

// CHECK-LABEL: @widened
// CHECK-SAME: (%[[X:.*]]: tensor<8x10xf32>, %[[W:.*]]: tensor<10xf32>)
// CHECK-DAG: tensor.extract_slice %[[X]][0, 1] [8, 5] [1, 2] : tensor<8x10xf32> to tensor<8x5xf32>
// CHECK-DAG: tensor.extract_slice %[[W]][1] [5] [2] : tensor<10xf32> to tensor<5xf32>
// CHECK-DAG: tensor.extract_slice %[[X]][0, 0] [8, 5] [1, 2]
// CHECK-NOT: tensor<8x10xf64>
// CHECK: return
func.func @widened(%x: tensor<8x10xf32>, %w: tensor<10xf32>) -> tensor<8x5xf64> {
  %e = tensor.empty() : tensor<8x10xf64>
  %y = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x, %w : tensor<8x10xf32>, tensor<10xf32>) outs(%e : tensor<8x10xf64>) {
  ^bb0(%a: f32, %b: f32, %o: f64):
    %p = arith.mulf %a, %b : f32
    %q = arith.extf %p : f32 to f64
    linalg.yield %q : f64
  } -> tensor<8x10xf64>
  %even = tensor.extract_slice %y[0, 0] [8, 5] [1, 2] : tensor<8x10xf64> to tensor<8x5xf64>
  %odd = tensor.extract_slice %y[0, 1] [8, 5] [1, 2] : tensor<8x10xf64> to tensor<8x5xf64>
  %f = tensor.empty() : tensor<8x5xf64>
  %r = linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%even, %odd : tensor<8x5xf64>, tensor<8x5xf64>) outs(%f : tensor<8x5xf64>) {
  ^bb0(%a: f64, %b: f64, %o: f64):
    %p = arith.subf %a, %b : f64
    linalg.yield %p : f64
  } -> tensor<8x5xf64>
  return %r : tensor<8x5xf64>
}

// Functions are not computed twice, and what is returned is computed once.

// CHECK-LABEL: @kept
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<10xf32>)
// CHECK: math.exp
// CHECK-COUNT-2: tensor.extract_slice %{{.*}} : tensor<10xf32> to tensor<9xf32>
func.func @kept(%x: tensor<10xf32>) -> tensor<9xf32> {
  %e = tensor.empty() : tensor<10xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<10xf32>) outs(%e : tensor<10xf32>) {
  ^bb0(%a: f32, %o: f32):
    %p = math.exp %a : f32
    linalg.yield %p : f32
  } -> tensor<10xf32>
  %low = tensor.extract_slice %y[0] [9] [1] : tensor<10xf32> to tensor<9xf32>
  %high = tensor.extract_slice %y[1] [9] [1] : tensor<10xf32> to tensor<9xf32>
  %f = tensor.empty() : tensor<9xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%high, %low : tensor<9xf32>, tensor<9xf32>) outs(%f : tensor<9xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.subf %a, %b : f32
    linalg.yield %p : f32
  } -> tensor<9xf32>
  return %r : tensor<9xf32>
}
