// RUN: %pykern-opt %s --kern-scalarise-elements | FileCheck %s

#none = affine_map<() -> ()>

// A running product: elements that a loop reads and writes are numbers.

// CHECK-LABEL: func.func @recurrence
// CHECK: scf.for %[[K:.*]] = {{.*}} iter_args(%[[X:.*]] = %arg0)
// CHECK: %[[BEFORE:.*]] = arith.subi %[[K]]
// CHECK-NOT: linalg.generic
// CHECK-DAG: %[[A:.*]] = tensor.extract %[[X]][%[[BEFORE]]]
// CHECK-DAG: %[[B:.*]] = tensor.extract %[[X]][%[[K]]]
// CHECK: %[[P:.*]] = arith.mulf %[[A]], %[[B]] : f64
// CHECK: %[[NEW:.*]] = tensor.insert %[[P]] into %[[X]][%[[K]]]
// CHECK: scf.yield %[[NEW]]
func.func @recurrence(%x: tensor<100xf64> {bufferization.writable = true}) -> tensor<100xf64> attributes {kern.program} {
  %one = arith.constant 1 : index
  %end = arith.constant 100 : index
  %r = scf.for %k = %one to %end step %one iter_args(%t = %x) -> (tensor<100xf64>) {
    %before = arith.subi %k, %one : index
    %a = tensor.extract_slice %t[%before] [1] [1] : tensor<100xf64> to tensor<f64>
    %b = tensor.extract_slice %t[%k] [1] [1] : tensor<100xf64> to tensor<f64>
    %e = tensor.empty() : tensor<f64>
    %p = linalg.generic {indexing_maps = [#none, #none, #none], iterator_types = []}
        ins(%a, %b : tensor<f64>, tensor<f64>) outs(%e : tensor<f64>) {
      ^bb0(%u: f64, %v: f64, %o: f64):
        %m = arith.mulf %u, %v : f64
        linalg.yield %m : f64
    } -> tensor<f64>
    %n = tensor.insert_slice %p into %t[%k] [1] [1] : tensor<f64> into tensor<100xf64>
    scf.yield %n : tensor<100xf64>
  }
  return %r : tensor<100xf64>
}

// A constant place, and a number from outside.

// CHECK-LABEL: func.func @constant_place
// CHECK: scf.for
// CHECK: tensor.extract %{{.*}}[%c3{{.*}}, %{{.*}}]
// CHECK: tensor.insert
func.func @constant_place(%x: tensor<8x100xf64> {bufferization.writable = true}, %s: f64) -> tensor<8x100xf64> attributes {kern.program} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %end = arith.constant 100 : index
  %r = scf.for %k = %zero to %end step %one iter_args(%t = %x) -> (tensor<8x100xf64>) {
    %a = tensor.extract_slice %t[3, %k] [1, 1] [1, 1] : tensor<8x100xf64> to tensor<f64>
    %e = tensor.empty() : tensor<f64>
    %p = linalg.generic {indexing_maps = [#none, #none, #none], iterator_types = []}
        ins(%a, %s : tensor<f64>, f64) outs(%e : tensor<f64>) {
      ^bb0(%u: f64, %v: f64, %o: f64):
        %m = arith.mulf %u, %v : f64
        linalg.yield %m : f64
    } -> tensor<f64>
    %n = tensor.insert_slice %p into %t[0, %k] [1, 1] [1, 1] : tensor<f64> into tensor<8x100xf64>
    scf.yield %n : tensor<8x100xf64>
  }
  return %r : tensor<8x100xf64>
}

// Outside of loops the op stays: its result goes straight to its place.

// CHECK-LABEL: func.func @no_loop
// CHECK: linalg.generic
func.func @no_loop(%a: tensor<f64> {bufferization.writable = false}) -> tensor<f64> attributes {kern.program} {
  %e = tensor.empty() : tensor<f64>
  %p = linalg.generic {indexing_maps = [#none, #none], iterator_types = []} ins(%a : tensor<f64>) outs(%e : tensor<f64>) {
    ^bb0(%u: f64, %o: f64):
      %m = arith.addf %u, %u : f64
      linalg.yield %m : f64
  } -> tensor<f64>
  return %p : tensor<f64>
}
