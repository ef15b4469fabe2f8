// RUN: %pykern-opt %s --pass-pipeline="builtin.module(kern-promote-cells,canonicalize,cse)" | FileCheck %s

// The loop carries what was stored in front of it, and the cell is written once.

// CHECK-LABEL: func.func @from_zero
// CHECK: scf.for %[[I:.*]] = %arg2 to %arg3
// CHECK-NEXT: %[[SUM:.*]] = scf.for {{.*}} iter_args(%[[HELD:.*]] = %cst) -> (f16)
// CHECK-NEXT: %[[WIDE:.*]] = arith.extf %[[HELD]]
// CHECK: %[[ROUNDED:.*]] = arith.truncf
// CHECK-NEXT: scf.yield %[[ROUNDED]]
// CHECK: memref.store %[[SUM]], %arg0[%[[I]]]
func.func @from_zero(%o: memref<?xf16>, %x: memref<?xf32>, %lo: index, %hi: index, %n: index)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f16
  scf.for %i = %lo to %hi step %c1 {
    memref.store %zero, %o[%i] : memref<?xf16>
    scf.for %j = %c0 to %n step %c1 {
      %h = memref.load %o[%i] : memref<?xf16>
      %w = arith.extf %h : f16 to f32
      %v = memref.load %x[%j] : memref<?xf32>
      %s = arith.addf %w, %v : f32
      %r = arith.truncf %s : f32 to f16
      memref.store %r, %o[%i] : memref<?xf16>
    }
  } {kern.items}
  return
}

// Nobody stored before: where no iteration runs, the cell is neither read nor written. Two cells with other numbers are two.

// CHECK-LABEL: func.func @two_cells
// CHECK: %[[RUNS:.*]] = arith.cmpi sgt, %arg4, %c0
// CHECK: scf.if %[[RUNS]]
// CHECK: memref.load
// CHECK: scf.for {{.*}} -> (f32, f32)
// CHECK-NOT: memref.load %arg0
// CHECK: scf.yield
// CHECK: scf.if %[[RUNS]]
// CHECK: memref.store
func.func @two_cells(%o: memref<?x2xf32>, %x: memref<?xf32>, %lo: index, %hi: index, %n: index)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %lo to %hi step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %v = memref.load %x[%j] : memref<?xf32>
      %a = memref.load %o[%i, %c0] : memref<?x2xf32>
      %s = arith.addf %a, %v : f32
      memref.store %s, %o[%i, %c0] : memref<?x2xf32>
      %b = memref.load %o[%i, %c1] : memref<?x2xf32>
      %t = arith.mulf %b, %v : f32
      memref.store %t, %o[%i, %c1] : memref<?x2xf32>
    }
  } {kern.items}
  return
}

// The array is read at a place that may be the cell; iterations that may all leave alone a cell that they read; the loop
// over work-items.

// CHECK-LABEL: func.func @stay
// CHECK-NOT: iter_args
// CHECK: return
func.func @stay(%o: memref<?xf32>, %q: memref<?xf32>, %x: memref<?xf32>, %lo: index, %hi: index, %n: index)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %lo to %hi step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %v = memref.load %o[%j] : memref<?xf32>
      memref.store %v, %o[%i] : memref<?xf32>
    }
    scf.for %j = %c0 to %n step %c1 {
      %v = memref.load %x[%j] : memref<?xf32>
      %positive = arith.cmpf ogt, %v, %zero : f32
      scf.if %positive {
        %w = memref.load %q[%i] : memref<?xf32>
        %s = arith.addf %v, %w : f32
        memref.store %s, %q[%i] : memref<?xf32>
      }
    }
    memref.store %zero, %x[%c0] : memref<?xf32>
  } {kern.items}
  return
}

// A cell that nothing reads is carried with whether an iteration stored to it.

// CHECK-LABEL: func.func @last
// CHECK: %[[LAST:.*]]:2 = scf.for {{.*}} -> (f32, i1)
// CHECK-NOT: memref.store
// CHECK: scf.if %[[LAST]]#1
// CHECK-NEXT: memref.store %[[LAST]]#0, %arg0
func.func @last(%o: memref<?xf32>, %x: memref<?xf32>, %lo: index, %hi: index, %n: index)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %lo to %hi step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %v = memref.load %x[%j] : memref<?xf32>
      %positive = arith.cmpf ogt, %v, %zero : f32
      scf.if %positive {
        memref.store %v, %o[%i] : memref<?xf32>
      }
    }
  } {kern.items}
  return
}
