// RUN: %pykern-opt %s --kern-fresh-inserts | FileCheck %s

#id = affine_map<(d0) -> (d0)>

// A stencil step: the interior is computed in its place in a new tensor, the two ends are copied.

// CHECK-LABEL: func.func @stencil
// CHECK: %[[E:.*]] = tensor.empty() : tensor<64xf32>
// CHECK: tensor.extract_slice %arg0[0] [1] [1]
// CHECK: tensor.insert_slice %{{.*}} into %[[E]][0] [1] [1]
// CHECK: tensor.extract_slice %arg0[63] [1] [1]
// CHECK: %[[RIM:.*]] = tensor.insert_slice
// CHECK: %[[BOX:.*]] = tensor.extract_slice %[[RIM]][1] [62] [1]
// CHECK: %[[G:.*]] = linalg.generic {{.*}} outs(%[[BOX]] : tensor<62xf32>)
// CHECK: tensor.insert_slice %[[G]] into %[[RIM]][1] [62] [1]
func.func @stencil(%x: tensor<64xf32> {bufferization.writable = false}) -> tensor<64xf32> attributes {kern.program} {
  %l = tensor.extract_slice %x[0] [62] [1] : tensor<64xf32> to tensor<62xf32>
  %h = tensor.extract_slice %x[2] [62] [1] : tensor<64xf32> to tensor<62xf32>
  %e = tensor.empty() : tensor<62xf32>
  %g = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%l, %h : tensor<62xf32>, tensor<62xf32>) outs(%e : tensor<62xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %s = arith.addf %a, %b : f32
      linalg.yield %s : f32
  } -> tensor<62xf32>
  %r = tensor.insert_slice %g into %x[1] [62] [1] : tensor<62xf32> into tensor<64xf32>
  return %r : tensor<64xf32>
}

// What only reads the box it writes is computed there.

// CHECK-LABEL: func.func @in_place
// CHECK-NOT: tensor.empty() : tensor<64xf32>
// CHECK: %[[BOX:.*]] = tensor.extract_slice %arg0[1] [62] [1]
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<62xf32>)
// CHECK: tensor.insert_slice %{{.*}} into %arg0[1] [62] [1]
func.func @in_place(%x: tensor<64xf32> {bufferization.writable = true}) -> tensor<64xf32> attributes {kern.program} {
  %m = tensor.extract_slice %x[1] [62] [1] : tensor<64xf32> to tensor<62xf32>
  %e = tensor.empty() : tensor<62xf32>
  %g = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%m : tensor<62xf32>) outs(%e : tensor<62xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %a, %a : f32
      linalg.yield %s : f32
  } -> tensor<62xf32>
  %r = tensor.insert_slice %g into %x[1] [62] [1] : tensor<62xf32> into tensor<64xf32>
  return %r : tensor<64xf32>
}
