// RUN: %pykern-opt %s --kern-repeat-cheap | FileCheck %s

#rows = affine_map<(d0, d1) -> (d0, d1)>
#of_row = affine_map<(d0, d1) -> (d0)>

#of_column = affine_map<(d0, d1) -> (d1)>

// What is centred is read by a sum of columns and by somebody else: each subtracts for itself.

// CHECK-LABEL: func.func @twice
// CHECK-COUNT-2: arith.subf
// CHECK: return
func.func @twice(%x: tensor<4x8xf32>, %m: tensor<4xf32>, %z: tensor<8xf32>) -> (tensor<8xf32>, tensor<4x8xf32>)
    attributes {kern.program} {
  %e = tensor.empty() : tensor<4x8xf32>
  %c = linalg.generic {indexing_maps = [#rows, #of_row, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%x, %m : tensor<4x8xf32>, tensor<4xf32>) outs(%e : tensor<4x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %s = arith.subf %a, %b : f32
      linalg.yield %s : f32
  } -> tensor<4x8xf32>
  %t = linalg.generic {indexing_maps = [#rows, #of_column], iterator_types = ["reduction", "parallel"]}
      ins(%c : tensor<4x8xf32>) outs(%z : tensor<8xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %a, %o : f32
      linalg.yield %s : f32
  } -> tensor<8xf32>
  %q = linalg.generic {indexing_maps = [#rows, #rows, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%c, %c : tensor<4x8xf32>, tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %s = arith.mulf %a, %b : f32
      linalg.yield %s : f32
  } -> tensor<4x8xf32>
  return %t, %q : tensor<8xf32>, tensor<4x8xf32>
}

// A sum of rows goes over the same row as the other one: once.

// CHECK-LABEL: func.func @by_rows
// CHECK-COUNT-1: arith.subf
// CHECK-NOT: arith.subf
// CHECK: return
func.func @by_rows(%x: tensor<4x8xf32>, %m: tensor<4xf32>, %z: tensor<4xf32>) -> (tensor<4xf32>, tensor<4x8xf32>)
    attributes {kern.program} {
  %e = tensor.empty() : tensor<4x8xf32>
  %c = linalg.generic {indexing_maps = [#rows, #of_row, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%x, %m : tensor<4x8xf32>, tensor<4xf32>) outs(%e : tensor<4x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %s = arith.subf %a, %b : f32
      linalg.yield %s : f32
  } -> tensor<4x8xf32>
  %t = linalg.generic {indexing_maps = [#rows, #of_row], iterator_types = ["parallel", "reduction"]}
      ins(%c : tensor<4x8xf32>) outs(%z : tensor<4xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %a, %o : f32
      linalg.yield %s : f32
  } -> tensor<4xf32>
  %q = linalg.generic {indexing_maps = [#rows, #rows, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%c, %c : tensor<4x8xf32>, tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %s = arith.mulf %a, %b : f32
      linalg.yield %s : f32
  } -> tensor<4x8xf32>
  return %t, %q : tensor<4xf32>, tensor<4x8xf32>
}

// Two whole arrays are read for it, or it is a result anyway, or it is no arithmetic: once.

// CHECK-LABEL: func.func @once
// CHECK-COUNT-1: arith.addf %{{.*}}, %{{.*}} {first}
// CHECK-COUNT-1: math.exp
// CHECK-COUNT-1: arith.negf
// CHECK-NOT: arith.negf
// CHECK: return
func.func @once(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>, %z: tensor<4xf32>, %w: tensor<8xf32>)
    -> (tensor<4xf32>, tensor<8xf32>, tensor<4x8xf32>) attributes {kern.program} {
  %e = tensor.empty() : tensor<4x8xf32>
  %both = linalg.generic {indexing_maps = [#rows, #rows, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<4x8xf32>, tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %s = arith.addf %a, %b {first} : f32
      linalg.yield %s : f32
  } -> tensor<4x8xf32>
  %power = linalg.generic {indexing_maps = [#rows, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%both : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = math.exp %a : f32
      linalg.yield %s : f32
  } -> tensor<4x8xf32>
  %minus = linalg.generic {indexing_maps = [#rows, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%both : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.negf %a : f32
      linalg.yield %s : f32
  } -> tensor<4x8xf32>
  %t = linalg.generic {indexing_maps = [#rows, #of_row], iterator_types = ["parallel", "reduction"]}
      ins(%power : tensor<4x8xf32>) outs(%z : tensor<4xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %a, %o : f32
      linalg.yield %s : f32
  } -> tensor<4xf32>
  %u = linalg.generic {indexing_maps = [#rows, #rows, #of_column], iterator_types = ["reduction", "parallel"]}
      ins(%power, %minus : tensor<4x8xf32>, tensor<4x8xf32>) outs(%w : tensor<8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %p = arith.maximumf %a, %b : f32
      %s = arith.addf %p, %o : f32
      linalg.yield %s : f32
  } -> tensor<8xf32>
  return %t, %u, %minus : tensor<4xf32>, tensor<8xf32>, tensor<4x8xf32>
}
