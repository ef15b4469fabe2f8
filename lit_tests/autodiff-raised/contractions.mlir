// RUN: %pykern-opt %s --kern-reverse --canonicalize --cse | FileCheck %s

// Both factors of a matmul get a contraction of the cotangent and the other factor, and the matmul stays.

// CHECK-DAG: #[[MN:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-DAG: #[[KN:.*]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK-DAG: #[[MK:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[SUM:.*]] = affine_map<(d0, d1) -> (d0 - d1 + 2)>

// CHECK-LABEL: func.func @matmul.vjp
// CHECK-SAME: (%[[X:.*]]: tensor<4x5xf32>, %[[W:.*]]: tensor<5x6xf32>, %[[C:.*]]: tensor<4x6xf32>, %[[BAR:.*]]: tensor<4x6xf32> {kern.name = "result0.cotangent"})
// CHECK: %[[R:.*]] = linalg.matmul ins(%[[X]], %[[W]]
// CHECK: %[[XBAR:.*]] = linalg.generic {indexing_maps = [#[[MN]], #[[KN]], #[[MK]]], iterator_types = ["parallel", "reduction", "parallel"]} ins(%[[BAR]], %[[W]] :
// CHECK: %[[WBAR:.*]] = linalg.generic {indexing_maps = [#[[MN]], #[[MK]], #[[KN]]], iterator_types = ["reduction", "parallel", "parallel"]} ins(%[[BAR]], %[[X]] :
// CHECK: return %[[R]], %[[XBAR]], %[[WBAR]], %[[BAR]]
func.func @matmul(%x: tensor<4x5xf32>, %w: tensor<5x6xf32>, %c: tensor<4x6xf32>) -> tensor<4x6xf32> attributes {kern.program} {
  %r = linalg.matmul ins(%x, %w : tensor<4x5xf32>, tensor<5x6xf32>) outs(%c : tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

// A convolution is gathered: over the places of x, from the cotangent with zeros around it.
// CHECK-LABEL: func.func @convolution.vjp
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<9xf64>, %[[W:[a-z0-9]+]]: tensor<3xf64>, %{{.*}}: tensor<7xf64>, %[[BAR:[a-z0-9]+]]: tensor<7xf64> {
// CHECK: %[[PADDED:.*]] = tensor.insert_slice %[[BAR]] into %{{.*}}[2] [7] [1] : tensor<7xf64> into tensor<11xf64>
// CHECK: linalg.generic {indexing_maps = [#[[SUM]], #{{.*}}, #{{.*}}], iterator_types = ["parallel", "reduction"]} ins(%[[PADDED]], %[[W]] :
// CHECK-NOT: arith.select
// CHECK: linalg.generic {{.*}}["reduction", "parallel"]} ins(%[[BAR]], %[[X]] :
func.func @convolution(%x: tensor<9xf64>, %w: tensor<3xf64>, %z: tensor<7xf64>) -> tensor<7xf64> attributes {kern.program} {
  %r = linalg.generic {
      indexing_maps = [affine_map<(i, k) -> (i + k)>, affine_map<(i, k) -> (k)>, affine_map<(i, k) -> (i)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%x, %w : tensor<9xf64>, tensor<3xf64>) outs(%z : tensor<7xf64>) {
  ^bb0(%a: f64, %b: f64, %o: f64):
    %p = arith.mulf %a, %b : f64
    %q = arith.addf %o, %p : f64
    linalg.yield %q : f64
  } -> tensor<7xf64>
  return %r : tensor<7xf64>
}

// With a stride the cotangent is spread, and where zeros could make NaN what flows is masked.
// CHECK-LABEL: func.func @strided.vjp
// CHECK: %[[SPREAD:.*]] = tensor.insert_slice %{{.*}} into %{{.*}}[2] [4] [2] : tensor<4xf64> into tensor<11xf64>
// CHECK: linalg.generic {{.*}}["parallel", "reduction"]} ins(%[[SPREAD]],
// CHECK: %[[INSIDE:.*]] = arith.cmpi ult
// CHECK: %[[WHOLE:.*]] = arith.cmpi eq
// CHECK: %[[BOTH:.*]] = arith.andi %[[INSIDE]], %[[WHOLE]]
// CHECK: arith.select %[[BOTH]], %{{.*}}, %cst
func.func @strided(%x: tensor<9xf64>, %w: tensor<3xf64>, %z: tensor<4xf64>) -> tensor<4xf64> attributes {kern.program} {
  %r = linalg.generic {
      indexing_maps = [affine_map<(i, k) -> (2 * i + k)>, affine_map<(i, k) -> (k)>, affine_map<(i, k) -> (i)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%x, %w : tensor<9xf64>, tensor<3xf64>) outs(%z : tensor<4xf64>) {
  ^bb0(%a: f64, %b: f64, %o: f64):
    %p = arith.divf %b, %a : f64
    %q = arith.addf %o, %p : f64
    linalg.yield %q : f64
  } -> tensor<4xf64>
  return %r : tensor<4xf64>
}
