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

// An element that goes to another place, with nothing computed: one load and one store.

// CHECK-LABEL: func.func @moved
// CHECK: scf.for %[[K:.*]] = {{.*}} iter_args(%[[X:.*]] = %arg0)
// CHECK: %[[A:.*]] = tensor.extract %[[X]][%[[K]]]
// CHECK-NOT: insert_slice
// CHECK: tensor.insert %[[A]] into %[[X]]
func.func @moved(%x: tensor<100xf64> {bufferization.writable = true}) -> tensor<100xf64> attributes {kern.program} {
  %one = arith.constant 1 : index
  %end = arith.constant 99 : index
  %r = scf.for %k = %one to %end step %one iter_args(%t = %x) -> (tensor<100xf64>) {
    %next = arith.addi %k, %one : index
    %a = tensor.extract_slice %t[%k] [1] [1] : tensor<100xf64> to tensor<f64>
    %n = tensor.insert_slice %a into %t[%next] [1] [1] : tensor<f64> into tensor<100xf64>
    scf.yield %n : tensor<100xf64>
  }
  return %r : tensor<100xf64>
}

// A slice that whole rows are computed with stays a tensor.

// CHECK-LABEL: func.func @meets_rows
// CHECK: tensor.extract_slice %{{.*}} : tensor<100xf64> to tensor<f64>
// CHECK: linalg.generic
func.func @meets_rows(%x: tensor<100xf64> {bufferization.writable = true}) -> tensor<100xf64> attributes {kern.program} {
  %one = arith.constant 1 : index
  %end = arith.constant 99 : index
  %r = scf.for %k = %one to %end step %one iter_args(%t = %x) -> (tensor<100xf64>) {
    %a = tensor.extract_slice %t[%k] [1] [1] : tensor<100xf64> to tensor<f64>
    %n = linalg.generic {indexing_maps = [affine_map<(d0) -> ()>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
        ins(%a : tensor<f64>) outs(%t : tensor<100xf64>) {
      ^bb0(%u: f64, %o: f64):
        %m = arith.mulf %u, %o : f64
        linalg.yield %m : f64
    } -> tensor<100xf64>
    scf.yield %n : tensor<100xf64>
  }
  return %r : tensor<100xf64>
}

// A number from in front of the loop, and one that the loop carries in its condition.

// CHECK-LABEL: func.func @carried
// CHECK-NOT: linalg.generic
// CHECK: scf.while (%{{.*}} = %{{.*}}) : (f64) -> f64
// CHECK: scf.condition(%{{.*}}) %{{.*}} : f64
// CHECK: ^bb0(%[[S:.*]]: f64):
// CHECK: arith.mulf %[[S]], %[[S]] : f64
// CHECK: scf.yield %{{.*}} : f64
// CHECK: tensor.from_elements
func.func @carried(%limit: f64) -> tensor<f64> attributes {kern.program} {
  %two = arith.constant 2.0 : f64
  %e = tensor.empty() : tensor<f64>
  %start = linalg.generic {indexing_maps = [#none], iterator_types = []} outs(%e : tensor<f64>) {
    ^bb0(%o: f64):
      linalg.yield %two : f64
  } -> tensor<f64>
  %r = scf.while (%s = %start) : (tensor<f64>) -> tensor<f64> {
    %v = tensor.extract %s[] : tensor<f64>
    %more = arith.cmpf olt, %v, %limit : f64
    scf.condition(%more) %s : tensor<f64>
  } do {
  ^bb0(%s: tensor<f64>):
    %f = tensor.empty() : tensor<f64>
    %n = linalg.generic {indexing_maps = [#none, #none], iterator_types = []} ins(%s : tensor<f64>) outs(%f : tensor<f64>) {
      ^bb0(%u: f64, %o: f64):
        %m = arith.mulf %u, %u : f64
        linalg.yield %m : f64
    } -> tensor<f64>
    scf.yield %n : tensor<f64>
  }
  return %r : tensor<f64>
}
