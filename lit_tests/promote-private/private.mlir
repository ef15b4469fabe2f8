// RUN: %pykern-opt %s --split-input-file --pass-pipeline="builtin.module(kern-promote-private,canonicalize,cse)" | FileCheck %s

// Two cells, filled by a loop that counts them, in order by a swap: three loads, minima by selects, no memory.

// CHECK-LABEL: func.func @smallest
// CHECK-NOT: memref.alloca
// CHECK: scf.for
// CHECK-COUNT-3: memref.load %{{.*}} : memref<?xf32>
// CHECK: %[[LESS:.*]] = arith.cmpf ogt
// CHECK: arith.select %[[LESS]]
// CHECK-NOT: scf.for
// CHECK: memref.store %{{.*}} : memref<?xf32>
// CHECK: } {kern.items}
func.func @smallest(%out: memref<?xf32>, %x: memref<?xf32>, %lo: index, %hi: index)
    attributes {kern.kernel, kern.plain, kern.rank = 1 : i64} {
  %w = memref.alloca() : memref<3xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  scf.for %i = %lo to %hi step %c1 {
    %n = scf.for %k = %c0 to %c3 step %c1 iter_args(%place = %c0) -> (index) {
      %at = arith.addi %i, %k : index
      %v = memref.load %x[%at] : memref<?xf32>
      memref.store %v, %w[%place] : memref<3xf32>
      %next = arith.addi %place, %c1 : index
      scf.yield %next : index
    }
    scf.for %b = %c0 to %c2 step %c1 {
      %d = arith.addi %b, %c1 : index
      %p = memref.load %w[%b] : memref<3xf32>
      %q = memref.load %w[%d] : memref<3xf32>
      %less = arith.cmpf ogt, %p, %q : f32
      scf.if %less {
        memref.store %q, %w[%b] : memref<3xf32>
        memref.store %p, %w[%d] : memref<3xf32>
      }
    }
    %last = memref.load %w[%c2] : memref<3xf32>
    memref.store %last, %out[%i] : memref<?xf32>
  } {kern.items}
  return
}

// -----

// Loops of unknown length carry the cells they change, and no others.

// CHECK-LABEL: func.func @carried
// CHECK-NOT: memref.alloca
// CHECK: %[[ONE:.*]] = scf.for %{{.*}} iter_args(%{{.*}} = %{{.*}}) -> (f32) {
// CHECK: %[[TWO:.*]]:2 = scf.while (%[[N:.*]] = %{{.*}}, %[[C:.*]] = %[[ONE]]) : (index, f32) -> (index, f32)
// CHECK: scf.condition(%{{.*}}) %[[N]], %[[C]] : index, f32
// CHECK: memref.store %[[TWO]]#1
func.func @carried(%out: memref<?xf32>, %x: memref<?xf32>, %m: index, %lo: index, %hi: index)
    attributes {kern.kernel, kern.plain, kern.rank = 1 : i64} {
  %w = memref.alloca() : memref<2xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %lo to %hi step %c1 {
    memref.store %zero, %w[%c0] : memref<2xf32>
    memref.store %zero, %w[%c1] : memref<2xf32>
    scf.for %k = %c0 to %m step %c1 {
      %v = memref.load %x[%k] : memref<?xf32>
      %old = memref.load %w[%c1] : memref<2xf32>
      %new = arith.addf %old, %v : f32
      memref.store %new, %w[%c1] : memref<2xf32>
    }
    %n = scf.while (%a = %i) : (index) -> index {
      %more = arith.cmpi sgt, %a, %m : index
      scf.condition(%more) %a : index
    } do {
    ^bb0(%a: index):
      %v = memref.load %x[%a] : memref<?xf32>
      %old = memref.load %w[%c1] : memref<2xf32>
      %new = arith.mulf %old, %v : f32
      memref.store %new, %w[%c1] : memref<2xf32>
      %b = arith.subi %a, %m : index
      scf.yield %b : index
    }
    %s = memref.load %w[%c1] : memref<2xf32>
    memref.store %s, %out[%n] : memref<?xf32>
  } {kern.items}
  return
}

// -----

// Which of few cells data means is found by comparisons: a store is a choice for each cell.

// CHECK-LABEL: func.func @compared
// CHECK-NOT: memref.alloca
// CHECK: %[[P:.*]] = memref.load %{{.*}} : memref<?xindex>
// CHECK: %[[V:.*]] = memref.load %{{.*}} : memref<?xf32>
// CHECK: %[[IS:.*]] = arith.cmpi eq, %[[P]], %c1 : index
// CHECK: %[[S:.*]] = arith.select %[[IS]], %[[V]], %cst : f32
// CHECK: memref.store %[[S]]
func.func @compared(%out: memref<?xf32>, %at: memref<?xindex>, %lo: index, %hi: index)
    attributes {kern.kernel, kern.plain, kern.rank = 1 : i64} {
  %a = memref.alloca() : memref<2xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  scf.for %i = %lo to %hi step %c1 {
    %place = memref.load %at[%i] : memref<?xindex>
    %v = memref.load %out[%i] : memref<?xf32>
    memref.store %one, %a[%c0] : memref<2xf32>
    memref.store %one, %a[%c1] : memref<2xf32>
    memref.store %v, %a[%place] : memref<2xf32>
    %x = memref.load %a[%c1] : memref<2xf32>
    memref.store %x, %out[%i] : memref<?xf32>
  } {kern.items}
  return
}

// -----

// Which of many cells data means is not compared: they stay in memory, and so does one beyond the end.

// CHECK-LABEL: func.func @unknown
// CHECK-DAG: %[[A:.*]] = memref.alloca() : memref<20xf32>
// CHECK-DAG: %[[B:.*]] = memref.alloca() : memref<3xf32>
// CHECK-DAG: memref.store %{{.*}}, %[[A]]
// CHECK-DAG: memref.load %[[B]]
// CHECK-NOT: memref.alloca() : memref<2xf32>
func.func @unknown(%out: memref<?xf32>, %at: memref<?xindex>, %lo: index, %hi: index)
    attributes {kern.kernel, kern.plain, kern.rank = 1 : i64} {
  %a = memref.alloca() : memref<20xf32>
  %b = memref.alloca() : memref<3xf32>
  %c = memref.alloca() : memref<2xf32>
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  scf.for %i = %lo to %hi step %c1 {
    %place = memref.load %at[%i] : memref<?xindex>
    %v = memref.load %out[%i] : memref<?xf32>
    memref.store %v, %a[%place] : memref<20xf32>
    memref.store %v, %b[%c1] : memref<3xf32>
    memref.store %v, %c[%c1] : memref<2xf32>
    %x = memref.load %a[%c1] : memref<20xf32>
    %y = memref.load %b[%c3] : memref<3xf32>
    %z = memref.load %c[%c1] : memref<2xf32>
    %xy = arith.addf %x, %y : f32
    %s = arith.addf %xy, %z : f32
    memref.store %s, %out[%i] : memref<?xf32>
  } {kern.items}
  return
}

// -----

// Sixty times sixty copies of the body would be too much.

// CHECK-LABEL: func.func @long
// CHECK: memref.alloca() : memref<60xf32>
// CHECK-COUNT-3: scf.for
func.func @long(%out: memref<?xf32>, %lo: index, %hi: index)
    attributes {kern.kernel, kern.plain, kern.rank = 1 : i64} {
  %a = memref.alloca() : memref<60xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c60 = arith.constant 60 : index
  scf.for %i = %lo to %hi step %c1 {
    scf.for %j = %c0 to %c60 step %c1 {
      scf.for %k = %c0 to %c60 step %c1 {
        %v = memref.load %out[%i] : memref<?xf32>
        memref.store %v, %a[%k] : memref<60xf32>
        %x = memref.load %a[%j] : memref<60xf32>
        memref.store %x, %out[%i] : memref<?xf32>
      }
    }
  } {kern.items}
  return
}

// -----

// Lanes would have the array in vectors; where no loop is left it is in registers.

// CHECK-LABEL: func.func @lanes
// CHECK-NOT: memref.alloca
// CHECK: scf.for
// CHECK-NOT: scf.for
// CHECK: } {kern.items}
func.func @lanes(%out: memref<?xf32>, %x: memref<?x?xf32>, %lo: index, %hi: index)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %w = memref.alloca() : memref<3xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %lo to %hi step %c1 {
    scf.for %k = %c0 to %c3 step %c1 {
      %v = memref.load %x[%k, %i] : memref<?x?xf32>
      memref.store %v, %w[%k] : memref<3xf32>
    }
    %s = scf.for %k = %c0 to %c3 step %c1 iter_args(%t = %zero) -> (f32) {
      %v = memref.load %w[%k] : memref<3xf32>
      %u = arith.addf %t, %v : f32
      scf.yield %u : f32
    }
    memref.store %s, %out[%i] : memref<?xf32>
  } {kern.items}
  return
}

// -----

// A `while` loop that begins with a known number and ends at one: all iterations there may be, of which those behind the
// end change nothing.

// CHECK-LABEL: func.func @inserted
// CHECK-NOT: scf.while
// CHECK-NOT: memref.alloca
// CHECK: %[[A:.*]] = memref.load %arg0[%{{.*}}, %c0]
// CHECK: %[[B:.*]] = memref.load %arg0[%{{.*}}, %c1]
// CHECK: %[[C:.*]] = arith.cmpf ogt, %[[A]], %[[B]]
// CHECK: arith.select %[[C]]
// CHECK-NOT: scf.while
func.func @inserted(%x: memref<?x2xf32>, %o: memref<?x2xf32>, %lo: index, %hi: index)
    attributes {kern.kernel, kern.plain, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %false = arith.constant false
  %w = memref.alloca() : memref<2xf32>
  scf.for %i = %lo to %hi step %c1 {
    %a = memref.load %x[%i, %c0] : memref<?x2xf32>
    memref.store %a, %w[%c0] : memref<2xf32>
    %b = memref.load %x[%i, %c1] : memref<?x2xf32>
    %place = scf.while (%p = %c1) : (index) -> index {
      %more = arith.cmpi sgt, %p, %c0 : index
      %runs = scf.if %more -> (i1) {
        %q = arith.subi %p, %c1 : index
        %v = memref.load %w[%q] : memref<2xf32>
        %greater = arith.cmpf ogt, %v, %b : f32
        scf.yield %greater : i1
      } else {
        scf.yield %false : i1
      }
      scf.condition(%runs) %p : index
    } do {
    ^bb0(%p: index):
      %q = arith.subi %p, %c1 : index
      %v = memref.load %w[%q] : memref<2xf32>
      memref.store %v, %w[%p] : memref<2xf32>
      scf.yield %q : index
    }
    memref.store %b, %w[%place] : memref<2xf32>
    %first = memref.load %w[%c0] : memref<2xf32>
    memref.store %first, %o[%i, %c0] : memref<?x2xf32>
    %second = memref.load %w[%c1] : memref<2xf32>
    memref.store %second, %o[%i, %c1] : memref<?x2xf32>
  } {kern.items}
  return
}
