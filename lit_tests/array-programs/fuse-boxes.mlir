// RUN: %pykern-opt %s --kern-fuse-boxes --canonicalize --cse | FileCheck %s

#all = affine_map<(i) -> (i)>

// An array that is shifted around its end, less the array: two boxes, of which each reads slices of the argument.

// CHECK-LABEL: @shifted
// CHECK-SAME: (%[[X:.*]]: tensor<3000xf32>)
// CHECK-DAG: tensor.extract_slice %[[X]][1] [2999] [1]
// CHECK-DAG: tensor.extract_slice %[[X]][0] [2999] [1]
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<2999xf32>)
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<1xf32>)
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @shifted(%x: tensor<3000xf32>) -> tensor<3000xf32> attributes {kern.program} {
  %e = tensor.empty() : tensor<3000xf32>
  %rest = tensor.extract_slice %x[1] [2999] [1] : tensor<3000xf32> to tensor<2999xf32>
  %first = tensor.extract_slice %x[0] [1] [1] : tensor<3000xf32> to tensor<1xf32>
  %half = tensor.insert_slice %rest into %e[0] [2999] [1] : tensor<2999xf32> into tensor<3000xf32>
  %moved = tensor.insert_slice %first into %half[2999] [1] [1] : tensor<1xf32> into tensor<3000xf32>
  %y = linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel"]}
      ins(%moved, %x : tensor<3000xf32>, tensor<3000xf32>) outs(%e : tensor<3000xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %d = arith.subf %a, %b : f32
    linalg.yield %d : f32
  } -> tensor<3000xf32>
  return %y : tensor<3000xf32>
}

// What is returned is put together anyway.

// CHECK-LABEL: @returned
// CHECK: tensor.insert_slice
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<3000xf32>)
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @returned(%x: tensor<3000xf32>, %v: tensor<10xf32>) -> (tensor<3000xf32>, tensor<3000xf32>) attributes {kern.program} {
  %e = tensor.empty() : tensor<3000xf32>
  %put = tensor.insert_slice %v into %x[7] [10] [1] : tensor<10xf32> into tensor<3000xf32>
  %y = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel"]}
      ins(%put : tensor<3000xf32>) outs(%e : tensor<3000xf32>) {
  ^bb0(%a: f32, %o: f32):
    %d = arith.addf %a, %a : f32
    linalg.yield %d : f32
  } -> tensor<3000xf32>
  return %put, %y : tensor<3000xf32>, tensor<3000xf32>
}

// Elements looked up around the end of an array: two slices of it, where the look-up is read in slices alone.

// CHECK-LABEL: @looked_up
// CHECK-SAME: (%[[X:.*]]: tensor<3000xf32>)
// CHECK-NOT: tensor.extract %
// CHECK-DAG: tensor.extract_slice %[[X]][2998] [2] [1]
// CHECK-DAG: tensor.extract_slice %[[X]][0] [2997] [1]
// CHECK: return
func.func @looked_up(%x: tensor<3000xf32>) -> tensor<2999xf32> attributes {kern.program} {
  %c2 = arith.constant 2 : index
  %c0 = arith.constant 0 : index
  %c3000 = arith.constant 3000 : index
  %e = tensor.empty() : tensor<3000xf32>
  %y = linalg.generic {indexing_maps = [#all], iterator_types = ["parallel"]} outs(%e : tensor<3000xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %before = arith.subi %i, %c2 : index
    %outside = arith.cmpi slt, %before, %c0 : index
    %around = arith.addi %before, %c3000 : index
    %place = arith.select %outside, %around, %before : index
    %v = tensor.extract %x[%place] : tensor<3000xf32>
    linalg.yield %v : f32
  } -> tensor<3000xf32>
  %s = tensor.extract_slice %y[0] [2999] [1] : tensor<3000xf32> to tensor<2999xf32>
  %f = tensor.empty() : tensor<2999xf32>
  %r = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel"]}
      ins(%s : tensor<2999xf32>) outs(%f : tensor<2999xf32>) {
  ^bb0(%a: f32, %o: f32):
    %d = arith.addf %a, %a : f32
    linalg.yield %d : f32
  } -> tensor<2999xf32>
  return %r : tensor<2999xf32>
}
