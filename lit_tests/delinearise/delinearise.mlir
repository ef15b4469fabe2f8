// RUN: %pykern-opt %s --kern-delinearise --canonicalize --cse | FileCheck %s

// The flat index of a matrix: rows from that of the first work-item to that of the last, columns as many as there are
// work-items in the row.

// CHECK-LABEL: func.func @matrix
// CHECK: %[[LONG:.*]] = arith.cmpi sge, %[[W:.*]], %c16
// CHECK: scf.if %[[LONG]] {
// CHECK:   %[[FIRST:.*]] = arith.divui %arg1, %[[W]]
// CHECK:   scf.for %[[I:.*]] = %[[FIRST]] to
// CHECK:     %[[START:.*]] = arith.muli %[[I]], %[[W]]
// CHECK:     scf.for %[[J:.*]] = %{{.*}} to %{{.*}} step %c1
// CHECK-NOT:   arith.floordivsi
// CHECK-NOT:   arith.remsi
// CHECK:       memref.store %{{.*}}, %arg0[%[[I]], %[[J]]]
// CHECK:     } {kern.items}
// CHECK: } else {
// CHECK:   scf.for
// CHECK:     arith.floordivsi
// CHECK:     arith.remsi
// CHECK:   } {llvm.loop_annotation
func.func @matrix(%o: memref<?x?xf32>, %lo: index, %hi: index) attributes {kern.kernel, kern.plain, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = arith.constant 1.0 : f32
  %w = memref.dim %o, %c1 : memref<?x?xf32>
  scf.for %k = %lo to %hi step %c1 {
    %i = arith.floordivsi %k, %w : index
    %r = arith.remsi %k, %w : index
    %some = arith.cmpi ne, %r, %c0 : index
    %signs = arith.xori %r, %w : index
    %mixed = arith.cmpi slt, %signs, %c0 : index
    %moved = arith.addi %r, %w : index
    %both = arith.andi %some, %mixed : i1
    %j = arith.select %both, %moved, %r : index
    memref.store %x, %o[%i, %j] : memref<?x?xf32>
  } {kern.items}
  return
}

// A number that is large enough needs no test, and the column may be what is left.

// CHECK-LABEL: func.func @number
// CHECK-NOT: scf.if
// CHECK: scf.for %[[I:.*]] =
// CHECK: scf.for %[[J:.*]] =
// CHECK-NOT: arith.floordivsi
// CHECK: memref.store %{{.*}}, %arg0[%[[I]], %[[J]]]
func.func @number(%o: memref<?x?xf32>, %lo: index, %hi: index) attributes {kern.kernel, kern.plain, kern.rank = 1 : i64} {
  %c1 = arith.constant 1 : index
  %w = arith.constant 100 : index
  %x = arith.constant 1.0 : f32
  scf.for %k = %lo to %hi step %c1 {
    %i = arith.floordivsi %k, %w : index
    %start = arith.muli %w, %i : index
    %j = arith.subi %k, %start : index
    memref.store %x, %o[%i, %j] : memref<?x?xf32>
  } {kern.items}
  return
}

// Of a volume first the planes, then the rows of a plane; a launch of other ranges tests that its indices are not negative.

// CHECK-LABEL: func.func @volume
// CHECK: arith.cmpi sge, %arg3, %c0
// CHECK: scf.for %[[P:.*]] =
// CHECK: scf.for %[[I:.*]] =
// CHECK: scf.for %[[J:.*]] =
// CHECK: memref.store %{{.*}}, %arg0[%[[P]], %[[I]], %[[J]]]
func.func @volume(%o: memref<?x?x?xf32>, %h: index, %w: index, %lo: index, %hi: index) attributes {kern.kernel, kern.unit, kern.rank = 1 : i64} {
  %c1 = arith.constant 1 : index
  %x = arith.constant 1.0 : f32
  %hw = arith.muli %h, %w : index
  scf.for %k = %lo to %hi step %c1 {
    %p = arith.floordivsi %k, %hw : index
    %before = arith.muli %p, %hw : index
    %rest = arith.subi %k, %before : index
    %i = arith.floordivsi %rest, %w : index
    %start = arith.muli %i, %w : index
    %j = arith.subi %rest, %start : index
    memref.store %x, %o[%p, %i, %j] : memref<?x?x?xf32>
  } {kern.items}
  return
}

// Short rows stay, and so do divisors that differ between work-items or have nothing to do with each other.

// CHECK-LABEL: func.func @stays
// CHECK-COUNT-1: scf.for
// CHECK-NOT: scf.for
func.func @stays(%o: memref<?xindex>, %h: index, %w: index, %lo: index, %hi: index) attributes {kern.kernel, kern.plain, kern.rank = 1 : i64} {
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  scf.for %k = %lo to %hi step %c1 {
    %a = arith.floordivsi %k, %c3 : index
    %b = arith.floordivsi %k, %h : index
    %c = arith.floordivsi %k, %w : index
    %d = arith.addi %a, %b : index
    %e = arith.addi %c, %d : index
    memref.store %e, %o[%k] : memref<?xindex>
  } {kern.items}
  return
}

// -----

// An index that wraps around with an offset from a table: rounds, and what the index is.

// CHECK-LABEL: func.func @offset
// CHECK: %[[E:.*]] = memref.load %arg2
// CHECK: arith.remsi
// CHECK: scf.for %[[ROUND:.*]] =
// CHECK: scf.for %[[T:.*]] =
// CHECK-NOT: arith.remsi
// CHECK: %[[V:.*]] = memref.load %arg1[%[[T]]]
// CHECK: memref.store %[[V]], %arg0[%{{.*}}]
func.func @offset(%o: memref<?xf32>, %f: memref<?xf32>, %e: memref<?xindex>, %lo: index, %hi: index)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 100 : index
  scf.for %j = %lo to %hi step %c1 {
    %s = memref.load %e[%c0] : memref<?xindex>
    %t = arith.addi %j, %s : index
    %r = arith.remsi %t, %n : index
    %other = arith.cmpi ne, %r, %c0 : index
    %signs = arith.xori %r, %n : index
    %mixed = arith.cmpi slt, %signs, %c0 : index
    %moved = arith.addi %r, %n : index
    %is = arith.andi %other, %mixed : i1
    %at = arith.select %is, %moved, %r : index
    %v = memref.load %f[%at] : memref<?xf32>
    memref.store %v, %o[%j] : memref<?xf32>
  } {kern.items}
  return
}

// Two work-items for each number: they are written one behind the other, and a loop over numbers is what runs over them.
// Where the launch begins or ends in the middle of a number, they run as they did.

// CHECK-LABEL: func.func @enlarged
// CHECK: scf.for
// CHECK:   arith.floordivsi
// CHECK: } {llvm.loop_annotation
// CHECK: scf.for %[[K:.*]] = %{{.*}} to %{{.*}} step %c1 {
// CHECK-NOT: scf.for
// CHECK:   %[[START:.*]] = arith.muli %[[K]], %c2
// CHECK:   %[[A:.*]] = memref.load %arg1[%[[K]]]
// CHECK:   memref.store %[[A]], %arg0[%[[START]]]
// CHECK:   %[[B:.*]] = memref.load %arg1[%[[K]]]
// CHECK:   memref.store %[[B]], %arg0
// CHECK: } {kern.items}
func.func @enlarged(%o: memref<?xf32>, %x: memref<?xf32>, %lo: index, %hi: index)
    attributes {kern.kernel, kern.plain, kern.rank = 1 : i64} {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  scf.for %k = %lo to %hi step %c1 {
    %i = arith.floordivsi %k, %c2 : index
    %v = memref.load %x[%i] : memref<?xf32>
    memref.store %v, %o[%k] : memref<?xf32>
  } {kern.items}
  return
}
