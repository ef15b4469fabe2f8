// RUN: %pykern-opt %s --kern-vectorize-items | FileCheck %s

// A cell of a row that is written is read before any lane writes; LLVM would take it for one that another iteration has
// written.

// CHECK-LABEL: func.func @through
// CHECK: scf.for %{{.*}} step %c32
// CHECK:   memref.load %arg0[%{{.*}}, %arg1]
// CHECK:   arith.minsi {{.*}} : vector<32xi32>
// CHECK:   vector.store
func.func @through(%p: memref<?x?xi32>, %k: index, %i: index, %lo: index, %hi: index)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c1 = arith.constant 1 : index
  scf.for %j = %lo to %hi step %c1 {
    %old = memref.load %p[%i, %j] : memref<?x?xi32>
    %left = memref.load %p[%i, %k] : memref<?x?xi32>
    %right = memref.load %p[%k, %j] : memref<?x?xi32>
    %sum = arith.addi %left, %right : i32
    %new = arith.minsi %old, %sum : i32
    memref.store %new, %p[%i, %j] : memref<?x?xi32>
  } {kern.items}
  return
}

// Not where the cell is read behind a write: that may have been to it.

// CHECK-LABEL: func.func @behind
// CHECK-NOT: vector
// CHECK: return
func.func @behind(%p: memref<?x?xi32>, %k: index, %i: index, %lo: index, %hi: index)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c1 = arith.constant 1 : index
  scf.for %j = %lo to %hi step %c1 {
    %old = memref.load %p[%i, %j] : memref<?x?xi32>
    %more = arith.addi %old, %old : i32
    memref.store %more, %p[%i, %j] : memref<?x?xi32>
    %left = memref.load %p[%i, %k] : memref<?x?xi32>
    %new = arith.minsi %more, %left : i32
    memref.store %new, %p[%i, %j] : memref<?x?xi32>
  } {kern.items}
  return
}
