// RUN: %pykern-opt %s --pass-pipeline="builtin.module(func.func(linalg-generalize-named-ops),kern-add-fusion-barriers,func.func(linalg-fuse-elementwise-ops),kern-remove-fusion-barriers)" | FileCheck %s

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

// A transposition is read as it is by a product of two factors; the exponential is computed once for each element.

// CHECK-LABEL: func.func @products
// CHECK: %[[E:.*]] = linalg.generic
// CHECK: math.exp
// CHECK: linalg.generic {indexing_maps = [#[[T:.*]], #{{.*}}, #{{.*}}], iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg0, %[[E]]
// CHECK-NOT: linalg.generic
func.func @products(%x: tensor<8x9xf32>, %y: tensor<8x7xf32>, %o: tensor<9x7xf32>) -> tensor<9x7xf32> attributes {kern.program} {
  %e = tensor.empty() : tensor<9x8xf32>
  %f = tensor.empty() : tensor<8x7xf32>
  %t = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<8x9xf32>) outs(%e : tensor<9x8xf32>) {
    ^bb0(%a: f32, %b: f32):
      linalg.yield %a : f32
  } -> tensor<9x8xf32>
  %g = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%y : tensor<8x7xf32>) outs(%f : tensor<8x7xf32>) {
    ^bb0(%a: f32, %b: f32):
      %s = math.exp %a : f32
      linalg.yield %s : f32
  } -> tensor<8x7xf32>
  %r = linalg.matmul ins(%t, %g : tensor<9x8xf32>, tensor<8x7xf32>) outs(%o : tensor<9x7xf32>) -> tensor<9x7xf32>
  return %r : tensor<9x7xf32>
}

// A wider type joins a product, unless something else would come with it.

// CHECK-LABEL: func.func @widened
// CHECK: linalg.generic
// CHECK: arith.subi
// CHECK: arith.extsi
// CHECK: linalg.generic {{.*}} ins(%arg0, %{{.*}} : tensor<9x8xi8>, tensor<8x7xi32>)
// CHECK: arith.extsi %{{.*}} : i8 to i32
// CHECK: arith.muli
func.func @widened(%x: tensor<9x8xi8>, %y: tensor<8x7xi8>, %o: tensor<9x7xi32>) -> tensor<9x7xi32> attributes {kern.program} {
  %e = tensor.empty() : tensor<9x8xi32>
  %b = tensor.empty() : tensor<8x7xi8>
  %f = tensor.empty() : tensor<8x7xi32>
  %t = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<9x8xi8>) outs(%e : tensor<9x8xi32>) {
    ^bb0(%a: i8, %s: i32):
      %w = arith.extsi %a : i8 to i32
      linalg.yield %w : i32
  } -> tensor<9x8xi32>
  %g = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%y : tensor<8x7xi8>) outs(%b : tensor<8x7xi8>) {
    ^bb0(%a: i8, %s: i8):
      %one = arith.constant 1 : i8
      %w = arith.subi %a, %one : i8
      linalg.yield %w : i8
  } -> tensor<8x7xi8>
  %h = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%g : tensor<8x7xi8>) outs(%f : tensor<8x7xi32>) {
    ^bb0(%a: i8, %s: i32):
      %w = arith.extsi %a : i8 to i32
      linalg.yield %w : i32
  } -> tensor<8x7xi32>
  %r = linalg.matmul ins(%t, %h : tensor<9x8xi32>, tensor<8x7xi32>) outs(%o : tensor<9x7xi32>) -> tensor<9x7xi32>
  return %r : tensor<9x7xi32>
}

// What adds to its result (an adjoint) is added once, not once for each element of the reader that spreads it, whatever
// shape it is seen in on the way.

// CHECK-LABEL: func.func @spread
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel"{{(, "parallel")?}}]}
// CHECK: arith.addf
// CHECK: linalg.yield %{{.*}} : f32
// CHECK: linalg.generic
// CHECK-NOT: arith.addf
// CHECK: return
func.func @spread(%x: tensor<8xf32>, %held: tensor<8xf32>) -> tensor<2x4x9xf32> attributes {kern.program} {
  %g = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]}
      ins(%x : tensor<8xf32>) outs(%held : tensor<8xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %o, %a : f32
      linalg.yield %s : f32
  } -> tensor<8xf32>
  %wide = tensor.expand_shape %g [[0, 1]] output_shape [2, 4] : tensor<8xf32> into tensor<2x4xf32>
  %e = tensor.empty() : tensor<2x4x9xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%wide : tensor<2x4xf32>) outs(%e : tensor<2x4x9xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.mulf %a, %a : f32
      linalg.yield %s : f32
  } -> tensor<2x4x9xf32>
  return %r : tensor<2x4x9xf32>
}

// What a kernel does to an array in place is done once an element, not once a term.

// CHECK-LABEL: func.func @in_place
// CHECK: linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "parallel"]
// CHECK: arith.addf
// CHECK: linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "parallel", "reduction"]
// CHECK: return
func.func @in_place(%x: tensor<9x8xf32>, %y: tensor<8x7xf32>, %o: tensor<9x7xf32>) -> tensor<9x7xf32> attributes {kern.program} {
  %t = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]}
      outs(%x : tensor<9x8xf32>) {
    ^bb0(%a: f32):
      %s = arith.addf %a, %a : f32
      linalg.yield %s : f32
  } -> tensor<9x8xf32>
  %r = linalg.matmul ins(%t, %y : tensor<9x8xf32>, tensor<8x7xf32>) outs(%o : tensor<9x7xf32>) -> tensor<9x7xf32>
  return %r : tensor<9x7xf32>
}
