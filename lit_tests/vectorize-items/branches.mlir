// RUN: %pykern-opt %s --kern-vectorize-items | FileCheck %s

// A branch that lanes take differently writes neighbours under a mask, and other places lane by lane. What it reads is
// read by the lanes that take it.

// CHECK-LABEL: func.func @stored
// CHECK: scf.for %[[I:.*]] = %{{.*}} step %c32
// CHECK:   %[[SUM:.*]] = scf.for {{.*}} -> (vector<32xf32>)
// CHECK:   %[[MASK:.*]] = arith.cmpf ogt, %[[SUM]], %{{.*}} : vector<32xf32>
// CHECK:   vector.maskedstore %arg0[%[[I]]], %[[MASK]], %[[SUM]]
// CHECK:   %[[OTHERS:.*]] = arith.xori %[[MASK]]
// CHECK:   vector.maskedload %arg1[%[[I]]], %[[OTHERS]]
// CHECK:   %[[FIRST:.*]] = vector.extract %[[OTHERS]][0]
// CHECK:   scf.if %[[FIRST]]
// CHECK-NEXT: memref.store {{.*}}, %arg2
func.func @stored(%o: memref<?xf32>, %x: memref<?xf32>, %p: memref<?xf32>, %lo: index, %hi: index, %n: index)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %lo to %hi step %c1 {
    %s = scf.for %k = %c0 to %n step %c1 iter_args(%t = %zero) -> (f32) {
      %v = memref.load %x[%i] : memref<?xf32>
      %w = arith.addf %t, %v : f32
      scf.yield %w : f32
    }
    %above = arith.cmpf ogt, %s, %zero : f32
    scf.if %above {
      memref.store %s, %o[%i] : memref<?xf32>
    } else {
      %v = memref.load %x[%i] : memref<?xf32>
      %j = arith.muli %i, %c2 : index
      memref.store %v, %p[%j] : memref<?xf32>
    }
  } {kern.items}
  return
}
