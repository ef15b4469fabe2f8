// RUN: %pykern-opt %s --kern-read-arguments | FileCheck %s

#id = affine_map<(d0) -> (d0)>
#all = affine_map<(d0) -> ()>

// CHECK-LABEL: func.func @added
// CHECK: %[[E:.*]] = tensor.empty() : tensor<8xf32>
// CHECK: linalg.generic {{.*}} ins(%arg1, %arg0 : tensor<8xf32>, tensor<8xf32>) outs(%[[E]] : tensor<8xf32>)
// CHECK: ^bb0(%[[Y:.*]]: f32, %[[X:.*]]: f32, %{{.*}}: f32):
// CHECK: arith.subf %[[X]], %[[Y]]
func.func @added(%x: tensor<8xf32> {bufferization.writable = false}, %y: tensor<8xf32> {bufferization.writable = false})
    -> tensor<8xf32> attributes {kern.program} {
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%y : tensor<8xf32>) outs(%x : tensor<8xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.subf %o, %a : f32
      linalg.yield %s : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// One that may be written is changed in its place; a sum begins with what is there.

// CHECK-LABEL: func.func @in_place
// CHECK: linalg.generic {{.*}} outs(%arg0 : tensor<8xf32>)
// CHECK: linalg.generic {{.*}} outs(%arg2 : tensor<f32>)
func.func @in_place(%x: tensor<8xf32> {bufferization.writable = true}, %y: tensor<8xf32> {bufferization.writable = false},
    %z: tensor<f32> {bufferization.writable = false}) -> (tensor<8xf32>, tensor<f32>) attributes {kern.program} {
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%y : tensor<8xf32>) outs(%x : tensor<8xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.subf %o, %a : f32
      linalg.yield %s : f32
  } -> tensor<8xf32>
  %t = linalg.generic {indexing_maps = [#id, #all], iterator_types = ["reduction"]}
      ins(%y : tensor<8xf32>) outs(%z : tensor<f32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %o, %a : f32
      linalg.yield %s : f32
  } -> tensor<f32>
  return %r, %t : tensor<8xf32>, tensor<f32>
}
