// RUN: %pykern-opt %s --kern-reverse --canonicalize --cse | FileCheck %s

// A sum spreads its cotangent; a maximum shares it between the elements that are the maximum; a product
// gives each factor the product of the others, by products from both ends.

#rows = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// CHECK-LABEL: func.func @sum.vjp
// CHECK-SAME: %[[BAR:[a-z0-9]+]]: tensor<4xf64> {kern.name = "result0.cotangent"}
// CHECK: %[[S:.*]] = linalg.generic
// CHECK: %[[X:.*]] = linalg.generic
// CHECK-SAME: ["parallel", "parallel"]} ins(%[[BAR]] : tensor<4xf64>)
// CHECK-NEXT: ^bb0(%[[B:.*]]: f64, %{{.*}}: f64):
// CHECK-NEXT: linalg.yield %[[B]]
// CHECK: return %[[S]], %[[X]], %[[BAR]]
func.func @sum(%x: tensor<4x3xf64>, %s: tensor<4xf64>) -> tensor<4xf64> attributes {kern.program} {
  %r = linalg.generic {indexing_maps = [#rows, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x3xf64>) outs(%s : tensor<4xf64>) {
  ^bb0(%a: f64, %o: f64):
    %p = arith.addf %o, %a : f64
    linalg.yield %p : f64
  } -> tensor<4xf64>
  return %r : tensor<4xf64>
}

// CHECK-LABEL: func.func @max.vjp
// CHECK: %[[R:.*]] = linalg.generic {{.*}}["parallel", "reduction"]
// CHECK: arith.maximumf
// CHECK: %[[TIES:.*]] = linalg.generic {{.*}}["parallel", "reduction"]{{.*}}, %[[R]] :
// CHECK: %[[EQUAL:.*]] = arith.cmpf oeq
// CHECK: %[[ONE:.*]] = arith.select %[[EQUAL]], %cst{{.*}}, %cst
// CHECK: arith.addf %{{.*}}, %[[ONE]]
// CHECK: %[[SHARE:.*]] = linalg.generic {{.*}}ins(%{{.*}}, %[[TIES]] :
// CHECK: arith.divf
// CHECK: linalg.generic {{.*}}["parallel", "parallel"]{{.*}}, %[[R]], %[[SHARE]] :
// CHECK: arith.cmpf oeq
// CHECK: arith.select
func.func @max(%x: tensor<4x3xf64>) -> tensor<4xf64> attributes {kern.program} {
  %low = arith.constant 0xFFF0000000000000 : f64
  %e = tensor.empty() : tensor<4xf64>
  %s = linalg.fill ins(%low : f64) outs(%e : tensor<4xf64>) -> tensor<4xf64>
  %r = linalg.generic {indexing_maps = [#rows, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x3xf64>) outs(%s : tensor<4xf64>) {
  ^bb0(%a: f64, %o: f64):
    %p = arith.maximumf %o, %a : f64
    linalg.yield %p : f64
  } -> tensor<4xf64>
  return %r : tensor<4xf64>
}

// CHECK-LABEL: func.func @product.vjp
// CHECK-SAME: %[[S:[a-z0-9]+]]: tensor<4xf64>, %[[BAR:[a-z0-9]+]]: tensor<4xf64> {kern.name = "result0.cotangent"}
// CHECK: %[[BEFORE:.*]]:2 = scf.for {{.*}}iter_args(%{{.*}} = %[[S]],
// CHECK: %[[AFTER:.*]]:2 = scf.for
// CHECK: %[[OTHERS:.*]] = linalg.generic {{.*}}ins(%[[BEFORE]]#1, %[[AFTER]]#1 :
// CHECK: linalg.generic {{.*}}ins(%[[BAR]], %[[AFTER]]#0 :
// CHECK: linalg.generic {{.*}}ins(%[[BAR]], %[[OTHERS]] :
// CHECK-NOT: arith.divf
func.func @product(%x: tensor<4x3xf64>, %s: tensor<4xf64>) -> tensor<4xf64> attributes {kern.program} {
  %r = linalg.generic {indexing_maps = [#rows, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x3xf64>) outs(%s : tensor<4xf64>) {
  ^bb0(%a: f64, %o: f64):
    %p = arith.mulf %o, %a : f64
    linalg.yield %p : f64
  } -> tensor<4xf64>
  return %r : tensor<4xf64>
}

// What is combined in no such way runs as a loop.
// CHECK-LABEL: func.func @horner.vjp
// CHECK: %[[TRIPS:.*]]:2 = scf.for {{.*}} -> (tensor<f64>, tensor<3xf64>)
// CHECK: scf.for {{.*}} -> (tensor<f64>, tensor<3xf64>, f64)
// CHECK: tensor.extract_slice %[[TRIPS]]#1
func.func @horner(%x: tensor<3xf64>, %s: tensor<f64>, %c: f64) -> tensor<f64> attributes {kern.program} {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%x : tensor<3xf64>) outs(%s : tensor<f64>) {
  ^bb0(%a: f64, %o: f64):
    %p = arith.mulf %o, %c : f64
    %q = arith.addf %p, %a : f64
    linalg.yield %q : f64
  } -> tensor<f64>
  return %r : tensor<f64>
}
