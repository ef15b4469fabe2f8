// RUN: %pykern-opt %s --kern-separate-yields | FileCheck %s

// One tensor carried twice becomes two: bufferization would put both into one buffer.

// CHECK-LABEL: func.func @twice
// CHECK: %[[Y:.*]] = tensor.insert
// CHECK: %[[C:.*]] = bufferization.alloc_tensor() copy(%[[Y]])
// CHECK: scf.yield %[[Y]], %[[C]]
func.func @twice(%x: tensor<4xf64>, %w: tensor<4xf64>, %n: index) -> tensor<4xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %w) -> (tensor<4xf64>, tensor<4xf64>) {
    %v = tensor.extract %a[%c1] : tensor<4xf64>
    %y = tensor.insert %v into %b[%c0] : tensor<4xf64>
    scf.yield %y, %y : tensor<4xf64>, tensor<4xf64>
  }
  return %r#0 : tensor<4xf64>
}

// A loop begins with a whole tensor.

// CHECK-LABEL: func.func @part
// CHECK: %[[PART:.*]] = tensor.extract_slice
// CHECK: %[[WHOLE:.*]] = bufferization.alloc_tensor() copy(%[[PART]])
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[WHOLE]])
func.func @part(%x: tensor<9xf64>, %n: index) -> tensor<4xf64> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %part = tensor.extract_slice %x[2] [4] [1] : tensor<9xf64> to tensor<4xf64>
  %r = scf.for %i = %zero to %n step %one iter_args(%a = %part) -> tensor<4xf64> {
    %b = arith.addf %a, %a : tensor<4xf64>
    scf.yield %b : tensor<4xf64>
  }
  return %r : tensor<4xf64>
}

// So does what a branch or a selection gives: parts have offsets of their own.

// CHECK-LABEL: func.func @chosen
// CHECK: scf.if
// CHECK: %[[FIRST:.*]] = bufferization.alloc_tensor() copy(%{{.*}}) : tensor<4xf64>
// CHECK: scf.yield %[[FIRST]]
// CHECK: %[[LAST:.*]] = bufferization.alloc_tensor() copy(%{{.*}}) : tensor<4xf64>
// CHECK: scf.yield %[[LAST]]
func.func @chosen(%x: tensor<9xf64>, %c: i1) -> tensor<4xf64> {
  %r = scf.if %c -> (tensor<4xf64>) {
    %part = tensor.extract_slice %x[2] [4] [1] : tensor<9xf64> to tensor<4xf64>
    scf.yield %part : tensor<4xf64>
  } else {
    %part = tensor.extract_slice %x[5] [4] [1] : tensor<9xf64> to tensor<4xf64>
    scf.yield %part : tensor<4xf64>
  }
  return %r : tensor<4xf64>
}

// CHECK-LABEL: func.func @selected
// CHECK: %[[PART:.*]] = tensor.extract_slice
// CHECK: %[[WHOLE:.*]] = bufferization.alloc_tensor() copy(%[[PART]])
// CHECK: arith.select %{{.*}}, %[[WHOLE]], %{{.*}} : tensor<4xf64>
func.func @selected(%x: tensor<9xf64>, %y: tensor<4xf64>, %c: i1) -> tensor<4xf64> {
  %part = tensor.extract_slice %x[2] [4] [1] : tensor<9xf64> to tensor<4xf64>
  %r = arith.select %c, %part, %y : tensor<4xf64>
  return %r : tensor<4xf64>
}

// A value that is computed in the place of a part of another tensor is such a part, too.

// CHECK-LABEL: func.func @computed_in_a_part
// CHECK: scf.if
// CHECK: %[[SUM:.*]] = linalg.generic
// CHECK: %[[WHOLE:.*]] = bufferization.alloc_tensor() copy(%[[SUM]])
// CHECK: scf.yield %[[WHOLE]]
func.func @computed_in_a_part(%x: tensor<9xf64>, %y: tensor<4xf64>, %c: i1) -> tensor<4xf64> {
  %r = scf.if %c -> (tensor<4xf64>) {
    %part = tensor.extract_slice %x[2] [4] [1] : tensor<9xf64> to tensor<4xf64>
    %s = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
        ins(%y : tensor<4xf64>) outs(%part : tensor<4xf64>) {
      ^bb0(%a: f64, %o: f64):
        %m = arith.addf %a, %a : f64
        linalg.yield %m : f64
    } -> tensor<4xf64>
    scf.yield %s : tensor<4xf64>
  } else {
    scf.yield %y : tensor<4xf64>
  }
  return %r : tensor<4xf64>
}
