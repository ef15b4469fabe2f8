// RUN: %pykern-opt %s --kern-read-windows --canonicalize | FileCheck %s

#window = affine_map<(d0, d1) -> (d0 + d1)>
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#column = affine_map<(d0, d1) -> (d1)>

// CHECK-DAG: #[[AT:.*]] = affine_map<(d0, d1) -> (d0 + d1)>
// CHECK-DAG: #[[LENGTH:.*]] = affine_map<(d0, d1) -> (d1)>
// CHECK-DAG: #[[OUT:.*]] = affine_map<(d0, d1) -> (d0)>

// A sum reads the array; an empty tensor says that a window has 5 elements.

// CHECK-LABEL: func.func @sums
// CHECK-SAME: (%[[X:.*]]: tensor<24xf64>, %[[O:.*]]: tensor<20xf64>)
// CHECK: %[[FIVE:.*]] = tensor.empty() : tensor<5xf32>
// CHECK-NEXT: linalg.generic {indexing_maps = [#[[AT]], #[[LENGTH]], #[[OUT]]], iterator_types = ["parallel", "reduction"]}
// CHECK-SAME: ins(%[[X]], %[[FIVE]] : tensor<24xf64>, tensor<5xf32>) outs(%[[O]] : tensor<20xf64>)
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @sums(%x: tensor<24xf64>, %o: tensor<20xf64>) -> tensor<20xf64> {
  %e = tensor.empty() : tensor<20x5xf64>
  %w = linalg.generic {indexing_maps = [#window, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<24xf64>) outs(%e : tensor<20x5xf64>) {
    ^bb0(%a: f64, %z: f64):
      linalg.yield %a : f64
  } -> tensor<20x5xf64>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%w : tensor<20x5xf64>) outs(%o : tensor<20xf64>) {
    ^bb0(%a: f64, %z: f64):
      %r = arith.addf %z, %a : f64
      linalg.yield %r : f64
  } -> tensor<20xf64>
  return %s : tensor<20xf64>
}

// A filter says by itself how long windows are.

// CHECK-LABEL: func.func @filtered
// CHECK-NOT: tensor.empty
// CHECK: linalg.generic {indexing_maps = [#[[AT]], #[[LENGTH]], #[[OUT]]]
// CHECK-SAME: ins(%{{.*}}, %{{.*}} : tensor<24xf64>, tensor<5xf64>)
func.func @filtered(%x: tensor<24xf64>, %f: tensor<5xf64>, %o: tensor<20xf64>) -> tensor<20xf64> {
  %e = tensor.empty() : tensor<20x5xf64>
  %w = linalg.generic {indexing_maps = [#window, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<24xf64>) outs(%e : tensor<20x5xf64>) {
    ^bb0(%a: f64, %z: f64):
      linalg.yield %a : f64
  } -> tensor<20x5xf64>
  %s = linalg.generic {indexing_maps = [#id, #column, #row], iterator_types = ["parallel", "reduction"]}
      ins(%w, %f : tensor<20x5xf64>, tensor<5xf64>) outs(%o : tensor<20xf64>) {
    ^bb0(%a: f64, %b: f64, %z: f64):
      %p = arith.mulf %a, %b : f64
      %r = arith.addf %z, %p : f64
      linalg.yield %r : f64
  } -> tensor<20xf64>
  return %s : tensor<20xf64>
}

// What is no sum of loops stays for fusion.

// CHECK-LABEL: func.func @turned
// CHECK-COUNT-2: linalg.generic
func.func @turned(%x: tensor<5x20xf64>, %o: tensor<20xf64>) -> tensor<20xf64> {
  %e = tensor.empty() : tensor<20x5xf64>
  %w = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<5x20xf64>) outs(%e : tensor<20x5xf64>) {
    ^bb0(%a: f64, %z: f64):
      linalg.yield %a : f64
  } -> tensor<20x5xf64>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%w : tensor<20x5xf64>) outs(%o : tensor<20xf64>) {
    ^bb0(%a: f64, %z: f64):
      %r = arith.addf %z, %a : f64
      linalg.yield %r : f64
  } -> tensor<20xf64>
  return %s : tensor<20xf64>
}
