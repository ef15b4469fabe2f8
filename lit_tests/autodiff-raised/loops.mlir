// RUN: %pykern-opt %s --kern-reverse --canonicalize --cse | FileCheck %s
// RUN: %pykern-opt %s --kern-reverse=checkpoint=every(4) --canonicalize --cse | FileCheck %s --check-prefix=EVERY
// RUN: %pykern-opt %s --kern-reverse=checkpoint=binomial(3) --canonicalize --cse | FileCheck %s --check-prefix=BINOMIAL

// Each step's state is stored, for the sine reads it, and nothing else; the loop runs backwards over it.

// CHECK-LABEL: func.func @cosines.vjp
// CHECK: %[[FORWARD:.*]]:2 = scf.for %[[T:.*]] = %c0 to %c10 step %c1 iter_args(%[[U:.*]] = %{{.*}}, %[[STACK:.*]] = %{{.*}}) -> (f64, tensor<10xf64>)
// CHECK: %[[PUSHED:.*]] = tensor.insert %[[U]] into %[[STACK]][%[[T]]]
// CHECK: %[[V:.*]] = math.cos %[[U]]
// CHECK: scf.yield %[[V]], %[[PUSHED]]
// CHECK: scf.for %[[S:.*]] = %c0 to %c10 step %c1 iter_args(%[[BAR:.*]] = %{{.*}}) -> (f64)
// CHECK: %[[PLACE:.*]] = arith.subi %c9, %[[S]]
// CHECK: %[[OLD:.*]] = tensor.extract %[[FORWARD]]#1[%[[PLACE]]]
// CHECK: %[[SIN:.*]] = math.sin %[[OLD]]
// CHECK: arith.mulf %[[BAR]], %[[SIN]]

// Three strips of four at most: three states, and four while a strip is reversed.
// EVERY-LABEL: func.func @cosines.vjp
// EVERY: scf.for {{.*}} = %c0 to %c3 {{.*}} -> (f64, tensor<3xf64>)
// EVERY: scf.for {{.*}} -> (f64) {
// EVERY: math.cos
// EVERY: scf.for {{.*}} = %c0 to %c3 {{.*}} -> (f64) {
// EVERY: scf.for {{.*}} -> (f64, tensor<4xf64>)
// EVERY: math.cos
// EVERY: scf.for {{.*}} -> (f64) {
// EVERY: math.sin

// Three states and one to work in; what is run again is in tables.
// BINOMIAL-LABEL: func.func @cosines.vjp
// BINOMIAL-DAG: %[[STARTS:.*]] = arith.constant dense<[0, 4, 7]> : tensor<3xindex>
// BINOMIAL: %[[KEPT:.*]]:2 = scf.for %[[T:.*]] = %c0 to %c3 {{.*}} -> (f64, tensor<4xf64>)
// BINOMIAL: tensor.extract %[[STARTS]][%[[T]]]
// BINOMIAL: scf.for {{.*}} = %c0 to %c10 {{.*}} iter_args(%{{.*}}, %[[SLOTS:.*]] = %[[KEPT]]#1) -> (f64, tensor<4xf64>)
// BINOMIAL: %[[REPLAYED:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %[[SLOTS]]) -> (tensor<4xf64>)
// BINOMIAL: scf.for
// BINOMIAL: math.cos
// BINOMIAL: tensor.insert
// BINOMIAL: tensor.extract %[[REPLAYED]]
// BINOMIAL: math.sin
func.func @cosines(%x: f64) -> f64 attributes {kern.program} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 10 : index
  %y = scf.for %t = %c0 to %n step %c1 iter_args(%u = %x) -> (f64) {
    %v = math.cos %u : f64
    scf.yield %v : f64
  }
  return %y : f64
}

// A linear loop stores nothing.
// CHECK-LABEL: func.func @halves.vjp
// CHECK: scf.for {{.*}} -> (f64) {
// CHECK: scf.for {{.*}} -> (f64, f64) {
// CHECK-NOT: tensor
// CHECK: return
func.func @halves(%x: f64, %c: f64) -> f64 attributes {kern.program} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 10 : index
  %half = arith.constant 0.5 : f64
  %y = scf.for %t = %c0 to %n step %c1 iter_args(%u = %x) -> (f64) {
    %v = arith.mulf %u, %half : f64
    %w = arith.addf %v, %c : f64
    scf.yield %w : f64
  }
  return %y : f64
}
