// RUN: %pykern-opt %s --kern-prepare-signature | FileCheck %s

// CHECK-LABEL: func.func @program.f
// CHECK-SAME: %arg0: tensor<4xf32> {bufferization.writable = true}
// CHECK-SAME: %arg1: tensor<4xf32> {bufferization.writable = false}
// CHECK-SAME: -> (tensor<f64>, tensor<4xf32>)
// CHECK-SAME: kern.result_arguments = array<i64: -1, 0>
// CHECK: %[[S:.*]] = tensor.from_elements %arg2 : tensor<f64>
// CHECK: return %[[S]], %arg1
func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>, %s: f64) -> (f64, tensor<4xf32>)
    attributes {kern.program, kern.updated = array<i64: 0>} {
  %t = "kern.stop_gradient"(%y) : (tensor<4xf32>) -> tensor<4xf32>
  return %s, %t : f64, tensor<4xf32>
}
