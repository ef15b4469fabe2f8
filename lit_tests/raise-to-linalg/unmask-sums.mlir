// RUN: %pykern-opt %s --pass-pipeline="builtin.module(kern-unmask-sums)" | FileCheck %s

#left = affine_map<(i, j, k) -> (i, k)>
#right = affine_map<(i, j, k) -> (j, k)>
#out = affine_map<(i, j, k) -> (i, j)>

// The lower triangle of a product: i - j is not negative where it is needed.

// CHECK-LABEL: func.func @triangle
// CHECK: %[[P:.*]] = linalg.generic {{.*}}kern.needed = array<i64: 1, -1, 0, 0>
// CHECK-NOT: arith.select
// CHECK: arith.mulf
// CHECK: linalg.generic {{.*}} ins(%[[P]] : tensor<9x9xf32>)
// CHECK: arith.cmpi sle
// CHECK: arith.select
func.func @triangle(%a: tensor<9x7xf32>) -> tensor<9x9xf32> {
  %zero = arith.constant 0.0 : f32
  %nothing = arith.constant -0.0 : f32
  %e = tensor.empty() : tensor<9x9xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<9x9xf32>) -> tensor<9x9xf32>
  %r = linalg.generic {indexing_maps = [#left, #right, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %a : tensor<9x7xf32>, tensor<9x7xf32>) outs(%f : tensor<9x9xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %t = arith.mulf %p, %q : f32
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %m = arith.cmpi sle, %j, %i : index
      %c = arith.select %m, %t, %nothing : f32
      %s = arith.addf %o, %c : f32
      linalg.yield %s : f32
  } -> tensor<9x9xf32>
  return %r : tensor<9x9xf32>
}

// Two products are one op each where their sum may be reordered; j < i + 2 is i - j + 1 >= 0. The sum goes on from %f.

// CHECK-LABEL: func.func @two
// CHECK: %[[P:.*]] = linalg.generic {{.*}} ins(%arg0, %arg1 {{.*}} outs(%arg2 {{.*}}kern.needed = array<i64: 1, -1, 0, 1>
// CHECK: %[[Q:.*]] = linalg.generic {{.*}} ins(%arg1, %arg0 {{.*}} outs(%[[P]] {{.*}}kern.needed = array<i64: 1, -1, 0, 1>
// CHECK: linalg.generic {{.*}} ins(%[[Q]], %arg2
func.func @two(%a: tensor<9x7xf32>, %b: tensor<9x7xf32>, %f: tensor<9x9xf32>) -> tensor<9x9xf32> {
  %nothing = arith.constant -0.0 : f32
  %r = linalg.generic {indexing_maps = [#left, #right, #left, #right, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b, %b, %a : tensor<9x7xf32>, tensor<9x7xf32>, tensor<9x7xf32>, tensor<9x7xf32>) outs(%f : tensor<9x9xf32>) {
    ^bb0(%p: f32, %q: f32, %u: f32, %v: f32, %o: f32):
      %t = arith.mulf %p, %q : f32
      %w = arith.mulf %u, %v : f32
      %x = arith.addf %t, %w fastmath<reassoc> : f32
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %two = arith.constant 2 : index
      %y = arith.addi %i, %two : index
      %m = arith.cmpi slt, %j, %y : index
      %c = arith.select %m, %x, %nothing : f32
      %s = arith.addf %o, %c : f32
      linalg.yield %s : f32
  } -> tensor<9x9xf32>
  return %r : tensor<9x9xf32>
}

// A mask over what is summed stays where it is.

// CHECK-LABEL: func.func @terms
// CHECK: linalg.generic
// CHECK-NOT: kern.needed
// CHECK: arith.select
func.func @terms(%a: tensor<9x7xf32>, %f: tensor<9x9xf32>) -> tensor<9x9xf32> {
  %nothing = arith.constant -0.0 : f32
  %r = linalg.generic {indexing_maps = [#left, #right, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %a : tensor<9x7xf32>, tensor<9x7xf32>) outs(%f : tensor<9x9xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %t = arith.mulf %p, %q : f32
      %i = linalg.index 0 : index
      %k = linalg.index 2 : index
      %m = arith.cmpi sle, %k, %i : index
      %c = arith.select %m, %t, %nothing : f32
      %s = arith.addf %o, %c : f32
      linalg.yield %s : f32
  } -> tensor<9x9xf32>
  return %r : tensor<9x9xf32>
}

// A band is two inequalities, whether it is written as two tests or as a magnitude; a steep edge has a factor.

// CHECK-LABEL: func.func @band
// CHECK: linalg.generic {{.*}}kern.needed = array<i64: 1, -1, 0, 4, -1, 1, 0, 4>
// CHECK-LABEL: func.func @steep
// CHECK: linalg.generic {{.*}}kern.needed = array<i64: 1, -2, 0, 0>
// CHECK-LABEL: func.func @magnitude
// CHECK: linalg.generic {{.*}}kern.needed = array<i64: -1, 1, 0, 4, 1, -1, 0, 4>
func.func @band(%a: tensor<9x7xf32>, %f: tensor<9x9xf32>) -> tensor<9x9xf32> {
  %nothing = arith.constant -0.0 : f32
  %r = linalg.generic {indexing_maps = [#left, #right, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %a : tensor<9x7xf32>, tensor<9x7xf32>) outs(%f : tensor<9x9xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %t = arith.mulf %p, %q : f32
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %four = arith.constant 4 : index
      %d = arith.subi %j, %i : index
      %e = arith.subi %i, %j : index
      %u = arith.cmpi sle, %d, %four : index
      %v = arith.cmpi sge, %four, %e : index
      %m = arith.andi %u, %v : i1
      %c = arith.select %m, %t, %nothing : f32
      %s = arith.addf %o, %c : f32
      linalg.yield %s : f32
  } -> tensor<9x9xf32>
  return %r : tensor<9x9xf32>
}

func.func @steep(%a: tensor<9x7xf32>, %f: tensor<9x9xf32>) -> tensor<9x9xf32> {
  %nothing = arith.constant -0.0 : f32
  %r = linalg.generic {indexing_maps = [#left, #right, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %a : tensor<9x7xf32>, tensor<9x7xf32>) outs(%f : tensor<9x9xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %t = arith.mulf %p, %q : f32
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %two = arith.constant 2 : index
      %d = arith.muli %j, %two : index
      %m = arith.cmpi sle, %d, %i : index
      %c = arith.select %m, %t, %nothing : f32
      %s = arith.addf %o, %c : f32
      linalg.yield %s : f32
  } -> tensor<9x9xf32>
  return %r : tensor<9x9xf32>
}

func.func @magnitude(%a: tensor<9x7xf32>, %f: tensor<9x9xf32>) -> tensor<9x9xf32> {
  %nothing = arith.constant -0.0 : f32
  %r = linalg.generic {indexing_maps = [#left, #right, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %a : tensor<9x7xf32>, tensor<9x7xf32>) outs(%f : tensor<9x9xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %t = arith.mulf %p, %q : f32
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %zero = arith.constant 0 : index
      %four = arith.constant 4 : index
      %d = arith.subi %i, %j : index
      %n = arith.subi %zero, %d : index
      %b = arith.cmpi slt, %d, %zero : index
      %h = arith.select %b, %n, %d : index
      %m = arith.cmpi sle, %h, %four : index
      %c = arith.select %m, %t, %nothing : f32
      %s = arith.addf %o, %c : f32
      linalg.yield %s : f32
  } -> tensor<9x9xf32>
  return %r : tensor<9x9xf32>
}

// Of other masks of indices nothing is said: the product is computed whole, the mask stands behind it.

// CHECK-LABEL: func.func @either
// CHECK: linalg.generic
// CHECK-NOT: kern.needed
// CHECK: arith.mulf
// CHECK: linalg.yield
// CHECK: arith.ori
// CHECK: arith.select
func.func @either(%a: tensor<9x7xf32>, %f: tensor<9x9xf32>) -> tensor<9x9xf32> {
  %nothing = arith.constant -0.0 : f32
  %r = linalg.generic {indexing_maps = [#left, #right, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %a : tensor<9x7xf32>, tensor<9x7xf32>) outs(%f : tensor<9x9xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %t = arith.mulf %p, %q : f32
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %four = arith.constant 4 : index
      %u = arith.cmpi sle, %j, %i : index
      %v = arith.cmpi sge, %j, %four : index
      %m = arith.ori %u, %v : i1
      %c = arith.select %m, %t, %nothing : f32
      %s = arith.addf %o, %c : f32
      linalg.yield %s : f32
  } -> tensor<9x9xf32>
  return %r : tensor<9x9xf32>
}

// Lengths that only a launch knows are those of the sum.

// CHECK-LABEL: func.func @of_any_length
// CHECK: %[[P:.*]] = linalg.generic {{.*}}kern.needed
// CHECK: %[[D:.*]] = tensor.dim %[[P]], %c0
// CHECK: tensor.empty(%[[D]]) : tensor<?x9xf32>
func.func @of_any_length(%a: tensor<?x7xf32>, %b: tensor<9x7xf32>, %f: tensor<?x9xf32>) -> tensor<?x9xf32> {
  %nothing = arith.constant -0.0 : f32
  %r = linalg.generic {indexing_maps = [#left, #right, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<?x7xf32>, tensor<9x7xf32>) outs(%f : tensor<?x9xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %t = arith.mulf %p, %q : f32
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %m = arith.cmpi sle, %j, %i : index
      %c = arith.select %m, %t, %nothing : f32
      %s = arith.addf %o, %c : f32
      linalg.yield %s : f32
  } -> tensor<?x9xf32>
  return %r : tensor<?x9xf32>
}
