// RUN: %pykern-opt %s --pass-pipeline="builtin.module(kern-choose-loads,canonicalize,cse)" | FileCheck %s

// The neighbour in front or this element, by the sign of the wind: both are read where all of them lie in the row, which is
// compared once for the loop; else the loop runs as it was.

// CHECK-LABEL: func.func @upwind
// CHECK: arith.cmpi sge
// CHECK: arith.cmpi sle
// CHECK: scf.if
// CHECK: scf.for %[[J:.*]] = %arg3 to %arg4
// CHECK: %[[IS:.*]] = arith.cmpf ogt
// CHECK: %[[A:.*]] = memref.load %arg1[%arg5, %[[BEFORE:.*]]] : memref<?x?xf32>
// CHECK: %[[B:.*]] = memref.load %arg1[%arg5, %[[J]]] : memref<?x?xf32>
// CHECK: %[[D:.*]] = arith.select %[[IS]], %[[A]], %[[B]] : f32
// CHECK: memref.store %[[D]]
// CHECK: } else {
// CHECK: %[[K:.*]] = arith.select {{.*}} : index
// CHECK: memref.load {{.*}} : memref<?x?xf32>
func.func @upwind(%o: memref<?x?xf32>, %x: memref<?x?xf32>, %u: memref<?x?xf32>, %lo: index, %hi: index, %i: index)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 2 : i64} {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  scf.for %j = %lo to %hi step %c1 {
    %v = memref.load %u[%i, %j] : memref<?x?xf32>
    %is = arith.cmpf ogt, %v, %zero : f32
    %next = arith.addi %j, %c1 : index
    %k = arith.select %is, %j, %next : index
    %before = arith.subi %k, %c1 : index
    %d = memref.load %x[%i, %before] : memref<?x?xf32>
    memref.store %d, %o[%i, %j] : memref<?x?xf32>
  } {kern.items}
  return
}

// An array that the loop writes, and a place that is looked up, are read as they were.

// CHECK-LABEL: func.func @stay
// CHECK-NOT: scf.if
// CHECK: return
func.func @stay(%o: memref<?xf32>, %x: memref<?xf32>, %c: memref<?xindex>, %lo: index, %hi: index)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  scf.for %j = %lo to %hi step %c1 {
    %v = memref.load %x[%j] : memref<?xf32>
    %is = arith.cmpf ogt, %v, %zero : f32
    %next = arith.addi %j, %c1 : index
    %k = arith.select %is, %j, %next : index
    %d = memref.load %o[%k] : memref<?xf32>
    %at = memref.load %c[%j] : memref<?xindex>
    %q = arith.select %is, %j, %at : index
    %e = memref.load %x[%q] : memref<?xf32>
    %f = arith.addf %d, %e : f32
    memref.store %f, %o[%j] : memref<?xf32>
  } {kern.items}
  return
}
