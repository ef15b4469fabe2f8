// RUN: not %pykern-opt %s --kern-reverse 2>&1 | FileCheck %s
// RUN: not %pykern-opt %s --kern-forward 2>&1 | FileCheck %s

// A float read as its bits would carry a derivative out of sight of the rules.

// CHECK: bits.mlir:[[# @LINE + 5]]:{{.*}}error: a float read as its bits has no derivative
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> attributes {kern.program} {
  %empty = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%empty : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %bits = arith.bitcast %in : f32 to i32
    %y = arith.bitcast %bits : i32 to f32
    linalg.yield %y : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}
