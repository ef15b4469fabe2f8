// RUN: %pykern-opt %s --pass-pipeline="builtin.module(kern-forward-kernel{active=0,1},canonicalize,cse)" | FileCheck %s

// Tangents go along: carried around the loop behind the values, stored behind each store.

// CHECK-LABEL: func.func @product
// CHECK: %[[R:.*]]:2 = scf.for {{.*}} iter_args(%[[P:.*]] = %{{.*}}, %[[DP:.*]] = %{{.*}}) -> (f64, f64)
// CHECK: %[[V:.*]] = memref.load %arg2
// CHECK: %[[DV:.*]] = memref.load %arg3
// CHECK: %[[A:.*]] = arith.mulf %[[P]], %[[V]]
// CHECK: %[[L:.*]] = arith.mulf %[[DP]], %[[V]]
// CHECK: %[[K:.*]] = arith.mulf %[[DV]], %[[P]]
// CHECK: %[[T:.*]] = arith.addf %[[L]], %[[K]]
// CHECK: scf.yield %[[A]], %[[T]]
// CHECK: memref.store %[[R]]#0, %arg0
// CHECK: memref.store %[[R]]#1, %arg1
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
