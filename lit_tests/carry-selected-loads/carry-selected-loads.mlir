// RUN: %pykern-opt %s --split-input-file --pass-pipeline="builtin.module(kern-carry-selected-loads,canonicalize,cse)" | FileCheck %s

// The place of the largest: what stands there is carried, chosen by the same condition.

// CHECK-LABEL: func.func @largest
// CHECK: scf.for
// CHECK:   %[[FIRST:.*]] = scf.if %{{.*}} -> (f32)
// CHECK:   scf.for %[[J:.*]] = %c1 to %arg4 step %c1 iter_args(%[[BEST:.*]] = %c0, %[[MOST:.*]] = %[[FIRST]])
// CHECK:     %[[V:.*]] = memref.load %arg0[%{{.*}}, %[[J]]]
// CHECK-NOT: memref.load
// CHECK:     %[[MORE:.*]] = arith.cmpf ogt, %[[V]], %[[MOST]]
// CHECK:     %[[PLACE:.*]] = arith.select %[[MORE]], %[[J]], %[[BEST]]
// CHECK:     %[[VALUE:.*]] = arith.select %[[MORE]], %[[V]], %[[MOST]]
// CHECK:     scf.yield %[[PLACE]], %[[VALUE]]
func.func @largest(%x: memref<?x?xf32>, %o: memref<?xindex>, %lo: index, %hi: index, %n: index)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %lo to %hi step %c1 {
    %place = scf.for %j = %c1 to %n step %c1 iter_args(%best = %c0) -> (index) {
      %v = memref.load %x[%i, %j] : memref<?x?xf32>
      %m = memref.load %x[%i, %best] : memref<?x?xf32>
      %more = arith.cmpf ogt, %v, %m : f32
      %next = arith.select %more, %j, %best : index
      scf.yield %next : index
    }
    memref.store %place, %o[%i] : memref<?xindex>
  } {kern.items}
  return
}

// -----

// Not in an array that the loop writes, and not where the other place is not read.

// CHECK-LABEL: func.func @not
// CHECK-NOT: scf.if
func.func @not(%x: memref<?xf32>, %y: memref<?xf32>, %lo: index, %hi: index, %n: index)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %lo to %hi step %c1 {
    %place = scf.for %j = %c1 to %n step %c1 iter_args(%best = %c0) -> (index) {
      %v = memref.load %x[%j] : memref<?xf32>
      %m = memref.load %x[%best] : memref<?xf32>
      %w = memref.load %y[%best] : memref<?xf32>
      %more = arith.cmpf ogt, %v, %m : f32
      %next = arith.select %more, %j, %best : index
      memref.store %w, %x[%j] : memref<?xf32>
      scf.yield %next : index
    }
    memref.store %zero, %x[%place] : memref<?xf32>
  } {kern.items}
  return
}

// -----

// What stands at the last place is read behind the loop: where an iteration has found one, as the branch knows.

// CHECK-LABEL: func.func @behind
// CHECK: scf.for
// CHECK:   %[[FOUND:.*]]:2 = scf.for %[[J:.*]] = %c0 to %arg4 step %c1 iter_args(%[[AT:.*]] = %c-1, %[[HELD:.*]] = %cst
// CHECK:     %[[V:.*]] = memref.load %arg0[%{{.*}}, %[[J]]]
// CHECK:     arith.select %{{.*}}, %[[V]], %[[HELD]]
// CHECK:   scf.if
// CHECK-NOT: memref.load
// CHECK:     memref.store %[[FOUND]]#1
func.func @behind(%x: memref<?x?xf32>, %o: memref<?xf32>, %lo: index, %hi: index, %n: index)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %none = arith.constant -1 : index
  %limit = arith.constant 0.5 : f32
  scf.for %i = %lo to %hi step %c1 {
    %place = scf.for %j = %c0 to %n step %c1 iter_args(%at = %none) -> (index) {
      %v = memref.load %x[%i, %j] : memref<?x?xf32>
      %more = arith.cmpf ogt, %v, %limit : f32
      %next = arith.select %more, %j, %at : index
      scf.yield %next : index
    }
    %any = arith.cmpi sge, %place, %c0 : index
    scf.if %any {
      %v = memref.load %x[%i, %place] : memref<?x?xf32>
      memref.store %v, %o[%i] : memref<?xf32>
    }
  } {kern.items}
  return
}

// -----

// Not where the branch is also taken without one.

// CHECK-LABEL: func.func @untold
// CHECK: scf.if
// CHECK: memref.load
func.func @untold(%x: memref<?x?xf32>, %o: memref<?xf32>, %lo: index, %hi: index, %n: index)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %limit = arith.constant 0.5 : f32
  scf.for %i = %lo to %hi step %c1 {
    %place = scf.for %j = %c0 to %n step %c1 iter_args(%at = %c0) -> (index) {
      %v = memref.load %x[%i, %j] : memref<?x?xf32>
      %more = arith.cmpf ogt, %v, %limit : f32
      %next = arith.select %more, %j, %at : index
      scf.yield %next : index
    }
    %any = arith.cmpi sge, %place, %c0 : index
    scf.if %any {
      %v = memref.load %x[%i, %place] : memref<?x?xf32>
      memref.store %v, %o[%i] : memref<?xf32>
    }
  } {kern.items}
  return
}
