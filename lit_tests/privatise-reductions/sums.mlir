// RUN: %pykern-opt %s --split-input-file --pass-pipeline="builtin.module(kern-privatise-reductions,canonicalize,cse)" | FileCheck %s

// Twice: where there are many work-items to a cell, into an array of the thread, whose cells are added at the end.

// CHECK-LABEL: func.func @bins
// CHECK: %[[CELLS:.*]] = memref.dim %arg0
// CHECK: arith.cmpi sle, %[[CELLS]], %c65536
// CHECK: scf.if
// CHECK: %[[OWN:.*]] = memref.alloc(%[[CELLS]])
// CHECK: memref.store %c0_i32, %[[OWN]]
// CHECK: "kern.atomic_rmw"(%{{.*}}, %[[OWN]], %{{.*}}) {kind = "add"}
// CHECK: %[[SUM:.*]] = memref.load %[[OWN]]
// CHECK: %[[SOME:.*]] = arith.cmpi ne, %[[SUM]], %c0_i32
// CHECK: scf.if %[[SOME]]
// CHECK: "kern.atomic_rmw"(%[[SUM]], %arg0, %{{.*}}) {kind = "add"}
// CHECK: memref.dealloc %[[OWN]]
// CHECK: } else {
// CHECK: "kern.atomic_rmw"(%{{.*}}, %arg0, %{{.*}}) {kind = "add"}
func.func @bins(%bins: memref<?xi32>, %x: memref<?xindex>, %lo: index, %hi: index)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i32
  scf.for %i = %lo to %hi step %c1 {
    %k = memref.load %x[%i] : memref<?xindex>
    %old = "kern.atomic_rmw"(%one, %bins, %k) {kind = "add"} : (i32, memref<?xi32>, index) -> i32
  }
  return
}

// -----

// Not where the old value is asked for, where the array is read, and for minima.

// CHECK-LABEL: func.func @not
// CHECK-NOT: memref.alloc
func.func @not(%a: memref<?xi32>, %b: memref<?xi32>, %c: memref<?xi32>, %x: memref<?xindex>, %lo: index, %hi: index)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i32
  scf.for %i = %lo to %hi step %c1 {
    %k = memref.load %x[%i] : memref<?xindex>
    %old = "kern.atomic_rmw"(%one, %a, %k) {kind = "add"} : (i32, memref<?xi32>, index) -> i32
    %seen = memref.load %b[%i] : memref<?xi32>
    %sum = arith.addi %old, %seen : i32
    "kern.atomic_rmw"(%sum, %b, %k) {kind = "add"} : (i32, memref<?xi32>, index) -> i32
    "kern.atomic_rmw"(%sum, %c, %k) {kind = "min"} : (i32, memref<?xi32>, index) -> i32
  }
  return
}

// -----

// In a version for some lengths as well; the length of a loop whose ends depend on the work-item is that in the middle.

// CHECK-LABEL: func.func @versions
// CHECK: scf.if %arg4
// CHECK: %[[MIDDLE:.*]] = arith.shrui
// CHECK: memref.alloc
func.func @versions(%bins: memref<?xi32>, %x: memref<?xindex>, %lo: index, %hi: index, %long: i1)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %one = arith.constant 1 : i32
  scf.if %long {
    scf.for %i = %lo to %hi step %c1 {
      %first = arith.muli %i, %c9 : index
      %end = arith.addi %first, %c9 : index
      scf.for %j = %first to %end step %c1 {
        %k = memref.load %x[%j] : memref<?xindex>
        %old = "kern.atomic_rmw"(%one, %bins, %k) {kind = "add"} : (i32, memref<?xi32>, index) -> i32
      }
    }
  }
  return
}
