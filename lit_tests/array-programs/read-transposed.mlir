// RUN: %pykern-opt %s --kern-read-transposed --canonicalize | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#turned = affine_map<(d0, d1) -> (d1, d0)>
#left = affine_map<(d0, d1, d2) -> (d0, d2)>
#right = affine_map<(d0, d1, d2) -> (d2, d1)>
#out = affine_map<(d0, d1, d2) -> (d0, d1)>

// Two readers of a transposition: a product, and a line of it. Both read the array.

// CHECK: #[[LEFT:.*]] = affine_map<(d0, d1, d2) -> (d2, d0)>
// CHECK-LABEL: func.func @product
// CHECK-NOT: "parallel", "parallel"]
// CHECK: linalg.generic {indexing_maps = [#[[LEFT]], #{{.*}}, #{{.*}}], {{.*}}"reduction"]} ins(%arg0, %arg1 :
// CHECK: %[[LINE:.*]] = tensor.extract_slice %arg0[0, 3] [8, 1] [1, 1] : tensor<8x9xf32> to tensor<8xf32>
// CHECK: return %{{.*}}, %[[LINE]]
func.func @product(%x: tensor<8x9xf32>, %y: tensor<8x7xf32>, %o: tensor<9x7xf32>) -> (tensor<9x7xf32>, tensor<8xf32>) {
  %e = tensor.empty() : tensor<9x8xf32>
  %t = linalg.generic {indexing_maps = [#turned, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<8x9xf32>) outs(%e : tensor<9x8xf32>) {
    ^bb0(%a: f32, %z: f32):
      linalg.yield %a : f32
  } -> tensor<9x8xf32>
  %p = linalg.generic {indexing_maps = [#left, #right, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%t, %y : tensor<9x8xf32>, tensor<8x7xf32>) outs(%o : tensor<9x7xf32>) {
    ^bb0(%a: f32, %b: f32, %z: f32):
      %m = arith.mulf %a, %b : f32
      %s = arith.addf %z, %m : f32
      linalg.yield %s : f32
  } -> tensor<9x7xf32>
  %line = tensor.extract_slice %t[3, 0] [1, 8] [1, 1] : tensor<9x8xf32> to tensor<8xf32>
  return %p, %line : tensor<9x7xf32>, tensor<8xf32>
}

// What is computed element by element keeps the transposition: it is turned once, not for every reader.

// CHECK-LABEL: func.func @elementwise
// CHECK: %[[T:.*]] = linalg.generic
// CHECK: linalg.generic {{.*}} ins(%[[T]] :
func.func @elementwise(%x: tensor<8x9xf32>) -> (tensor<9x8xf32>, tensor<9x8xf32>) {
  %e = tensor.empty() : tensor<9x8xf32>
  %t = linalg.generic {indexing_maps = [#turned, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<8x9xf32>) outs(%e : tensor<9x8xf32>) {
    ^bb0(%a: f32, %z: f32):
      linalg.yield %a : f32
  } -> tensor<9x8xf32>
  %u = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%t : tensor<9x8xf32>) outs(%e : tensor<9x8xf32>) {
    ^bb0(%a: f32, %z: f32):
      %s = arith.addf %a, %a : f32
      linalg.yield %s : f32
  } -> tensor<9x8xf32>
  return %t, %u : tensor<9x8xf32>, tensor<9x8xf32>
}
