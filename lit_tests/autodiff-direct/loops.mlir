// RUN: %pykern-opt %s --split-input-file --pass-pipeline="builtin.module(kern-reverse-kernel{active=0,1},canonicalize,cse)" | FileCheck %s

// A linear loop stores nothing, and its forward run is gone.

// CHECK-LABEL: func.func @sum
// CHECK-NOT: kern.push
// CHECK: scf.for
// CHECK-NOT: scf.for
func.func @sum(%out: memref<?xf64>, %x: memref<?xf64>, %n: index)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %i = "kern.global_id"() {dim = 0} : () -> index
  %s = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (f64) {
    %v = memref.load %x[%k] : memref<?xf64>
    %a = arith.addf %acc, %v : f64
    scf.yield %a : f64
  }
  memref.store %s, %out[%i] : memref<?xf64>
  return
}

// -----

// A product needs the product so far: one number an iteration, pushed at its end, popped in reverse.

// CHECK-LABEL: func.func @product
// CHECK: scf.for {{.*}} iter_args(%[[P:.*]] = %
// CHECK: "kern.push"(%[[P]])
// CHECK-NOT: "kern.push"
// CHECK: scf.yield
// CHECK: scf.for
// CHECK: "kern.pop"() {kern.site = {{[0-9]+}} : i64} : () -> f64
// CHECK-NOT: "kern.pop"
// CHECK: return
func.func @product(%out: memref<?xf64>, %x: memref<?xf64>, %n: index)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f64
  %i = "kern.global_id"() {dim = 0} : () -> index
  %s = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %one) -> (f64) {
    %v = memref.load %x[%k] : memref<?xf64>
    %a = arith.mulf %acc, %v : f64
    scf.yield %a : f64
  }
  memref.store %s, %out[%i] : memref<?xf64>
  return
}

// -----

// A while counts how often it runs; its reverse is a loop of as many iterations and one more test.

// CHECK-LABEL: func.func @halved
// CHECK: %[[W:.*]]:2 = scf.while ({{.*}}) : (f64, index) -> (f64, index)
// CHECK: "kern.push"
// CHECK: %[[N:.*]] = arith.addi %[[W]]#1, %c1
// CHECK: scf.for {{.*}} to %[[N]]
// CHECK: scf.if
// CHECK: "kern.pop"
func.func @halved(%out: memref<?xf64>, %x: memref<?xf64>)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %one = arith.constant 1.0 : f64
  %i = "kern.global_id"() {dim = 0} : () -> index
  %v = memref.load %x[%i] : memref<?xf64>
  %r = scf.while (%a = %v) : (f64) -> f64 {
    %more = arith.cmpf ogt, %a, %one : f64
    scf.condition(%more) %a : f64
  } do {
  ^bb0(%b: f64):
    %h = math.sqrt %b : f64
    scf.yield %h : f64
  }
  memref.store %r, %out[%i] : memref<?xf64>
  return
}
