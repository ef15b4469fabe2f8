// RUN: %pykern-opt %s --split-input-file --pass-pipeline="builtin.module(kern-vectorize-items,canonicalize,cse)" | FileCheck %s

// The exponential is the same for every work-item: a table of it is filled before the loop over work-items, where
// there is room for it and a whole vector of them.

// CHECK-LABEL: func.func @weighted
// CHECK: %[[ROOM:.*]] = arith.andi
// CHECK: %[[TABLE:.*]] = memref.alloc(%{{.*}}) : memref<?xf64>
// CHECK: scf.for %[[K:[a-z0-9]+]] =
// CHECK: %[[E:.*]] = math.exp
// CHECK: memref.store %[[E]], %[[TABLE]][%[[K]]]
// CHECK: scf.for {{.*}} step %c16
// CHECK: scf.for %[[J:[a-z0-9]+]] =
// CHECK: memref.load %[[TABLE]][%[[J]]]
// CHECK: vector.broadcast
// CHECK: scf.for {{.*}} step %c1
// CHECK: math.exp
// CHECK: memref.dealloc %[[TABLE]]
func.func @weighted(%out: memref<?xf64>, %x: memref<?xf64>, %w: memref<?xf64>, %lo: index, %hi: index)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %n = memref.dim %w, %c0 : memref<?xf64>
  scf.for %i = %lo to %hi step %c1 {
    %v = memref.load %x[%i] : memref<?xf64>
    %sum = scf.for %k = %c0 to %n step %c1 iter_args(%s = %zero) -> (f64) {
      %a = memref.load %w[%k] : memref<?xf64>
      %e = math.exp %a : f64
      %m = arith.mulf %e, %v : f64
      %t = arith.addf %s, %m : f64
      scf.yield %t : f64
    }
    memref.store %sum, %out[%i] : memref<?xf64>
  } {kern.items}
  return
}

// -----

// What it is computed from is written by the kernel, or it stands in a branch: it stays where it is.

// CHECK-LABEL: func.func @guarded
// CHECK-NOT: memref.alloc
// CHECK: scf.for {{.*}} step %c16
// CHECK: math.exp
// CHECK: return
func.func @guarded(%out: memref<?xf64>, %x: memref<?xf64>, %w: memref<?xf64>, %lo: index, %hi: index, %yes: i1)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %n = memref.dim %w, %c0 : memref<?xf64>
  scf.for %i = %lo to %hi step %c1 {
    %v = memref.load %x[%i] : memref<?xf64>
    %sum = scf.for %k = %c0 to %n step %c1 iter_args(%s = %zero) -> (f64) {
      %t = scf.if %yes -> (f64) {
        %a = memref.load %w[%k] : memref<?xf64>
        %e = math.exp %a : f64
        %m = arith.mulf %e, %v : f64
        %b = arith.addf %s, %m : f64
        scf.yield %b : f64
      } else {
        scf.yield %s : f64
      }
      scf.yield %t : f64
    }
    memref.store %sum, %out[%i] : memref<?xf64>
  } {kern.items}
  return
}
