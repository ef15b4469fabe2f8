// RUN: %pykern-opt %s --pass-pipeline="builtin.module(kern-speculate-loads,canonicalize,cse)" | FileCheck %s

// The branch reads what its condition has read: the value is there, and the branch becomes a choice.

// CHECK-LABEL: func.func @read_before
// CHECK: %[[V:.*]] = memref.load
// CHECK-NEXT: %[[BETTER:.*]] = arith.cmpf ogt, %[[V]]
// CHECK-NEXT: %[[TWICE:.*]] = arith.addf %[[V]], %[[V]]
// CHECK-NEXT: arith.select %[[BETTER]], %[[TWICE]]
func.func @read_before(%x: memref<?xf32>, %j: index, %most: f32) -> f32
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %v = memref.load %x[%j] : memref<?xf32>
  %better = arith.cmpf ogt, %v, %most : f32
  %now = scf.if %better -> (f32) {
    %again = memref.load %x[%j] : memref<?xf32>
    %twice = arith.addf %again, %again : f32
    scf.yield %twice : f32
  } else {
    scf.yield %most : f32
  }
  return %now : f32
}

// A place that nobody has been to may lie outside of the array; a store is an effect.

// CHECK-LABEL: func.func @stay
// CHECK: scf.if
// CHECK-NEXT: memref.load
// CHECK: scf.if
// CHECK-NEXT: memref.load
// CHECK-NEXT: memref.store
func.func @stay(%x: memref<?xf32>, %y: memref<?xf32>, %j: index, %k: index, %most: f32) -> (f32, f32)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %v = memref.load %x[%j] : memref<?xf32>
  %better = arith.cmpf ogt, %v, %most : f32
  %one = scf.if %better -> (f32) {
    %other = memref.load %x[%k] : memref<?xf32>
    scf.yield %other : f32
  } else {
    scf.yield %most : f32
  }
  %worse = arith.cmpf olt, %v, %most : f32
  %two = scf.if %worse -> (f32) {
    %again = memref.load %x[%j] : memref<?xf32>
    memref.store %again, %y[%j] : memref<?xf32>
    scf.yield %again : f32
  } else {
    scf.yield %most : f32
  }
  return %one, %two : f32, f32
}
