// RUN: %pykern-opt %s --kern-read-widened --canonicalize | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#left = affine_map<(d0, d1, d2) -> (d0, d2)>
#right = affine_map<(d0, d1, d2) -> (d2, d1)>
#out = affine_map<(d0, d1, d2) -> (d0, d1)>

// Two readers of what was widened: a product, which reads the narrow one, and the caller.

// CHECK-LABEL: func.func @product
// CHECK-SAME: (%[[X:.*]]: tensor<8x9xbf16>, %[[Y:.*]]: tensor<9x7xbf16>
// CHECK: %[[WIDE:.*]] = linalg.generic {{.*}} ins(%[[X]] : tensor<8x9xbf16>)
// CHECK: linalg.generic {{.*}}"reduction"]} ins(%[[X]], %[[Y]] : tensor<8x9xbf16>, tensor<9x7xbf16>)
// CHECK: ^bb0(%[[A:.*]]: bf16, %[[B:.*]]: bf16, %{{.*}}: f32):
// CHECK: %[[LEFT:.*]] = arith.extf %[[A]] : bf16 to f32
// CHECK: %[[RIGHT:.*]] = arith.extf %[[B]] : bf16 to f32
// CHECK: arith.mulf %[[LEFT]], %[[RIGHT]]
// CHECK: return %[[WIDE]]
func.func @product(%x: tensor<8x9xbf16>, %y: tensor<9x7xbf16>, %o: tensor<8x7xf32>) -> (tensor<8x9xf32>, tensor<8x7xf32>) {
  %e = tensor.empty() : tensor<8x9xf32>
  %w = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<8x9xbf16>) outs(%e : tensor<8x9xf32>) {
    ^bb0(%a: bf16, %z: f32):
      %r = arith.extf %a : bf16 to f32
      linalg.yield %r : f32
  } -> tensor<8x9xf32>
  %p = linalg.generic {indexing_maps = [#left, #right, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%w, %y : tensor<8x9xf32>, tensor<9x7xbf16>) outs(%o : tensor<8x7xf32>) {
    ^bb0(%a: f32, %b: bf16, %z: f32):
      %r = arith.extf %b : bf16 to f32
      %m = arith.mulf %a, %r : f32
      %s = arith.addf %z, %m : f32
      linalg.yield %s : f32
  } -> tensor<8x7xf32>
  return %w, %p : tensor<8x9xf32>, tensor<8x7xf32>
}
