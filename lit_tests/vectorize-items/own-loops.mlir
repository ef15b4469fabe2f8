// RUN: %pykern-opt %s --kern-vectorize-items | FileCheck %s

// One work-item, in which a loop with a sum in each iteration writes a row and reads the one before: its iterations run
// in lanes, where there are enough of them.

// CHECK-LABEL: func.func @rows
// CHECK: scf.for %[[K:.*]] = %c1
// CHECK: scf.if
// CHECK: vector.load %arg1
// CHECK: vector.store
// CHECK: } else {
// CHECK-NOT: vector
// CHECK: return
func.func @rows(%o: memref<?x?xf32>, %t: memref<?x?xf32>, %lo: index, %hi: index)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %o, %c0 : memref<?x?xf32>
  %n = memref.dim %t, %c0 : memref<?x?xf32>
  scf.for %i = %lo to %hi step %c1 {
    scf.for %k = %c1 to %m step %c1 {
      %before = arith.subi %k, %c1 : index
      scf.for %j = %c0 to %n step %c1 {
        %s = scf.for %l = %c0 to %n step %c1 iter_args(%u = %zero) -> (f32) {
          %a = memref.load %o[%before, %l] : memref<?x?xf32>
          %b = memref.load %t[%l, %j] : memref<?x?xf32>
          %c = arith.mulf %a, %b : f32
          %d = arith.addf %u, %c : f32
          scf.yield %d : f32
        }
        memref.store %s, %o[%k, %j] : memref<?x?xf32>
      }
    }
  } {kern.items}
  return
}

// The same, but what is read is of the row that is written: the loop stays.

// CHECK-LABEL: func.func @one_row
// CHECK-NOT: vector
// CHECK: return
func.func @one_row(%o: memref<?x?xf32>, %t: memref<?x?xf32>, %lo: index, %hi: index)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %o, %c0 : memref<?x?xf32>
  %n = memref.dim %t, %c0 : memref<?x?xf32>
  scf.for %i = %lo to %hi step %c1 {
    scf.for %k = %c1 to %m step %c1 {
      scf.for %j = %c0 to %n step %c1 {
        %s = scf.for %l = %c0 to %n step %c1 iter_args(%u = %zero) -> (f32) {
          %a = memref.load %o[%k, %l] : memref<?x?xf32>
          %b = memref.load %t[%l, %j] : memref<?x?xf32>
          %c = arith.mulf %a, %b : f32
          %d = arith.addf %u, %c : f32
          scf.yield %d : f32
        }
        memref.store %s, %o[%k, %j] : memref<?x?xf32>
      }
    }
  } {kern.items}
  return
}
