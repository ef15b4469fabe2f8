// RUN: %pykern-opt %s --split-input-file --pass-pipeline="builtin.module(kern-transpose-items,canonicalize,cse)" | FileCheck %s

// Rows of a line of the cache, in them squares of 4 x 4, and what is left as it was.

// CHECK-LABEL: func.func @read
// CHECK: scf.for %[[LINE:.*]] = %arg2 to %{{.*}} step %c8
// CHECK:   scf.for %[[COLUMN:.*]] = %c0 to %{{.*}} step %c4
// CHECK:     vector.load %arg1[%[[COLUMN]], %[[LINE]]] : memref<?x?xf64>, vector<4xf64>
// CHECK-COUNT-8: vector.shuffle
// CHECK:     vector.store %{{.*}}, %arg0[%[[LINE]], %[[COLUMN]]]
// CHECK:   scf.for
// CHECK:     scf.for %{{.*}} = %c0 to %c2
// CHECK:       memref.load
// CHECK: scf.for
// CHECK:   scf.for
// CHECK:     memref.load
// CHECK:   } {kern.items}
func.func @read(%o: memref<?x?xf64>, %x: memref<?x?xf64>, %lo: index, %hi: index, %m: index)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 2 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %lo to %hi step %c1 {
    scf.for %j = %c0 to %m step %c1 {
      %v = memref.load %x[%j, %i] : memref<?x?xf64>
      memref.store %v, %o[%i, %j] : memref<?x?xf64>
    } {kern.items}
  }
  return
}

// -----

// Nothing is turned; an array is read where another iteration writes it; an access is along neither loop.

// CHECK-LABEL: func.func @straight
// CHECK-NOT: vector.
func.func @straight(%o: memref<?x?xf64>, %x: memref<?x?xf64>, %lo: index, %hi: index, %m: index)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 2 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %lo to %hi step %c1 {
    scf.for %j = %c0 to %m step %c1 {
      %v = memref.load %x[%i, %j] : memref<?x?xf64>
      memref.store %v, %o[%i, %j] : memref<?x?xf64>
    } {kern.items}
  }
  return
}

// CHECK-LABEL: func.func @in_place
// CHECK-NOT: vector.
func.func @in_place(%x: memref<?x?xf64>, %lo: index, %hi: index, %m: index)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 2 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %lo to %hi step %c1 {
    scf.for %j = %c0 to %m step %c1 {
      %v = memref.load %x[%j, %i] : memref<?x?xf64>
      memref.store %v, %x[%i, %j] : memref<?x?xf64>
    } {kern.items}
  }
  return
}

// CHECK-LABEL: func.func @diagonal
// CHECK-NOT: vector.
func.func @diagonal(%o: memref<?x?xf64>, %x: memref<?x?xf64>, %lo: index, %hi: index, %m: index)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 2 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %lo to %hi step %c1 {
    scf.for %j = %c0 to %m step %c1 {
      %v = memref.load %x[%j, %i] : memref<?x?xf64>
      %w = memref.load %x[%j, %j] : memref<?x?xf64>
      %s = arith.addf %v, %w : f64
      memref.store %s, %o[%i, %j] : memref<?x?xf64>
    } {kern.items}
  }
  return
}

// -----

// Rows of a flat array, whose length is an argument.

// CHECK-LABEL: func.func @flat
// CHECK: scf.for %[[LINE:.*]] = %arg3 to %{{.*}} step %c8
// CHECK:   scf.for %[[COLUMN:.*]] = %c0 to %{{.*}} step %c4
// CHECK:     vector.load %arg1[%{{.*}}] : memref<?xf64>, vector<4xf64>
// CHECK-COUNT-8: vector.shuffle
// CHECK:     vector.store %{{.*}}, %arg0[%{{.*}}] : memref<?xf64>, vector<4xf64>
func.func @flat(%o: memref<?xf64>, %x: memref<?xf64>, %n: index, %lo: index, %hi: index, %m: index)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 2 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %lo to %hi step %c1 {
    scf.for %j = %c0 to %m step %c1 {
      %row = arith.muli %j, %n : index
      %from = arith.addi %row, %i : index
      %v = memref.load %x[%from] : memref<?xf64>
      %line = arith.muli %i, %m : index
      %to = arith.addi %line, %j : index
      memref.store %v, %o[%to] : memref<?xf64>
    } {kern.items}
  }
  return
}
