// RUN: %pykern-opt %s --kern-reuse-loads="fewest=2" | FileCheck %s
// RUN: %pykern-opt %s --kern-reuse-loads="fewest=2 stores=false" | FileCheck %s --check-prefix=KEPT

// Statements to memory: one load an array, one store.
// CHECK-LABEL: func.func @chain
// CHECK-COUNT-2: memref.load
// CHECK-NOT: memref.load
// CHECK-COUNT-1: memref.store
// CHECK-NEXT: return

// KEPT-LABEL: func.func @chain
// KEPT-COUNT-2: memref.load
// KEPT: memref.store
// KEPT-NEXT: arith.addf
// KEPT-NEXT: memref.store
// KEPT-NEXT: return
func.func @chain(%x: memref<?xf32>, %y: memref<?xf32>) attributes {kern.kernel, kern.noalias, kern.rank = 1 : i64} {
  %i = "kern.global_id"() {dim = 0 : i64} : () -> index
  %a = memref.load %y[%i] : memref<?xf32>
  %b = memref.load %x[%i] : memref<?xf32>
  %s = arith.addf %a, %b : f32
  memref.store %s, %y[%i] : memref<?xf32>
  %c = memref.load %y[%i] : memref<?xf32>
  %d = memref.load %x[%i] : memref<?xf32>
  %t = arith.addf %c, %d : f32
  memref.store %t, %y[%i] : memref<?xf32>
  return
}

// The arrays may be one: what is stored to `y` may change `x`, and be read as it.
// CHECK-LABEL: func.func @aliases
// CHECK-COUNT-2: memref.load
// CHECK: memref.store
// CHECK-NEXT: memref.load
// CHECK-NEXT: arith.addf
// CHECK-NEXT: memref.store
// CHECK-NEXT: return
func.func @aliases(%x: memref<?xf32>, %y: memref<?xf32>) attributes {kern.kernel, kern.rank = 1 : i64} {
  %i = "kern.global_id"() {dim = 0 : i64} : () -> index
  %a = memref.load %y[%i] : memref<?xf32>
  %b = memref.load %x[%i] : memref<?xf32>
  %s = arith.addf %a, %b : f32
  memref.store %s, %y[%i] : memref<?xf32>
  %d = memref.load %x[%i] : memref<?xf32>
  %t = arith.addf %s, %d : f32
  memref.store %t, %y[%i] : memref<?xf32>
  return
}

// Another place of the array may be the same one: it is read again, and the first store has been read.
// CHECK-LABEL: func.func @places
// CHECK: memref.store
// CHECK-NEXT: memref.load
// CHECK-NEXT: memref.store
// CHECK-NEXT: memref.store
// CHECK-NEXT: memref.load
// CHECK-NEXT: memref.store
// CHECK-NEXT: return
func.func @places(%x: memref<?xf32>, %j: index) attributes {kern.kernel, kern.noalias, kern.rank = 1 : i64} {
  %i = "kern.global_id"() {dim = 0 : i64} : () -> index
  %one = arith.constant 1.0 : f32
  memref.store %one, %x[%i] : memref<?xf32>
  %a = memref.load %x[%j] : memref<?xf32>
  memref.store %a, %x[%i] : memref<?xf32>
  memref.store %one, %x[%j] : memref<?xf32>
  %b = memref.load %x[%i] : memref<?xf32>
  memref.store %b, %x[%j] : memref<?xf32>
  return
}

// Others see memory at a barrier; an array of two names overlaps with itself.
// CHECK-LABEL: func.func @seen
// CHECK-COUNT-2: memref.store
// CHECK: kern.barrier
// CHECK-NEXT: memref.store
// CHECK-NEXT: memref.load
// CHECK-NEXT: arith.addf
// CHECK-NEXT: memref.store
func.func @seen(%x: memref<4x4xf32>) attributes {kern.kernel, kern.noalias, kern.rank = 1 : i64} {
  %i = "kern.global_id"() {dim = 0 : i64} : () -> index
  %one = arith.constant 1.0 : f32
  %z = memref.collapse_shape %x [[0, 1]] : memref<4x4xf32> into memref<16xf32>
  memref.store %one, %x[%i, %i] : memref<4x4xf32>
  memref.store %one, %z[%i] : memref<16xf32>
  "kern.barrier"() : () -> ()
  memref.store %one, %z[%i] : memref<16xf32>
  %a = memref.load %x[%i, %i] : memref<4x4xf32>
  %b = memref.load %z[%i] : memref<16xf32>
  %c = arith.addf %a, %b : f32
  memref.store %c, %x[%i, %i] : memref<4x4xf32>
  return
}
