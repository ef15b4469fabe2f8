// RUN: %pykern-opt %s --pass-pipeline="builtin.module(kern-carry-divisions,canonicalize,cse)" | FileCheck %s

// Both results of one division, tested for a divisor of zero as the frontend does.

// CHECK-LABEL: func.func @both
// CHECK: %[[W:.*]] = memref.dim
// CHECK: %[[EMPTY:.*]] = arith.cmpi eq, %[[W]], %c0
// CHECK: %[[D:.*]] = arith.select %[[EMPTY]], %c1, %[[W]]
// CHECK: %[[Q0:.*]] = arith.floordivsi %arg2, %[[D]]
// CHECK: %[[QS:.*]] = arith.floordivsi %arg4, %[[D]]
// CHECK: scf.for %{{.*}} = %arg2 to %arg3 step %arg4 iter_args(%[[Q:.*]] = %[[Q0]], %[[R:.*]] = %{{.*}})
// CHECK-NOT: arith.floordivsi
// CHECK-NOT: arith.remsi
// CHECK: %[[ROW:.*]] = arith.select %[[EMPTY]], %c0, %[[Q]]
// CHECK: %[[COLUMN:.*]] = arith.select %[[EMPTY]], %c0, %[[R]]
// CHECK: memref.load %arg0[%[[ROW]], %[[COLUMN]]]
// CHECK: arith.cmpi sge, %{{.*}}, %[[D]]
// CHECK: scf.yield
func.func @both(%x: memref<?x?xf32>, %o: memref<?xf32>, %lo: index, %hi: index, %by: index)
    attributes {kern.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %w = memref.dim %x, %c1 : memref<?x?xf32>
  %empty = arith.cmpi eq, %w, %c0 : index
  scf.for %k = %lo to %hi step %by {
    %d = arith.select %empty, %c1, %w : index
    %q = arith.floordivsi %k, %d : index
    %row = arith.select %empty, %c0, %q : index
    %r = arith.remsi %k, %d : index
    %some = arith.cmpi ne, %r, %c0 : index
    %x0 = arith.xori %r, %d : index
    %mixed = arith.cmpi slt, %x0, %c0 : index
    %moved = arith.addi %r, %d : index
    %both = arith.andi %some, %mixed : i1
    %rest = arith.select %both, %moved, %r : index
    %column = arith.select %empty, %c0, %rest : index
    %v = memref.load %x[%row, %column] : memref<?x?xf32>
    memref.store %v, %o[%k] : memref<?xf32>
  }
  return
}

// Not by what is no length, which may be negative; nor by a number, which is a multiplication.

// CHECK-LABEL: func.func @kept
// CHECK: scf.for
// CHECK: arith.floordivsi
// CHECK: arith.floordivsi
func.func @kept(%o: memref<?xindex>, %n: index, %d: index) attributes {kern.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  scf.for %k = %c0 to %n step %c1 {
    %q = arith.floordivsi %k, %d : index
    %s = arith.floordivsi %k, %c7 : index
    %t = arith.addi %q, %s : index
    memref.store %t, %o[%k] : memref<?xindex>
  }
  return
}
