// RUN: %pykern-opt %s --kern-remove-fusion-barriers | FileCheck %s

// The second use that kept a value apart from its reader goes; the value and its reader stay.

// CHECK-LABEL: func.func @held
// CHECK: %[[HELD:.*]] = math.exp
// CHECK-NOT: bufferization.dealloc_tensor
// CHECK: arith.addf %[[HELD]], %[[HELD]]
func.func @held(%x: tensor<8xf32>) -> tensor<8xf32> attributes {kern.program} {
  %e = math.exp %x : tensor<8xf32>
  bufferization.dealloc_tensor %e : tensor<8xf32>
  %r = arith.addf %e, %e : tensor<8xf32>
  return %r : tensor<8xf32>
}
