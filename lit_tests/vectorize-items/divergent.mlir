// RUN: %pykern-opt %s --split-input-file --kern-vectorize-items | FileCheck %s

// A loop that ends where the work-item is: as far as the first lane goes all lanes run it, then some, under a mask.

// CHECK-LABEL: func.func @unequal
// CHECK: scf.for %[[I:.*]] = %arg2 to %{{.*}} step %c32
// CHECK:   %[[FIRST:.*]] = scf.for %{{.*}} = %c0 to %{{.*}} step %c1 iter_args({{.*}}) -> (vector<32xf32>)
// CHECK:     memref.load %arg1
// CHECK-NOT: arith.select
// CHECK:   scf.for %{{.*}} = %{{.*}} iter_args(%[[HELD:.*]] = %[[FIRST]]) -> (vector<32xf32>)
// CHECK:     %[[MASK:.*]] = arith.cmpi slt
// CHECK:     %[[NEW:.*]] = arith.addf %[[HELD]]
// CHECK:     arith.select %[[MASK]], %[[NEW]], %[[HELD]]
// CHECK:   vector.store
func.func @unequal(%o: memref<?xf32>, %x: memref<?xf32>, %lo: index, %hi: index)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %lo to %hi step %c1 {
    %s = scf.for %j = %c0 to %i step %c1 iter_args(%t = %zero) -> (f32) {
      %v = memref.load %x[%j] : memref<?xf32>
      %w = arith.addf %t, %v : f32
      scf.yield %w : f32
    }
    memref.store %s, %o[%i] : memref<?xf32>
  } {kern.items}
  return
}

// -----

// A loop with a condition runs while it holds in any lane; the others keep what they have.

// CHECK-LABEL: func.func @while
// CHECK: scf.while (%[[V:.*]] = %{{.*}}) : (vector<32xf32>)
// CHECK:   %[[MASK:.*]] = arith.cmpf ogt, %[[V]]
// CHECK:   %[[ANY:.*]] = vector.reduction <or>, %[[MASK]]
// CHECK:   scf.condition(%[[ANY]])
// CHECK: arith.select %{{.*}} : vector<32xi1>, vector<32xf32>
func.func @while(%o: memref<?xf32>, %x: memref<?xf32>, %lo: index, %hi: index)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c1 = arith.constant 1 : index
  %half = arith.constant 0.5 : f32
  scf.for %i = %lo to %hi step %c1 {
    %first = memref.load %x[%i] : memref<?xf32>
    %last = scf.while (%v = %first) : (f32) -> f32 {
      %more = arith.cmpf ogt, %v, %half : f32
      scf.condition(%more) %v : f32
    } do {
    ^bb0(%v: f32):
      %w = arith.mulf %v, %half : f32
      scf.yield %w : f32
    }
    memref.store %last, %o[%i] : memref<?xf32>
  } {kern.items}
  return
}

// -----

// Not where lanes that have ended would read anywhere, nor where work-items begin and end at different numbers.

// CHECK-LABEL: func.func @not
// CHECK-NOT: vector
func.func @not(%o: memref<?xf32>, %x: memref<?xf32>, %lo: index, %hi: index)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %lo to %hi step %c1 {
    %s = scf.for %j = %c0 to %i step %c1 iter_args(%t = %zero) -> (f32) {
      %at = arith.muli %i, %c2 : index
      %v = memref.load %x[%at] : memref<?xf32>
      %w = arith.addf %t, %v : f32
      scf.yield %w : f32
    }
    memref.store %s, %o[%i] : memref<?xf32>
  } {kern.items}
  scf.for %i = %lo to %hi step %c1 {
    %end = arith.addi %i, %c2 : index
    %s = scf.for %j = %i to %end step %c1 iter_args(%t = %zero) -> (f32) {
      %v = memref.load %x[%j] : memref<?xf32>
      %w = arith.addf %t, %v : f32
      scf.yield %w : f32
    }
    memref.store %s, %o[%i] : memref<?xf32>
  } {kern.items}
  return
}
