// RUN: %pykern-opt %s --kern-fold-first-tile --canonicalize --cse | FileCheck %s

// A running softmax whose first tile is the whole row: what it begins with goes.

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#one = affine_map<(d0) -> (d0)>

// CHECK-LABEL: func.func @running(
// CHECK-SAME:    %[[S:.*]]: tensor<4x8xf32>, %[[V:.*]]: tensor<8x2xf32>)
// CHECK:         %[[MAX:.*]] = linalg.generic
// CHECK:           arith.maximumf
// CHECK-NOT:     arith.maximumf
// CHECK:         %[[D:.*]] = linalg.generic {{.*}} ins(%[[S]], %[[MAX]] :
// CHECK:         %[[P:.*]] = linalg.generic {{.*}} ins(%[[D]] :
// CHECK:           math.exp
// CHECK-NOT:     arith.mulf
// CHECK:         %[[SUM:.*]] = linalg.generic {{.*}} ins(%[[P]] : tensor<4x8xf32>)
// CHECK:         %[[PV:.*]] = linalg.matmul ins(%[[P]], %[[V]]
// CHECK:         return %[[SUM]], %[[PV]]
func.func @running(%s: tensor<4x8xf32>, %v: tensor<8x2xf32>) -> (tensor<4xf32>, tensor<4x2xf32>) attributes {kern.program} {
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %big = tensor.empty() : tensor<4x8xf32>
  %wide = tensor.empty() : tensor<4x2xf32>
  %m = linalg.fill ins(%low : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %l = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %acc = linalg.fill ins(%zero : f32) outs(%wide : tensor<4x2xf32>) -> tensor<4x2xf32>
  %largest = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%s : tensor<4x8xf32>) outs(%m : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %r = arith.maximumf %b, %a : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  %new = linalg.generic {indexing_maps = [#one, #one, #one], iterator_types = ["parallel"]} ins(%m, %largest : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.maximumf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  %d = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%s, %new : tensor<4x8xf32>, tensor<4xf32>) outs(%big : tensor<4x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.subf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<4x8xf32>
  %p = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%d : tensor<4x8xf32>) outs(%big : tensor<4x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.exp %a : f32
    linalg.yield %r : f32
  } -> tensor<4x8xf32>
  %dm = linalg.generic {indexing_maps = [#one, #one, #one], iterator_types = ["parallel"]} ins(%m, %new : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.subf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  %rest = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]} ins(%dm : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.exp %a : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%p : tensor<4x8xf32>) outs(%l : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %r = arith.addf %b, %a : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  %scaled = linalg.generic {indexing_maps = [#one, #one, #one], iterator_types = ["parallel"]} ins(%l, %rest : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.mulf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  %total = linalg.generic {indexing_maps = [#one, #one, #one], iterator_types = ["parallel"]} ins(%scaled, %sum : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.addf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  %before = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%acc, %rest : tensor<4x2xf32>, tensor<4xf32>) outs(%wide : tensor<4x2xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.mulf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<4x2xf32>
  %pv = linalg.matmul ins(%p, %v : tensor<4x8xf32>, tensor<8x2xf32>) outs(%acc : tensor<4x2xf32>) -> tensor<4x2xf32>
  %sums = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%before, %pv : tensor<4x2xf32>, tensor<4x2xf32>) outs(%wide : tensor<4x2xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.addf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<4x2xf32>
  return %total, %sums : tensor<4xf32>, tensor<4x2xf32>
}

// A number that is no maximum of the row may be -inf where the sum is none: the first term stays.

// CHECK-LABEL: func.func @given(
// CHECK:         math.exp
// CHECK:         math.exp
// CHECK:         arith.mulf
// CHECK:         arith.addf
func.func @given(%s: tensor<4x8xf32>, %new: tensor<4xf32>) -> tensor<4xf32> attributes {kern.program} {
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %big = tensor.empty() : tensor<4x8xf32>
  %m = linalg.fill ins(%low : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %l = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %d = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%s, %new : tensor<4x8xf32>, tensor<4xf32>) outs(%big : tensor<4x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.subf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<4x8xf32>
  %p = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%d : tensor<4x8xf32>) outs(%big : tensor<4x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.exp %a : f32
    linalg.yield %r : f32
  } -> tensor<4x8xf32>
  %dm = linalg.generic {indexing_maps = [#one, #one, #one], iterator_types = ["parallel"]} ins(%m, %new : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.subf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  %rest = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]} ins(%dm : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.exp %a : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%p : tensor<4x8xf32>) outs(%l : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %r = arith.addf %b, %a : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  %scaled = linalg.generic {indexing_maps = [#one, #one, #one], iterator_types = ["parallel"]} ins(%l, %rest : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.mulf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  %total = linalg.generic {indexing_maps = [#one, #one, #one], iterator_types = ["parallel"]} ins(%scaled, %sum : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.addf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  return %total : tensor<4xf32>
}

// Of integers 0 changes nothing, whatever it is added to.
// CHECK-LABEL: func.func @program.integers
// CHECK-NEXT: return %arg0
func.func @program.integers(%x: tensor<4x8xi32>) -> tensor<4x8xi32> attributes {kern.program} {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<4x8xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<4x8xi32>) -> tensor<4x8xi32>
  %s = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%f, %x : tensor<4x8xi32>, tensor<4x8xi32>) outs(%e : tensor<4x8xi32>) {
  ^bb0(%a: i32, %b: i32, %o: i32):
    %t = arith.addi %a, %b : i32
    linalg.yield %t : i32
  } -> tensor<4x8xi32>
  return %s : tensor<4x8xi32>
}
