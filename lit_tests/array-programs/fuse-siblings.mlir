// RUN: %pykern-opt %s --kern-fuse-siblings | FileCheck %s

#id = affine_map<(d0) -> (d0)>

// CHECK-LABEL: func.func @both
// CHECK: %[[R:.*]]:2 = linalg.generic {{.*}} ins(%arg0, %arg0 : tensor<8xf32>, tensor<8xf32>)
// CHECK: arith.addf
// CHECK: arith.mulf
// CHECK: linalg.yield %{{.*}}, %{{.*}} : f32, f32
// CHECK-NOT: linalg.generic
// CHECK: return %[[R]]#0, %[[R]]#1
func.func @both(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) attributes {kern.program} {
  %e = tensor.empty() : tensor<8xf32>
  %p = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %a, %a : f32
      linalg.yield %s : f32
  } -> tensor<8xf32>
  %q = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.mulf %a, %a : f32
      linalg.yield %s : f32
  } -> tensor<8xf32>
  return %p, %q : tensor<8xf32>, tensor<8xf32>
}

// The second one needs the first one's result.

// CHECK-LABEL: func.func @apart
// CHECK-COUNT-2: linalg.generic
func.func @apart(%x: tensor<8xf32>) -> tensor<8xf32> attributes {kern.program} {
  %e = tensor.empty() : tensor<8xf32>
  %p = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %a, %a : f32
      linalg.yield %s : f32
  } -> tensor<8xf32>
  %q = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%x, %p : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %s = arith.mulf %a, %b : f32
      linalg.yield %s : f32
  } -> tensor<8xf32>
  return %q : tensor<8xf32>
}

// Columns of one array in strides lie in the same cache lines; those of other rows do not.

// CHECK-LABEL: func.func @strides
// CHECK: linalg.generic {{.*}} outs(%{{.*}}, %{{.*}} : tensor<4xi64>, tensor<4xi64>)
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<4xi64>)
func.func @strides(%x: tensor<8x10xi64>) -> (tensor<4xi64>, tensor<4xi64>, tensor<4xi64>) attributes {kern.program} {
  %zeros = tensor.empty() : tensor<4xi64>
  %others = tensor.empty() : tensor<4xi64>
  %third = tensor.empty() : tensor<4xi64>
  %even = tensor.extract_slice %x[0, 0] [4, 5] [1, 2] : tensor<8x10xi64> to tensor<4x5xi64>
  %odd = tensor.extract_slice %x[0, 1] [4, 5] [1, 2] : tensor<8x10xi64> to tensor<4x5xi64>
  %below = tensor.extract_slice %x[4, 0] [4, 5] [1, 2] : tensor<8x10xi64> to tensor<4x5xi64>
  %p = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%even : tensor<4x5xi64>) outs(%zeros : tensor<4xi64>) {
    ^bb0(%a: i64, %o: i64):
      %s = arith.addi %o, %a : i64
      linalg.yield %s : i64
  } -> tensor<4xi64>
  %q = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%odd : tensor<4x5xi64>) outs(%others : tensor<4xi64>) {
    ^bb0(%a: i64, %o: i64):
      %s = arith.addi %o, %a : i64
      linalg.yield %s : i64
  } -> tensor<4xi64>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%below : tensor<4x5xi64>) outs(%third : tensor<4xi64>) {
    ^bb0(%a: i64, %o: i64):
      %s = arith.addi %o, %a : i64
      linalg.yield %s : i64
  } -> tensor<4xi64>
  return %p, %q, %r : tensor<4xi64>, tensor<4xi64>, tensor<4xi64>
}
