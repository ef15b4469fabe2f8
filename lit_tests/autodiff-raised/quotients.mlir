// RUN: %pykern-opt %s --kern-reverse --canonicalize --cse | FileCheck %s

// What flows back through a quotient is divided once, for both operands.

#id = affine_map<(i) -> (i)>

// CHECK-LABEL: func.func @quotient.vjp
// CHECK: linalg.generic {{.*}}outs(%{{.*}}, %{{.*}} : tensor<8xf64>, tensor<8xf64>)
// CHECK-NEXT: ^bb0(%[[BAR:[a-z0-9_]+]]: f64, %[[Y:[a-z0-9_]+]]: f64, %[[X:[a-z0-9_]+]]: f64
// CHECK-NEXT: %[[Q:.*]] = arith.divf %[[BAR]], %[[Y]] : f64
// CHECK-NEXT: %[[R:.*]] = arith.divf %[[X]], %[[Y]] : f64
// CHECK-NEXT: %[[P:.*]] = arith.mulf %[[Q]], %[[R]] : f64
// CHECK-NEXT: %[[N:.*]] = arith.negf %[[P]] : f64
// CHECK-NEXT: linalg.yield %[[Q]], %[[N]]
func.func @quotient(%x: tensor<8xf64>, %y: tensor<8xf64>) -> tensor<8xf64> attributes {kern.program} {
  %e = tensor.empty() : tensor<8xf64>
  %q = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%x, %y : tensor<8xf64>, tensor<8xf64>) outs(%e : tensor<8xf64>) {
    ^bb0(%a: f64, %b: f64, %o: f64):
      %r = arith.divf %a, %b : f64
      linalg.yield %r : f64
  } -> tensor<8xf64>
  return %q : tensor<8xf64>
}
