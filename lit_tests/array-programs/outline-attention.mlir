// RUN: %pykern-opt %s --kern-outline-attention --canonicalize --cse | FileCheck %s

// Two products and the softmax between them are one call; what is done with a score is a function of scalars. The
// transposed copy of the keys is gone: they are read where they are.

#id = affine_map<(d0, d1) -> (d0, d1)>
#turned = affine_map<(d0, d1) -> (d1, d0)>
#row = affine_map<(d0, d1) -> (d0)>
#one = affine_map<(d0) -> (d0)>
#a = affine_map<(d0, d1, d2) -> (d0, d2)>
#b = affine_map<(d0, d1, d2) -> (d2, d1)>
#c = affine_map<(d0, d1, d2) -> (d0, d1)>

// CHECK-DAG: #[[QUERY:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d2)>
// CHECK-DAG: #[[KEYS:.*]] = affine_map<(d0, d1, d2, d3) -> (d1, d2)>
// CHECK-DAG: #[[VALUES:.*]] = affine_map<(d0, d1, d2, d3) -> (d1, d3)>
// CHECK-DAG: #[[BIAS:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1)>
// CHECK-DAG: #[[OUT:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d3)>

// CHECK-LABEL: func.func @program.attend
// CHECK-NEXT: %[[EMPTY:.*]] = tensor.empty() : tensor<64x8xf32>
// CHECK-NEXT: %[[R:.*]] = call @program.attend.attention0(%arg0, %arg1, %arg2, %arg3, %[[EMPTY]])
// CHECK-NEXT: return %[[R]]
// CHECK: func.func private @program.attend.attention0.score(%[[S:.*]]: f32, %{{.*}}: index, %{{.*}}: index, %[[B:.*]]: f32) -> f32 attributes {kern.attention}
// CHECK: %[[X:.*]] = arith.mulf %[[S]], %{{.*}} : f32
// CHECK: %[[Y:.*]] = arith.addf %[[X]], %[[B]] : f32
// CHECK: return %[[Y]]
// CHECK: func.func private @program.attend.attention0.tiles
// CHECK-SAME: kern.attention = @program.attend.attention0.score, kern.lengths = array<i64: 64, 48, 16, 8>, kern.maps = [#[[QUERY]], #[[KEYS]], #[[VALUES]], #[[BIAS]], #[[OUT]]]
func.func @program.attend(%q: tensor<64x16xf32>, %k: tensor<48x16xf32>, %v: tensor<48x8xf32>, %bias: tensor<64x48xf32>) -> tensor<64x8xf32> attributes {kern.program} {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %scale = arith.constant 0.25 : f32
  %e0 = tensor.empty() : tensor<16x48xf32>
  %kt = linalg.generic {indexing_maps = [#turned, #id], iterator_types = ["parallel", "parallel"]} ins(%k : tensor<48x16xf32>) outs(%e0 : tensor<16x48xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  } -> tensor<16x48xf32>
  %e1 = tensor.empty() : tensor<64x48xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<64x48xf32>) -> tensor<64x48xf32>
  %s = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%q, %kt : tensor<64x16xf32>, tensor<16x48xf32>) outs(%f1 : tensor<64x48xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %o, %p : f32
    linalg.yield %t : f32
  } -> tensor<64x48xf32>
  %t = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%s, %bias : tensor<64x48xf32>, tensor<64x48xf32>) outs(%e1 : tensor<64x48xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %p = arith.mulf %x, %scale : f32
    %u = arith.addf %p, %y : f32
    linalg.yield %u : f32
  } -> tensor<64x48xf32>
  %e2 = tensor.empty() : tensor<64xf32>
  %f2 = linalg.fill ins(%low : f32) outs(%e2 : tensor<64xf32>) -> tensor<64xf32>
  %m = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%t : tensor<64x48xf32>) outs(%f2 : tensor<64xf32>) {
  ^bb0(%x: f32, %o: f32):
    %p = arith.maximumf %o, %x : f32
    linalg.yield %p : f32
  } -> tensor<64xf32>
  %d = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%t, %m : tensor<64x48xf32>, tensor<64xf32>) outs(%e1 : tensor<64x48xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %p = arith.subf %x, %y : f32
    linalg.yield %p : f32
  } -> tensor<64x48xf32>
  %e = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%d : tensor<64x48xf32>) outs(%e1 : tensor<64x48xf32>) {
  ^bb0(%x: f32, %o: f32):
    %p = math.exp %x : f32
    linalg.yield %p : f32
  } -> tensor<64x48xf32>
  %f3 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<64xf32>) -> tensor<64xf32>
  %l = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%e : tensor<64x48xf32>) outs(%f3 : tensor<64xf32>) {
  ^bb0(%x: f32, %o: f32):
    %p = arith.addf %o, %x : f32
    linalg.yield %p : f32
  } -> tensor<64xf32>
  %w = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%e, %l : tensor<64x48xf32>, tensor<64xf32>) outs(%e1 : tensor<64x48xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %p = arith.divf %x, %y : f32
    linalg.yield %p : f32
  } -> tensor<64x48xf32>
  %e3 = tensor.empty() : tensor<64x8xf32>
  %f4 = linalg.fill ins(%zero : f32) outs(%e3 : tensor<64x8xf32>) -> tensor<64x8xf32>
  %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%w, %v : tensor<64x48xf32>, tensor<48x8xf32>) outs(%f4 : tensor<64x8xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %p = arith.mulf %x, %y : f32
    %t0 = arith.addf %o, %p : f32
    linalg.yield %t0 : f32
  } -> tensor<64x8xf32>
  return %r : tensor<64x8xf32>
}
