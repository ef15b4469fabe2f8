// RUN: %pykern-opt %s --kern-separate-empties | FileCheck %s

// CHECK-LABEL: func.func @loop
// CHECK-NOT: tensor.empty
// CHECK: scf.for
// CHECK: tensor.empty
// CHECK: call @one
// CHECK: tensor.empty
// CHECK: call @two
func.func @loop(%n: index) attributes {kern.program} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<4xf32>
  scf.for %i = %c0 to %n step %c1 {
    func.call @one1(%e) : (tensor<4xf32>) -> ()
    func.call @two1(%e) : (tensor<4xf32>) -> ()
  }
  return
}

func.func private @one1(tensor<4xf32>)
func.func private @two1(tensor<4xf32>)
