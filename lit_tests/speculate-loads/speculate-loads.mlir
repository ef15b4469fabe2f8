// RUN: %pykern-opt %s --pass-pipeline="builtin.module(kern-speculate-loads,canonicalize,cse)" | FileCheck %s
// RUN: %pykern-opt %s --pass-pipeline="builtin.module(kern-speculate-loads{loops=false},canonicalize,cse)" | FileCheck %s --check-prefix=ONCE

// Without loops, branches in loops of a work-item stay, and no loop is there twice.

// ONCE-LABEL: func.func @read_before
// ONCE: arith.select
// ONCE-LABEL: func.func @versions
// ONCE: scf.if
// ONCE: math.sqrt
// ONCE-NOT: math.sqrt
// ONCE: return

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

// Loads of a branch in a loop that differs between work-items: where all of them lie in the array they stand in front of
// the branch, and what does not change in the loop in front of the loop. Elsewhere the loop is as it was.

// CHECK-LABEL: func.func @versions
// CHECK: %[[WIDE:.*]] = arith.cmpi sge, %{{.*}}, %c2
// CHECK: %[[LONG:.*]] = arith.cmpi sle, %arg3, %{{.*}}
// CHECK: scf.if %{{.*}} {
// CHECK-NEXT: scf.for %[[I:.*]] = %arg2 to %arg3
// CHECK-NEXT: memref.load %arg1[%[[I]], %c1]
// CHECK-NEXT: scf.for %[[J:.*]] = %c0 to
// CHECK: memref.load %arg1[%[[J]], %c1]
// CHECK-NEXT: scf.if
// CHECK-NOT: memref.load
// CHECK: math.sqrt
// CHECK: } else {
// CHECK: scf.if
// CHECK-NEXT: memref.load
func.func @versions(%o: memref<?xf32>, %p: memref<?x?xf32>, %lo: index, %hi: index)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %n = memref.dim %p, %c0 : memref<?x?xf32>
  scf.for %i = %lo to %hi step %c1 {
    %s = scf.for %j = %c0 to %n step %c1 iter_args(%held = %zero) -> (f32) {
      %other = arith.cmpi ne, %j, %i : index
      %t = scf.if %other -> (f32) {
        %a = memref.load %p[%j, %c1] : memref<?x?xf32>
        %b = memref.load %p[%i, %c1] : memref<?x?xf32>
        %d = arith.subf %a, %b : f32
        %r = math.sqrt %d : f32
        %u = arith.addf %held, %r : f32
        scf.yield %u : f32
      } else {
        scf.yield %held : f32
      }
      scf.yield %t : f32
    }
    memref.store %s, %o[%i] : memref<?xf32>
  } {kern.items}
  return
}

// An index that was read itself is 0 where the branch is not taken, if the array has an element at all; what is computed
// with it is a choice.

// CHECK-LABEL: func.func @read_index
// CHECK: %[[SOME:.*]] = arith.cmpi sge, %{{.*}}, %c1
// CHECK: scf.if
// CHECK: scf.for
// CHECK: %[[TAKEN:.*]] = arith.cmpi sge
// CHECK: %[[AT:.*]] = arith.select %[[TAKEN]], %{{.*}}, %c0
// CHECK: memref.load %arg2[%[[AT]]]
// CHECK-NOT: scf.if
// CHECK: } else {
func.func @read_index(%o: memref<?xf32>, %c: memref<?x?xi32>, %x: memref<?xf32>, %lo: index, %hi: index)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %none = arith.constant 0 : i32
  %zero = arith.constant 0.0 : f32
  %n = memref.dim %c, %c1 : memref<?x?xi32>
  scf.for %i = %lo to %hi step %c1 {
    %s = scf.for %k = %c0 to %n step %c1 iter_args(%held = %zero) -> (f32) {
      %q = memref.load %c[%i, %k] : memref<?x?xi32>
      %taken = arith.cmpi sge, %q, %none : i32
      %t = scf.if %taken -> (f32) {
        %at = arith.index_cast %q : i32 to index
        %a = memref.load %x[%at] : memref<?xf32>
        %u = arith.addf %held, %a : f32
        scf.yield %u : f32
      } else {
        scf.yield %held : f32
      }
      scf.yield %t : f32
    }
    memref.store %s, %o[%i] : memref<?xf32>
  } {kern.items}
  return
}

// A place whose row and column other accesses have is in the array, also where none of them is of that place.

// CHECK-LABEL: func.func @row_and_column
// CHECK-NOT: scf.if
// CHECK: arith.select
// CHECK-NOT: scf.if
// CHECK: return
func.func @row_and_column(%o: memref<?xf32>, %x: memref<?x?xf32>, %lo: index, %hi: index)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %lo to %hi step %c1 {
    %left = memref.load %x[%i, %c0] : memref<?x?xf32>
    %above = memref.load %x[%c0, %i] : memref<?x?xf32>
    %less = arith.cmpf olt, %left, %above : f32
    %r = scf.if %less -> (f32) {
      %a = memref.load %x[%i, %i] : memref<?x?xf32>
      scf.yield %a : f32
    } else {
      scf.yield %left : f32
    }
    memref.store %r, %o[%i] : memref<?xf32>
  } {kern.items}
  return
}

// So does a branch without a loop around it, in a version for lengths that say so.

// CHECK-LABEL: func.func @without_a_loop
// CHECK: scf.if
// CHECK: arith.select
// CHECK: } else {
// CHECK: scf.if
func.func @without_a_loop(%o: memref<?xf32>, %x: memref<?xf32>, %y: memref<?xf32>, %lo: index, %hi: index)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %lo to %hi step %c1 {
    %a = memref.load %x[%i] : memref<?xf32>
    %less = arith.cmpf olt, %a, %zero : f32
    %r = scf.if %less -> (f32) {
      %b = memref.load %y[%i] : memref<?xf32>
      scf.yield %b : f32
    } else {
      scf.yield %a : f32
    }
    memref.store %r, %o[%i] : memref<?xf32>
  } {kern.items}
  return
}

// A sum of a row that grows by something or stays as it is grows by that or by nothing: then rows run several at a time.

// CHECK-LABEL: func.func @grows
// CHECK: scf.for
// CHECK: scf.for
// CHECK-NOT: scf.if
// CHECK: %[[OR_NOT:.*]] = arith.select %{{.*}}, %{{.*}}, %{{.*}} : f32
// CHECK-NEXT: arith.addf %{{.*}}, %[[OR_NOT]]
// CHECK: memref.store
// ONCE-LABEL: func.func @grows
// ONCE: scf.if
func.func @grows(%o: memref<?xf32>, %x: memref<?x?xf32>, %lo: index, %hi: index)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c1 : memref<?x?xf32>
  scf.for %i = %lo to %hi step %c1 {
    %s = scf.for %j = %c0 to %n step %c1 iter_args(%t = %zero) -> (f32) {
      %v = memref.load %x[%i, %j] : memref<?x?xf32>
      %is = arith.cmpf ogt, %v, %zero : f32
      %u = scf.if %is -> (f32) {
        %w = arith.addf %t, %one : f32
        scf.yield %w : f32
      } else {
        scf.yield %t : f32
      }
      scf.yield %u : f32
    }
    memref.store %s, %o[%i] : memref<?xf32>
  } {kern.items}
  return
}

// `and` and `or` make branches within branches: the inner ones become choices first.

// CHECK-LABEL: func.func @nested
// CHECK: scf.if %{{.*}} {
// CHECK-NOT: scf.if
// CHECK: } else {
func.func @nested(%o: memref<?xf32>, %x: memref<?x?xf32>, %lo: index, %hi: index)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  %no = arith.constant false
  %yes = arith.constant true
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c1 : memref<?x?xf32>
  scf.for %i = %lo to %hi step %c1 {
    %s = scf.for %j = %c1 to %n step %c1 iter_args(%t = %zero) -> (f32) {
      %before = arith.subi %j, %c1 : index
      %p = memref.load %x[%i, %before] : memref<?x?xf32>
      %a = arith.cmpf ogt, %p, %zero : f32
      %b = scf.if %a -> (i1) {
        scf.yield %yes : i1
      } else {
        %v = memref.load %x[%i, %j] : memref<?x?xf32>
        %c = arith.cmpf ogt, %v, %zero : f32
        %d = scf.if %c -> (i1) {
          %w = memref.load %x[%i, %c0] : memref<?x?xf32>
          %e = arith.cmpf ogt, %w, %zero : f32
          scf.yield %e : i1
        } else {
          scf.yield %no : i1
        }
        scf.yield %d : i1
      }
      %u = scf.if %b -> (f32) {
        %w = arith.addf %t, %p : f32
        scf.yield %w : f32
      } else {
        scf.yield %t : f32
      }
      scf.yield %u : f32
    }
    memref.store %s, %o[%i] : memref<?xf32>
  } {kern.items}
  return
}
