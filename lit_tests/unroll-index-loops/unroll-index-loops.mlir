// RUN: %pykern-opt %s --split-input-file --pass-pipeline="builtin.module(kern-unroll-index-loops,canonicalize,cse)" | FileCheck %s

// A window that is walked in one loop: quotient and remainder are numbers.

// CHECK-LABEL: func.func @window
// CHECK: scf.for
// CHECK-NOT: scf.for
// CHECK-NOT: arith.remsi
// CHECK: kern.items
func.func @window(%o: memref<?xf32>, %x: memref<?x?xf32>, %lo: index, %hi: index)
    attributes {kern.kernel, kern.plain, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c9 = arith.constant 9 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %lo to %hi step %c1 {
    %s = scf.for %q = %c0 to %c9 step %c1 iter_args(%t = %zero) -> (f32) {
      %a = arith.floordivsi %q, %c3 : index
      %b = arith.remsi %q, %c3 : index
      %y = arith.addi %i, %a : index
      %v = memref.load %x[%y, %b] : memref<?x?xf32>
      %w = arith.addf %t, %v : f32
      scf.yield %w : f32
    }
    memref.store %s, %o[%i] : memref<?xf32>
  } {kern.items}
  return
}

// -----

// Every second element and its neighbours; a loop whose numbers are only added stays.

// CHECK-LABEL: func.func @strided
// CHECK: scf.for
// CHECK-COUNT-2: memref.load
// CHECK: scf.for
// CHECK: memref.load
// CHECK: kern.items
func.func @strided(%o: memref<?xf32>, %x: memref<?xf32>, %lo: index, %hi: index)
    attributes {kern.kernel, kern.plain, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %lo to %hi step %c1 {
    %s = scf.for %q = %c0 to %c2 step %c1 iter_args(%t = %zero) -> (f32) {
      %double = arith.muli %i, %c2 : index
      %y = arith.addi %double, %q : index
      %v = memref.load %x[%y] : memref<?xf32>
      %w = arith.addf %t, %v : f32
      scf.yield %w : f32
    }
    %r = scf.for %q = %c0 to %c2 step %c1 iter_args(%t = %s) -> (f32) {
      %y = arith.addi %i, %q : index
      %v = memref.load %x[%y] : memref<?xf32>
      %w = arith.addf %t, %v : f32
      scf.yield %w : f32
    }
    memref.store %r, %o[%i] : memref<?xf32>
  } {kern.items}
  return
}

// -----

// Too long a loop, and one whose length is not known.

// CHECK-LABEL: func.func @kept
// CHECK: scf.for
// CHECK: scf.for
// CHECK: arith.remsi
// CHECK: scf.for
// CHECK: arith.remsi
func.func @kept(%o: memref<?xf32>, %x: memref<?xf32>, %n: index, %lo: index, %hi: index)
    attributes {kern.kernel, kern.plain, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c17 = arith.constant 17 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %lo to %hi step %c1 {
    %s = scf.for %q = %c0 to %c17 step %c1 iter_args(%t = %zero) -> (f32) {
      %b = arith.remsi %q, %c3 : index
      %v = memref.load %x[%b] : memref<?xf32>
      %w = arith.addf %t, %v : f32
      scf.yield %w : f32
    }
    %r = scf.for %q = %c0 to %n step %c1 iter_args(%t = %s) -> (f32) {
      %b = arith.remsi %q, %c3 : index
      %v = memref.load %x[%b] : memref<?xf32>
      %w = arith.addf %t, %v : f32
      scf.yield %w : f32
    }
    memref.store %r, %o[%i] : memref<?xf32>
  } {kern.items}
  return
}

// -----

// Offsets from a table that are tested: each has edges of its own.

// CHECK-LABEL: func.func @offsets
// CHECK: scf.for
// CHECK-NOT: scf.for
// CHECK: memref.load %arg2[%c0]
// CHECK: memref.load %arg2[%c1]
// CHECK: memref.load %arg2[%c2]
// CHECK: kern.items
func.func @offsets(%o: memref<?xi64>, %x: memref<?xf32>, %e: memref<?xi64>, %lo: index, %hi: index)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0 : i64
  scf.for %j = %lo to %hi step %c1 {
    %s = scf.for %q = %c0 to %c3 step %c1 iter_args(%n = %zero) -> (i64) {
      %d = memref.load %e[%q] : memref<?xi64>
      %i = arith.index_cast %j : index to i64
      %at = arith.addi %i, %d : i64
      %inside = arith.cmpi sge, %at, %zero : i64
      %one = arith.extui %inside : i1 to i64
      %m = arith.addi %n, %one : i64
      scf.yield %m : i64
    }
    memref.store %s, %o[%j] : memref<?xi64>
  } {kern.items}
  return
}

// -----

// Exponents: each power has one that is known, also in a nest of a program. A loop whose number is only a factor stays.

// CHECK-LABEL: func.func private @powers
// CHECK: scf.for
// CHECK-NOT: scf.for
// CHECK-COUNT-3: math.powf %{{.*}}, %cst
// CHECK: scf.for
// CHECK: arith.mulf
// CHECK: kern.items
func.func private @powers(%o: memref<?xf32>, %x: memref<?xf32>, %lo: index, %hi: index) attributes {kern.nest} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %lo to %hi step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %s = scf.for %k = %c5 to %c8 step %c1 iter_args(%t = %zero) -> (f32) {
      %n = arith.index_cast %k : index to i64
      %e = arith.sitofp %n : i64 to f32
      %p = math.powf %v, %e : f32
      %w = arith.addf %t, %p : f32
      scf.yield %w : f32
    }
    %r = scf.for %k = %c5 to %c8 step %c1 iter_args(%t = %s) -> (f32) {
      %n = arith.index_cast %k : index to i64
      %e = arith.sitofp %n : i64 to f32
      %p = arith.mulf %v, %e : f32
      %w = arith.addf %t, %p : f32
      scf.yield %w : f32
    }
    memref.store %r, %o[%i] : memref<?xf32>
  } {kern.items}
  return
}
