// RUN: %pykern-opt %s --split-input-file --pass-pipeline="builtin.module(kern-vectorize-items)" | FileCheck %s

// Each work-item adds up along a row of its own. Sums that may be reordered are vectors themselves, along the row: lanes
// of work-items would read every element of 16 rows by itself.

// CHECK-LABEL: func.func @reordered
// CHECK: scf.for
// CHECK-NEXT: scf.for {{.*}} -> (f64)
// CHECK-NOT: vector<
// CHECK: return
func.func @reordered(%out: memref<?x?xf64>, %x: memref<?x?xf64>, %i: index, %n: index)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %d = memref.dim %x, %c1 : memref<?x?xf64>
  scf.for %j = %c0 to %n step %c1 {
    %sum = scf.for %k = %c0 to %d step %c1 iter_args(%s = %zero) -> (f64) {
      %a = memref.load %x[%i, %k] : memref<?x?xf64>
      %b = memref.load %x[%j, %k] : memref<?x?xf64>
      %c = arith.mulf %a, %b fastmath<fast> : f64
      %t = arith.addf %s, %c fastmath<fast> : f64
      scf.yield %t : f64
    }
    memref.store %sum, %out[%i, %j] : memref<?x?xf64>
  } {kern.items}
  return
}

// -----

// Down a column, neighbours lie side by side, and lanes of work-items gain.

// CHECK-LABEL: func.func @down
// CHECK: scf.for {{.*}} -> (vector<16xf64>)
// CHECK: vector.store
func.func @down(%out: memref<?x?xf64>, %x: memref<?x?xf64>, %i: index, %n: index)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %d = memref.dim %x, %c0 : memref<?x?xf64>
  scf.for %j = %c0 to %n step %c1 {
    %sum = scf.for %k = %c0 to %d step %c1 iter_args(%s = %zero) -> (f64) {
      %a = memref.load %x[%k, %i] : memref<?x?xf64>
      %b = memref.load %x[%k, %j] : memref<?x?xf64>
      %c = arith.mulf %a, %b fastmath<fast> : f64
      %t = arith.addf %s, %c fastmath<fast> : f64
      scf.yield %t : f64
    }
    memref.store %sum, %out[%i, %j] : memref<?x?xf64>
  } {kern.items}
  return
}
