// RUN: %pykern-opt %s --kern-fuse-siblings | FileCheck %s

#id = affine_map<(d0) -> (d0)>

// CHECK-LABEL: func.func @both
// CHECK: %[[R:.*]]:2 = linalg.generic {{.*}} ins(%arg0 : tensor<8xf32>)
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

// The second one reads what the first one makes, and so does somebody else: both are made in one loop.

// CHECK-LABEL: func.func @both_read
// CHECK: %[[R:.*]]:2 = linalg.generic {{.*}} ins(%arg0 : tensor<8xf32>) outs(%{{.*}}, %{{.*}} : tensor<8xf32>, tensor<8xf32>)
// CHECK: ^bb0(%[[A:.*]]: f32, %{{.*}}: f32, %{{.*}}: f32):
// CHECK: %[[S:.*]] = arith.addf %[[A]], %[[A]]
// CHECK: %[[P:.*]] = arith.mulf %[[A]], %[[S]]
// CHECK: linalg.yield %[[S]], %[[P]]
// CHECK-NOT: linalg.generic
// CHECK: return %[[R]]#1, %[[R]]#0
func.func @both_read(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) attributes {kern.program} {
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
  return %q, %p : tensor<8xf32>, tensor<8xf32>
}

// What is added to the first one's result never is in memory as that result; nobody else reads it.

// CHECK-LABEL: func.func @added_to
// CHECK: %[[R:.*]] = linalg.generic {{.*}} ins(%arg0 : tensor<8xf32>) outs(%[[E:.*]] : tensor<8xf32>)
// CHECK: arith.mulf
// CHECK: arith.addf
// CHECK-NOT: linalg.generic
// CHECK: return %[[R]]
func.func @added_to(%x: tensor<8xf32>) -> tensor<8xf32> attributes {kern.program} {
  %e = tensor.empty() : tensor<8xf32>
  %p = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.mulf %a, %a : f32
      linalg.yield %s : f32
  } -> tensor<8xf32>
  %q = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<8xf32>) outs(%p : tensor<8xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %o, %a : f32
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

// The second one needs other elements of the first one's result than that of its iteration.

#rows = affine_map<(d0, d1) -> (d0, d1)>
#columns = affine_map<(d0, d1) -> (d1, d0)>

// CHECK-LABEL: func.func @apart
// CHECK-COUNT-2: linalg.generic
func.func @apart(%x: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) attributes {kern.program} {
  %e = tensor.empty() : tensor<8x8xf32>
  %p = linalg.generic {indexing_maps = [#rows, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %a, %a : f32
      linalg.yield %s : f32
  } -> tensor<8x8xf32>
  %q = linalg.generic {indexing_maps = [#rows, #columns, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%x, %p : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %s = arith.mulf %a, %b : f32
      linalg.yield %s : f32
  } -> tensor<8x8xf32>
  return %p, %q : tensor<8x8xf32>, tensor<8x8xf32>
}

// What a product's sums go through is computed where the product leaves them, with one result.

#a = affine_map<(d0, d1, d2) -> (d0, d2)>
#b = affine_map<(d0, d1, d2) -> (d2, d1)>
#c = affine_map<(d0, d1, d2) -> (d0, d1)>

// CHECK-LABEL: func.func @behind_product
// CHECK-COUNT-3: linalg.generic
func.func @behind_product(%x: tensor<8x8xf32>, %z: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>)
    attributes {kern.program} {
  %e = tensor.empty() : tensor<8x8xf32>
  %m = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %x : tensor<8x8xf32>, tensor<8x8xf32>) outs(%z : tensor<8x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %s = arith.mulf %a, %b : f32
      %t = arith.addf %o, %s : f32
      linalg.yield %t : f32
  } -> tensor<8x8xf32>
  %p = linalg.generic {indexing_maps = [#rows, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%m : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %a, %a : f32
      linalg.yield %s : f32
  } -> tensor<8x8xf32>
  %q = linalg.generic {indexing_maps = [#rows, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.mulf %a, %a : f32
      linalg.yield %s : f32
  } -> tensor<8x8xf32>
  return %p, %q : tensor<8x8xf32>, tensor<8x8xf32>
}

// The greatest element is no result, but its place is found with it.

// CHECK-LABEL: func.func @places
// CHECK: %[[R:.*]]:4 = linalg.generic {{.*}} ins(%arg0 : tensor<8xf32>) outs(%arg1, %arg2, %arg3, %arg4 : tensor<f32>
// CHECK: return %[[R]]#1, %[[R]]#3
#none = affine_map<(d0) -> ()>
func.func @places(%x: tensor<8xf32>, %z: tensor<f32>, %n: tensor<i64>, %y: tensor<f32>, %m: tensor<i64>)
    -> (tensor<i64>, tensor<i64>) attributes {kern.program} {
  %p:2 = linalg.generic {indexing_maps = [#id, #none, #none], iterator_types = ["reduction"]}
      ins(%x : tensor<8xf32>) outs(%z, %n : tensor<f32>, tensor<i64>) {
    ^bb0(%a: f32, %o: f32, %at: i64):
      %i = linalg.index 0 : index
      %j = arith.index_cast %i : index to i64
      %c = arith.cmpf ogt, %a, %o : f32
      %s = arith.select %c, %a, %o : f32
      %t = arith.select %c, %j, %at : i64
      linalg.yield %s, %t : f32, i64
  } -> (tensor<f32>, tensor<i64>)
  %q:2 = linalg.generic {indexing_maps = [#id, #none, #none], iterator_types = ["reduction"]}
      ins(%x : tensor<8xf32>) outs(%y, %m : tensor<f32>, tensor<i64>) {
    ^bb0(%a: f32, %o: f32, %at: i64):
      %i = linalg.index 0 : index
      %j = arith.index_cast %i : index to i64
      %c = arith.cmpf olt, %a, %o : f32
      %s = arith.select %c, %a, %o : f32
      %t = arith.select %c, %j, %at : i64
      linalg.yield %s, %t : f32, i64
  } -> (tensor<f32>, tensor<i64>)
  return %p#1, %q#1 : tensor<i64>, tensor<i64>
}
