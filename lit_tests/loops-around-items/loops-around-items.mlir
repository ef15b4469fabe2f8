// RUN: %pykern-opt %s --split-input-file --pass-pipeline="builtin.module(kern-loops-around-items,canonicalize,cse)" | FileCheck %s

// The offset is one number for all work-items of a row, if the loop over offsets is outside.

// CHECK-LABEL: func.func @table
// CHECK: scf.for %[[Q:.*]] = %c0 to %c9
// CHECK-NEXT: scf.for %[[J:.*]] = %arg3 to %arg4
// CHECK: memref.load %arg2[%[[Q]]]
// CHECK: memref.store %{{.*}}, %arg0[%[[Q]], %[[J]]]
// CHECK: } {kern.items}
func.func @table(%o: memref<?x?xf32>, %f: memref<?x?xf32>, %e: memref<?xi32>, %lo: index, %hi: index)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %n = memref.dim %f, %c1 : memref<?x?xf32>
  scf.for %j = %lo to %hi step %c1 {
    scf.for %q = %c0 to %c9 step %c1 {
      %d = memref.load %e[%q] : memref<?xi32>
      %s = arith.index_cast %d : i32 to index
      %t = arith.addi %j, %s : index
      %r = arith.remsi %t, %n : index
      %v = memref.load %f[%q, %r] : memref<?x?xf32>
      memref.store %v, %o[%q, %j] : memref<?x?xf32>
    }
  } {kern.items}
  return
}

// -----

// Nothing is wrapped: loops stay. So they do where the table is written, or another loop stands beside.

// CHECK-LABEL: func.func @plain
// CHECK: scf.for %{{.*}} = %arg2 to %arg3
// CHECK-NEXT: scf.for %{{.*}} = %c0 to %c9
func.func @plain(%o: memref<?x?xf32>, %e: memref<?xi32>, %lo: index, %hi: index)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  scf.for %j = %lo to %hi step %c1 {
    scf.for %q = %c0 to %c9 step %c1 {
      %d = memref.load %e[%q] : memref<?xi32>
      %v = arith.sitofp %d : i32 to f32
      memref.store %v, %o[%q, %j] : memref<?x?xf32>
    }
  } {kern.items}
  return
}

// CHECK-LABEL: func.func @written
// CHECK: scf.for %{{.*}} = %arg1 to %arg2
// CHECK-NEXT: scf.for %{{.*}} = %c0 to %c9
func.func @written(%e: memref<?xi32>, %lo: index, %hi: index)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  scf.for %j = %lo to %hi step %c1 {
    scf.for %q = %c0 to %c9 step %c1 {
      %d = memref.load %e[%q] : memref<?xi32>
      %s = arith.index_cast %d : i32 to index
      %t = arith.addi %j, %s : index
      %r = arith.remsi %t, %c9 : index
      memref.store %d, %e[%r] : memref<?xi32>
    }
  } {kern.items}
  return
}
