// RUN: %pykern-opt %s --split-input-file --pass-pipeline="builtin.module(kern-carry-cells,canonicalize,cse)" | FileCheck %s

// A running sum along a row: what is stored is carried. The first one was stored in front of the loop.

// CHECK-LABEL: func.func @running
// CHECK: scf.for %[[I:.*]] = %arg2
// CHECK:   %[[FIRST:.*]] = memref.load %arg1[%[[I]], %c0]
// CHECK:   memref.store %[[FIRST]], %arg0[%[[I]], %c0]
// CHECK:   scf.for %[[J:.*]] = %c1 to %arg4 step %c1 iter_args(%[[BEFORE:.*]] = %[[FIRST]]) -> (f32)
// CHECK-NOT: memref.load %arg0
// CHECK:     %[[SUM:.*]] = arith.addf %[[BEFORE]]
// CHECK:     memref.store %[[SUM]], %arg0[%[[I]], %[[J]]]
// CHECK:     scf.yield %[[SUM]]
func.func @running(%o: memref<?x?xf32>, %x: memref<?x?xf32>, %lo: index, %hi: index, %n: index)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %lo to %hi step %c1 {
    %first = memref.load %x[%i, %c0] : memref<?x?xf32>
    memref.store %first, %o[%i, %c0] : memref<?x?xf32>
    scf.for %j = %c1 to %n step %c1 {
      %k = arith.subi %j, %c1 : index
      %a = memref.load %o[%i, %k] : memref<?x?xf32>
      %b = memref.load %x[%i, %j] : memref<?x?xf32>
      %s = arith.addf %a, %b : f32
      memref.store %s, %o[%i, %j] : memref<?x?xf32>
    }
  } {kern.items}
  return
}

// -----

// Down a column, written one place on: the first one is read, where the loop runs at all.

// CHECK-LABEL: func.func @down
// CHECK: %[[RUNS:.*]] = arith.cmpi slt, %arg3, %arg4
// CHECK: scf.if %[[RUNS]] -> (f32)
// CHECK:   memref.load %arg0[%arg3, %{{.*}}]
// CHECK: scf.for %{{.*}} = %arg3 to %arg4 step %c1 iter_args
// CHECK-NOT: memref.load %arg0
// CHECK: memref.store
func.func @down(%o: memref<?x?xf32>, %lo: index, %hi: index, %a: index, %b: index)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c1 = arith.constant 1 : index
  scf.for %j = %lo to %hi step %c1 {
    scf.for %i = %a to %b step %c1 {
      %v = memref.load %o[%i, %j] : memref<?x?xf32>
      %w = arith.addf %v, %v : f32
      %next = arith.addi %i, %c1 : index
      memref.store %w, %o[%next, %j] : memref<?x?xf32>
    }
  } {kern.items}
  return
}

// -----

// Not two iterations back, not what only some iterations store, and not beside another store.

// CHECK-LABEL: func.func @not
// CHECK-NOT: iter_args
func.func @not(%o: memref<?x?xf32>, %p: memref<?xf32>, %q: memref<?xf32>, %lo: index, %hi: index, %n: index, %odd: i1)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  scf.for %i = %lo to %hi step %c1 {
    scf.for %j = %c2 to %n step %c1 {
      %k = arith.subi %j, %c2 : index
      %a = memref.load %o[%i, %k] : memref<?x?xf32>
      memref.store %a, %o[%i, %j] : memref<?x?xf32>
    }
    scf.for %j = %c1 to %n step %c1 {
      %k = arith.subi %j, %c1 : index
      %a = memref.load %p[%k] : memref<?xf32>
      scf.if %odd {
        memref.store %a, %p[%j] : memref<?xf32>
      }
      %b = memref.load %q[%k] : memref<?xf32>
      memref.store %b, %q[%j] : memref<?xf32>
      memref.store %b, %q[%i] : memref<?xf32>
    }
  } {kern.items}
  return
}
