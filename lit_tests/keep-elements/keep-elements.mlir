// RUN: %pykern-opt %s --split-input-file --kern-keep-elements | FileCheck %s

// A softmax: what is added up is kept where the result is written.

// CHECK-LABEL: func.func @softmax
// CHECK: scf.for %[[K:.*]] = %c0 to %arg4 step %c1 iter_args
// CHECK:   %[[E:.*]] = math.exp
// CHECK:   memref.store %[[E]], %arg0[%[[I:.*]], %[[K]]]
// CHECK: scf.for %[[L:.*]] = %c0 to %arg4 step %c1
// CHECK:   %[[KEPT:.*]] = memref.load %arg0[%[[I]], %[[L]]]
// CHECK-NOT: math.exp
// CHECK:   arith.divf %[[KEPT]]
func.func @softmax(%o: memref<?x?xf32>, %x: memref<?x?xf32>, %lo: index, %hi: index, %n: index, %m: f32)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %lo to %hi step %c1 {
    %sum = scf.for %k = %c0 to %n step %c1 iter_args(%held = %zero) -> (f32) {
      %v = memref.load %x[%i, %k] : memref<?x?xf32>
      %d = arith.subf %v, %m : f32
      %e = math.exp %d : f32
      %next = arith.addf %held, %e : f32
      scf.yield %next : f32
    }
    scf.for %k = %c0 to %n step %c1 {
      %v = memref.load %x[%i, %k] : memref<?x?xf32>
      %d = arith.subf %v, %m : f32
      %e = math.exp %d : f32
      %q = arith.divf %e, %sum : f32
      memref.store %q, %o[%i, %k] : memref<?x?xf32>
    }
  } {kern.items}
  return
}

// -----

// Not where another work-item writes the same elements, where the array is read in between, or the numbers are others.

// CHECK-LABEL: func.func @shared
// CHECK-COUNT-2: math.exp
// CHECK: return
func.func @shared(%o: memref<?xf32>, %x: memref<?xf32>, %s: memref<?xf32>, %lo: index, %hi: index, %n: index)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %lo to %hi step %c1 {
    scf.for %k = %c0 to %n step %c1 {
      %v = memref.load %x[%k] : memref<?xf32>
      %e = math.exp %v : f32
      memref.store %e, %s[%i] : memref<?xf32>
    }
    scf.for %k = %c0 to %n step %c1 {
      %v = memref.load %x[%k] : memref<?xf32>
      %e = math.exp %v : f32
      memref.store %e, %o[%k] : memref<?xf32>
    }
  } {kern.items}
  return
}

// CHECK-LABEL: func.func @read
// CHECK-COUNT-2: math.exp
// CHECK: return
func.func @read(%o: memref<?x?xf32>, %x: memref<?x?xf32>, %lo: index, %hi: index, %n: index)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %lo to %hi step %c1 {
    %sum = scf.for %k = %c0 to %n step %c1 iter_args(%held = %zero) -> (f32) {
      %v = memref.load %x[%i, %k] : memref<?x?xf32>
      %e = math.exp %v : f32
      %w = memref.load %o[%i, %k] : memref<?x?xf32>
      %p = arith.mulf %e, %w : f32
      %next = arith.addf %held, %p : f32
      scf.yield %next : f32
    }
    scf.for %k = %c0 to %n step %c1 {
      %v = memref.load %x[%i, %k] : memref<?x?xf32>
      %e = math.exp %v : f32
      %q = arith.divf %e, %sum : f32
      memref.store %q, %o[%i, %k] : memref<?x?xf32>
    }
  } {kern.items}
  return
}

// CHECK-LABEL: func.func @others
// CHECK-COUNT-2: math.exp
// CHECK: return
func.func @others(%o: memref<?x?xf32>, %x: memref<?x?xf32>, %lo: index, %hi: index, %n: index)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %lo to %hi step %c1 {
    %sum = scf.for %k = %c0 to %n step %c1 iter_args(%held = %zero) -> (f32) {
      %v = memref.load %x[%k, %i] : memref<?x?xf32>
      %e = math.exp %v : f32
      %next = arith.addf %held, %e : f32
      scf.yield %next : f32
    }
    scf.for %k = %c0 to %n step %c1 {
      %v = memref.load %x[%i, %k] : memref<?x?xf32>
      %e = math.exp %v : f32
      %q = arith.divf %e, %sum : f32
      memref.store %q, %o[%i, %k] : memref<?x?xf32>
    }
  } {kern.items}
  return
}

// -----

// The two loops go by two lengths: they are compared in front of all work-items, and both loops stay as they were in a copy.

// CHECK-LABEL: func.func @lengths
// CHECK: %[[SAME:.*]] = arith.cmpi eq, %arg4, %arg5 : index
// CHECK: scf.if %[[SAME]] {
// CHECK-COUNT-1: math.exp
// CHECK: scf.for %{{.*}} = %c0 to %arg4
// CHECK-NOT: math.exp
// CHECK: } else {
// CHECK-COUNT-2: math.exp
// CHECK: return
func.func @lengths(%o: memref<?x?xf32>, %x: memref<?x?xf32>, %lo: index, %hi: index, %n: index, %m: index)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %lo to %hi step %c1 {
    %sum = scf.for %k = %c0 to %n step %c1 iter_args(%held = %zero) -> (f32) {
      %v = memref.load %x[%i, %k] : memref<?x?xf32>
      %e = math.exp %v : f32
      %next = arith.addf %held, %e : f32
      scf.yield %next : f32
    }
    scf.for %k = %c0 to %m step %c1 {
      %v = memref.load %x[%i, %k] : memref<?x?xf32>
      %e = math.exp %v : f32
      %q = arith.divf %e, %sum : f32
      memref.store %q, %o[%i, %k] : memref<?x?xf32>
    }
  } {kern.items}
  return
}
