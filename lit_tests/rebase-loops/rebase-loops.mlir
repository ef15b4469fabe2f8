// RUN: %pykern-opt %s --split-input-file --pass-pipeline="builtin.module(kern-rebase-loops,canonicalize,cse)" | FileCheck %s

// A window around the work-item, and a row of a flat array.

// CHECK-LABEL: func.func @windows
// CHECK: scf.for %[[I:.*]] = %arg3 to %arg4
// CHECK: %[[FIRST:.*]] = arith.subi %[[I]], %c1
// CHECK: scf.for %[[A:.*]] = %c0 to %c3 step %c1
// CHECK: %[[Y:.*]] = arith.addi %[[FIRST]], %[[A]]
// CHECK: memref.load %arg1[%[[Y]]]
// CHECK: %[[ROW:.*]] = arith.muli %[[I]], %arg2
// CHECK: scf.for %[[K:.*]] = %c0 to %arg2 step %c1
// CHECK: %[[AT:.*]] = arith.addi %[[ROW]], %[[K]]
// CHECK: memref.load %arg1[%[[AT]]]
func.func @windows(%o: memref<?xf32>, %x: memref<?xf32>, %n: index, %lo: index, %hi: index)
    attributes {kern.kernel, kern.plain, kern.rank = 1 : i64} {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %lo to %hi step %c1 {
    %first = arith.subi %i, %c1 : index
    %end = arith.addi %i, %c2 : index
    %s = scf.for %y = %first to %end step %c1 iter_args(%t = %zero) -> (f32) {
      %v = memref.load %x[%y] : memref<?xf32>
      %w = arith.addf %t, %v : f32
      scf.yield %w : f32
    }
    %row = arith.muli %i, %n : index
    %behind = arith.addi %row, %n : index
    %r = scf.for %y = %row to %behind step %c1 iter_args(%t = %s) -> (f32) {
      %v = memref.load %x[%y] : memref<?xf32>
      %w = arith.addf %t, %v : f32
      scf.yield %w : f32
    }
    memref.store %r, %o[%i] : memref<?xf32>
  } {kern.items}
  return
}

// -----

// Lengths that differ stay: up to the work-item, and as far as memory says.

// CHECK-LABEL: func.func @unequal
// CHECK: scf.for %[[I:.*]] = %arg2 to %arg3
// CHECK: scf.for %{{.*}} = %c1 to %[[I]]
// CHECK: scf.for %{{.*}} = %[[I]] to %{{.*}} step %c1
func.func @unequal(%o: memref<?xf32>, %x: memref<?xindex>, %lo: index, %hi: index)
    attributes {kern.kernel, kern.plain, kern.rank = 1 : i64} {
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  scf.for %i = %lo to %hi step %c1 {
    %end = memref.load %x[%i] : memref<?xindex>
    %s = scf.for %y = %c1 to %i step %c1 iter_args(%t = %one) -> (f32) {
      %w = arith.addf %t, %one : f32
      scf.yield %w : f32
    }
    %r = scf.for %y = %i to %end step %c1 iter_args(%t = %s) -> (f32) {
      %w = arith.addf %t, %one : f32
      scf.yield %w : f32
    }
    memref.store %r, %o[%i] : memref<?xf32>
  } {kern.items}
  return
}

// -----

// From row to row: `range(i * n, (i + 1) * n)` has n iterations.

// CHECK-LABEL: func.func @from_row_to_row
// CHECK: scf.for %{{.*}} = %c0 to %arg2 step %c1 iter_args
func.func @from_row_to_row(%o: memref<?xf32>, %x: memref<?xf32>, %n: index, %lo: index, %hi: index)
    attributes {kern.kernel, kern.plain, kern.rank = 1 : i64} {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %lo to %hi step %c1 {
    %row = arith.muli %i, %n : index
    %next = arith.addi %i, %c1 : index
    %end = arith.muli %n, %next : index
    %s = scf.for %y = %row to %end step %c1 iter_args(%t = %zero) -> (f32) {
      %v = memref.load %x[%y] : memref<?xf32>
      %w = arith.addf %t, %v : f32
      scf.yield %w : f32
    }
    memref.store %s, %o[%i] : memref<?xf32>
  } {kern.items}
  return
}
