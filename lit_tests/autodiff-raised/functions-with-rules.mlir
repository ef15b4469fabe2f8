// RUN: %pykern-opt %s --kern-reverse | FileCheck %s --check-prefix=REVERSE
// RUN: %pykern-opt %s --kern-forward | FileCheck %s --check-prefix=FORWARD

// A function that names its rules in `kern.rules` stays a call, and so do the rules: reverse mode calls the first with
// operands, results and cotangents, forward mode the second with operands, results and tangents.

// REVERSE-LABEL: func.func @f.vjp(
// REVERSE-SAME: %[[X:[a-z0-9]+]]: tensor<4xf64>{{.*}}, %[[G:[a-z0-9]+]]: tensor<4xf64>{{.*}})
// REVERSE: %[[Y:.*]] = call @root(%[[X]])
// REVERSE: %[[D:.*]] = call @root.reverse(%[[X]], %[[Y]], %[[G]])
// REVERSE: return %[[Y]], %[[D]]

// FORWARD-LABEL: func.func @f.jvp(
// FORWARD-SAME: %[[X:[a-z0-9]+]]: tensor<4xf64>{{.*}}, %[[T:[a-z0-9]+]]: tensor<4xf64>{{.*}})
// FORWARD: %[[Y:.*]] = call @root(%[[X]])
// FORWARD: %[[D:.*]] = call @root.forward(%[[X]], %[[Y]], %[[T]])
// FORWARD: return %[[Y]], %[[D]]

func.func private @root(%x: tensor<4xf64>) -> tensor<4xf64>
    attributes {kern.rules = [@root.reverse, @root.forward], no_inline} {
  %0 = linalg.sqrt ins(%x : tensor<4xf64>) outs(%x : tensor<4xf64>) -> tensor<4xf64>
  return %0 : tensor<4xf64>
}
func.func private @root.reverse(%x: tensor<4xf64>, %y: tensor<4xf64>, %g: tensor<4xf64>) -> tensor<4xf64>
    attributes {no_inline} {
  return %g : tensor<4xf64>
}
func.func private @root.forward(%x: tensor<4xf64>, %y: tensor<4xf64>, %t: tensor<4xf64>) -> tensor<4xf64> {
  return %t : tensor<4xf64>
}
func.func @f(%x: tensor<4xf64>) -> tensor<4xf64> attributes {kern.program} {
  %y = func.call @root(%x) : (tensor<4xf64>) -> tensor<4xf64>
  return %y : tensor<4xf64>
}
