// RUN: %pykern-opt %s --pass-pipeline="builtin.module(kern-hold-fusion,func.func(linalg-fuse-elementwise-ops),kern-release-fusion)" | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#one = affine_map<(d0) -> (d0)>
#column = affine_map<(d0, d1) -> (d1)>

// The exponential of the row is not computed again for every row of %x.

// CHECK-LABEL: func.func @broadcast
// CHECK: linalg.generic
// CHECK: math.exp
// CHECK: linalg.generic
// CHECK-NOT: bufferization.dealloc_tensor
func.func @broadcast(%x: tensor<9x8xf32>, %row: tensor<8xf32>) -> tensor<9x8xf32> attributes {kern.program} {
  %e = tensor.empty() : tensor<8xf32>
  %f = tensor.empty() : tensor<9x8xf32>
  %g = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]}
      ins(%row : tensor<8xf32>) outs(%e : tensor<8xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = math.exp %a : f32
      linalg.yield %s : f32
  } -> tensor<8xf32>
  %r = linalg.generic {indexing_maps = [#id, #column, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %g : tensor<9x8xf32>, tensor<8xf32>) outs(%f : tensor<9x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %s = arith.mulf %a, %b : f32
      linalg.yield %s : f32
  } -> tensor<9x8xf32>
  return %r : tensor<9x8xf32>
}
