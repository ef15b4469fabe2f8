// RUN: %pykern-opt %s --kern-fuse-boxes --canonicalize --cse | FileCheck %s

#all = affine_map<(i) -> (i)>

// An array that is shifted around its end, less the array: two boxes, of which each reads slices of the argument.

// CHECK-LABEL: @shifted
// CHECK-SAME: (%[[X:.*]]: tensor<300xf32>)
// CHECK-DAG: tensor.extract_slice %[[X]][1] [299] [1]
// CHECK-DAG: tensor.extract_slice %[[X]][0] [299] [1]
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<299xf32>)
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<1xf32>)
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @shifted(%x: tensor<300xf32>) -> tensor<300xf32> attributes {kern.program} {
  %e = tensor.empty() : tensor<300xf32>
  %rest = tensor.extract_slice %x[1] [299] [1] : tensor<300xf32> to tensor<299xf32>
  %first = tensor.extract_slice %x[0] [1] [1] : tensor<300xf32> to tensor<1xf32>
  %half = tensor.insert_slice %rest into %e[0] [299] [1] : tensor<299xf32> into tensor<300xf32>
  %moved = tensor.insert_slice %first into %half[299] [1] [1] : tensor<1xf32> into tensor<300xf32>
  %y = linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel"]}
      ins(%moved, %x : tensor<300xf32>, tensor<300xf32>) outs(%e : tensor<300xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %d = arith.subf %a, %b : f32
    linalg.yield %d : f32
  } -> tensor<300xf32>
  return %y : tensor<300xf32>
}

// What is returned is put together anyway.

// CHECK-LABEL: @returned
// CHECK: tensor.insert_slice
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<300xf32>)
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @returned(%x: tensor<300xf32>, %v: tensor<10xf32>) -> (tensor<300xf32>, tensor<300xf32>) attributes {kern.program} {
  %e = tensor.empty() : tensor<300xf32>
  %put = tensor.insert_slice %v into %x[7] [10] [1] : tensor<10xf32> into tensor<300xf32>
  %y = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel"]}
      ins(%put : tensor<300xf32>) outs(%e : tensor<300xf32>) {
  ^bb0(%a: f32, %o: f32):
    %d = arith.addf %a, %a : f32
    linalg.yield %d : f32
  } -> tensor<300xf32>
  return %put, %y : tensor<300xf32>, tensor<300xf32>
}
