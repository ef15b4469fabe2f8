// RUN: %pykern-opt %s --kern-items-from-loops | FileCheck %s

// The loop over columns writes cells of its own: it is the one over work-items where it has 16 iterations at least.

// CHECK-LABEL: func.func @columns
// CHECK: %[[N:.*]] = memref.dim %arg0, %c1
// CHECK: %[[LENGTH:.*]] = arith.subi %[[N]], %c0
// CHECK: %[[LONG:.*]] = arith.cmpi sge, %[[LENGTH]], %c16
// CHECK: scf.if %[[LONG]] {
// CHECK:   scf.for
// CHECK:     scf.for
// CHECK:       scf.for
// CHECK:       memref.store
// CHECK-NEXT:  } {kern.items}
// CHECK-NEXT: }
// CHECK: } else {
// CHECK:   scf.for
// CHECK:     scf.for
// CHECK:       memref.store
// CHECK-NEXT: }
// CHECK-NEXT: } {kern.few, kern.items}
func.func @columns(%o: memref<?x?xf32>, %a: memref<?x?xf32>, %b: memref<?x?xf32>, %lo: index, %hi: index) attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %l = memref.dim %a, %c1 : memref<?x?xf32>
  scf.for %i = %lo to %hi step %c1 {
    %n = memref.dim %o, %c1 : memref<?x?xf32>
    scf.for %j = %c0 to %n step %c1 {
      %s = scf.for %k = %c0 to %l step %c1 iter_args(%t = %zero) -> (f32) {
        %x = memref.load %a[%i, %k] : memref<?x?xf32>
        %y = memref.load %b[%k, %j] : memref<?x?xf32>
        %p = arith.mulf %x, %y : f32
        %u = arith.addf %t, %p : f32
        scf.yield %u : f32
      }
      memref.store %s, %o[%i, %j] : memref<?x?xf32>
    }
  } {kern.items}
  return
}

// An iteration that reads what the one before it wrote is none of a work-item.

// CHECK-LABEL: func.func @recurrence
// CHECK: scf.for
// CHECK:   scf.for
// CHECK:     memref.store
// CHECK-NEXT: }
// CHECK-NEXT: } {kern.items}
func.func @recurrence(%o: memref<?x64xf32>, %b: memref<?x64xf32>, %l: index, %lo: index, %hi: index) attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %lo to %hi step %c1 {
    scf.for %j = %c1 to %c64 step %c1 {
      %before = arith.subi %j, %c1 : index
      %start = memref.load %o[%i, %before] : memref<?x64xf32>
      %s = scf.for %k = %c0 to %l step %c1 iter_args(%t = %start) -> (f32) {
        %y = memref.load %b[%k, %j] : memref<?x64xf32>
        %u = arith.addf %t, %y : f32
        scf.yield %u : f32
      }
      memref.store %s, %o[%i, %j] : memref<?x64xf32>
    }
  } {kern.items}
  return
}

// With work-items along memory, and the loop across it, all stays.

// CHECK-LABEL: func.func @across
// CHECK: scf.for
// CHECK:   scf.for
// CHECK:     memref.store
// CHECK-NEXT: }
// CHECK-NEXT: } {kern.items}
func.func @across(%o: memref<64x?xf32>, %b: memref<?x?xf32>, %l: index, %lo: index, %hi: index) attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %lo to %hi step %c1 {
    scf.for %j = %c0 to %c64 step %c1 {
      %s = scf.for %k = %c0 to %l step %c1 iter_args(%t = %zero) -> (f32) {
        %y = memref.load %b[%k, %i] : memref<?x?xf32>
        %u = arith.addf %t, %y : f32
        scf.yield %u : f32
      }
      memref.store %s, %o[%j, %i] : memref<64x?xf32>
    }
  } {kern.items}
  return
}
