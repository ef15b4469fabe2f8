// RUN: %pykern-opt %s --split-input-file --pass-pipeline="builtin.module(kern-unroll-short-rows,canonicalize,cse)" | FileCheck %s

// The coordinates of a point: a known number, and one that the launch tells, which gets a version.

// CHECK-LABEL: func.func @known
// CHECK: scf.for %[[I:.*]] = %arg1 to %arg2
// CHECK-NOT: scf.for
// CHECK: memref.load %arg0[%[[I]], %c0]
// CHECK: memref.store %{{.*}}, %arg0[%[[I]], %c0]
// CHECK: memref.store %{{.*}}, %arg0[%[[I]], %c1]
// CHECK-NOT: memref.store
// CHECK: kern.items
func.func @known(%x: memref<?x?xf32>, %lo: index, %hi: index)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  scf.for %i = %lo to %hi step %c1 {
    scf.for %d = %c0 to %c2 step %c1 {
      %v = memref.load %x[%i, %d] : memref<?x?xf32>
      %w = arith.addf %v, %v : f32
      memref.store %w, %x[%i, %d] : memref<?x?xf32>
    }
  } {kern.items}
  return
}

// -----

// CHECK-LABEL: func.func @told
// CHECK: %[[N:.*]] = memref.dim %arg0, %c1
// CHECK: arith.cmpi eq, %[[N]], %c3
// CHECK: scf.if
// CHECK:   scf.for
// CHECK-NOT: scf.for
// CHECK:   memref.load %arg0[%{{.*}}, %c2]
// CHECK: } else {
// CHECK:   scf.for
// CHECK:     scf.for %{{.*}} = %c0 to %[[N]]
func.func @told(%x: memref<?x?xf32>, %o: memref<?xf32>, %lo: index, %hi: index)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %n = memref.dim %x, %c1 : memref<?x?xf32>
  scf.for %i = %lo to %hi step %c1 {
    %s = scf.for %d = %c0 to %n step %c1 iter_args(%t = %zero) -> (f32) {
      %v = memref.load %x[%i, %d] : memref<?x?xf32>
      %w = arith.addf %t, %v : f32
      scf.yield %w : f32
    }
    memref.store %s, %o[%i] : memref<?xf32>
  } {kern.items}
  return
}

// -----

// Work-items over the columns of short rows that each read the whole row: a work-item has a row.

// CHECK-LABEL: func.func @columns
// CHECK: arith.cmpi eq, %arg1, %c3
// CHECK: scf.if
// CHECK:   scf.for
// CHECK-NOT: scf.for
// CHECK:   memref.store %{{.*}}, %arg0[%{{.*}}, %c0]
// CHECK:   memref.store %{{.*}}, %arg0[%{{.*}}, %c1]
// CHECK:   memref.store %{{.*}}, %arg0[%{{.*}}, %c2]
// CHECK:   } {kern.items}
// CHECK: } else {
// CHECK:   scf.for
// CHECK:     scf.for
// CHECK:     } {kern.items}
func.func @columns(%o: memref<?x?xf32>, %columns: index, %x: memref<?x?xf32>, %lo: index, %hi: index)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 2 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %lo to %hi step %c1 {
    scf.for %c = %c0 to %columns step %c1 {
      %v = memref.load %x[%i, %c] : memref<?x?xf32>
      %w = memref.load %x[%i, %c0] : memref<?x?xf32>
      %d = arith.subf %v, %w : f32
      memref.store %d, %o[%i, %c] : memref<?x?xf32>
    } {kern.items}
  }
  return
}

// -----

// Not loops along rows that all work-items read, not long ones, and not columns that work-items only copy.

// CHECK-LABEL: func.func @not
// CHECK-NOT: scf.if
// CHECK: scf.for
// CHECK:   scf.for
// CHECK:     scf.for %{{.*}} = %c0 to %c3
// CHECK:     scf.for %{{.*}} = %c0 to %c100
func.func @not(%o: memref<?x?xf32>, %columns: index, %x: memref<?x?xf32>, %lo: index, %hi: index)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 2 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c100 = arith.constant 100 : index
  scf.for %i = %lo to %hi step %c1 {
    scf.for %c = %c0 to %columns step %c1 {
      scf.for %e = %c0 to %c3 step %c1 {
        %v = memref.load %x[%c1, %e] : memref<?x?xf32>
        memref.store %v, %o[%i, %c] : memref<?x?xf32>
      }
      scf.for %e = %c0 to %c100 step %c1 {
        %v = memref.load %x[%c, %e] : memref<?x?xf32>
        memref.store %v, %o[%i, %c] : memref<?x?xf32>
      }
    } {kern.items}
  }
  return
}

// -----

// Pairs, of which each work-item reads both numbers: the version is for rows of two.

// CHECK-LABEL: func.func @pairs
// CHECK: arith.cmpi eq, %arg1, %c2
// CHECK: scf.if
// CHECK: scf.for
// CHECK-NOT: scf.for
// CHECK: kern.items
func.func @pairs(%o: memref<?x?xf32>, %columns: index, %x: memref<?x?xf32>, %lo: index, %hi: index)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 2 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %lo to %hi step %c1 {
    scf.for %c = %c0 to %columns step %c1 {
      %v = memref.load %x[%i, %c0] : memref<?x?xf32>
      %w = memref.load %x[%i, %c1] : memref<?x?xf32>
      %d = arith.subf %v, %w : f32
      memref.store %d, %o[%i, %c] : memref<?x?xf32>
    } {kern.items}
  }
  return
}

// -----

// Cells of a product by 4x4 have more operations than a loop that may be long would be written out with: without a loop in
// the work-item rows of four get their version all the same.

// CHECK-LABEL: func.func @fours
// CHECK: arith.cmpi eq, %arg1, %c4
// CHECK: scf.if
// CHECK-COUNT-4: memref.store
// CHECK: } else {
// CHECK: memref.store
// CHECK-NOT: memref.store
// CHECK: return
func.func @fours(%o: memref<?x?xf32>, %columns: index, %x: memref<?x?xf32>, %m: memref<?x?xf32>, %lo: index, %hi: index)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 2 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  scf.for %i = %lo to %hi step %c1 {
    scf.for %c = %c0 to %columns step %c1 {
      %x0 = memref.load %x[%i, %c0] : memref<?x?xf32>
      %x1 = memref.load %x[%i, %c1] : memref<?x?xf32>
      %x2 = memref.load %x[%i, %c2] : memref<?x?xf32>
      %x3 = memref.load %x[%i, %c3] : memref<?x?xf32>
      %m0 = memref.load %m[%c0, %c] : memref<?x?xf32>
      %m1 = memref.load %m[%c1, %c] : memref<?x?xf32>
      %m2 = memref.load %m[%c2, %c] : memref<?x?xf32>
      %m3 = memref.load %m[%c3, %c] : memref<?x?xf32>
      %p0 = arith.mulf %x0, %m0 : f32
      %p1 = arith.mulf %x1, %m1 : f32
      %p2 = arith.mulf %x2, %m2 : f32
      %p3 = arith.mulf %x3, %m3 : f32
      %s1 = arith.addf %p0, %p1 : f32
      %s2 = arith.addf %s1, %p2 : f32
      %s3 = arith.addf %s2, %p3 : f32
      memref.store %s3, %o[%i, %c] : memref<?x?xf32>
    } {kern.items}
  }
  return
}

// -----

// Work-items over the cells of small matrices whose lengths are known: a work-item has a matrix.

// CHECK-LABEL: func.func @matrices
// CHECK: scf.for %[[N:.*]] = %arg2 to %arg3
// CHECK:   scf.for %[[I:.*]] = %c0 to %c4
// CHECK-NOT: scf.for
// CHECK:     memref.load %arg0[%[[N]], %[[I]], %c0]
// CHECK:     memref.store %{{.*}}, %arg1[%[[N]], %[[I]], %c2]
// CHECK-NOT: kern.items
// CHECK:   }
// CHECK: } {kern.items}
func.func @matrices(%x: memref<?x4x3xf32>, %o: memref<?x4x3xf32>, %lo: index, %hi: index)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 3 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  scf.for %n = %lo to %hi step %c1 {
    scf.for %i = %c0 to %c4 step %c1 {
      scf.for %j = %c0 to %c3 step %c1 {
        %a = memref.load %x[%n, %i, %c0] : memref<?x4x3xf32>
        %b = memref.load %x[%n, %i, %j] : memref<?x4x3xf32>
        %c = arith.addf %a, %b : f32
        memref.store %c, %o[%n, %i, %j] : memref<?x4x3xf32>
      } {kern.items}
    }
  }
  return
}
