// RUN: %pykern-opt %s --split-input-file --pass-pipeline="builtin.module(kern-reverse{active=0},canonicalize,cse)" | FileCheck %s

// Ops on elements that only add and multiply are one op before they are reversed: one primal, one adjoint.

#id = affine_map<(i) -> (i)>

// CHECK-LABEL: func.func @cheap.vjp
// CHECK-COUNT-2: linalg.generic
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @cheap(%x: tensor<6xf64>, %y: tensor<6xf64>) -> tensor<6xf64> attributes {kern.program} {
  %e = tensor.empty() : tensor<6xf64>
  %p = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%x, %y : tensor<6xf64>, tensor<6xf64>) outs(%e : tensor<6xf64>) {
  ^bb0(%a: f64, %b: f64, %o: f64):
    %s = arith.mulf %a, %b : f64
    linalg.yield %s : f64
  } -> tensor<6xf64>
  %q = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%p, %y : tensor<6xf64>, tensor<6xf64>) outs(%e : tensor<6xf64>) {
  ^bb0(%a: f64, %b: f64, %o: f64):
    %s = arith.addf %a, %b : f64
    linalg.yield %s : f64
  } -> tensor<6xf64>
  return %q : tensor<6xf64>
}

// -----

// What is dear stays apart, so that its result may be kept.

#id = affine_map<(i) -> (i)>

// CHECK-LABEL: func.func @dear.vjp
// CHECK: %[[E:.*]] = linalg.generic
// CHECK: math.exp
// CHECK-NEXT: linalg.yield
// CHECK: linalg.generic {{.*}} ins(%[[E]], %arg1 :
// CHECK: arith.mulf
// CHECK: return
func.func @dear(%x: tensor<6xf64>, %y: tensor<6xf64>) -> tensor<6xf64> attributes {kern.program} {
  %e = tensor.empty() : tensor<6xf64>
  %p = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<6xf64>) outs(%e : tensor<6xf64>) {
  ^bb0(%a: f64, %o: f64):
    %s = math.exp %a : f64
    linalg.yield %s : f64
  } -> tensor<6xf64>
  %q = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%p, %y : tensor<6xf64>, tensor<6xf64>) outs(%e : tensor<6xf64>) {
  ^bb0(%a: f64, %b: f64, %o: f64):
    %s = arith.mulf %a, %b : f64
    linalg.yield %s : f64
  } -> tensor<6xf64>
  return %q : tensor<6xf64>
}
