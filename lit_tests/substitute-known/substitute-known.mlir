// RUN: %pykern-opt %s --split-input-file --pass-pipeline="builtin.module(kern-substitute-known,canonicalize,cse)" | FileCheck %s

// Slot 0 is the address of %x, 1 and 2 its lengths, 3 the scalar, 4 the address of %s, 5 its length, 6 its stride.

// CHECK-LABEL: func.func @known
// CHECK-SAME: %[[X:.*]]: memref<?x4xf32>, %{{.*}}: i64, %[[S:.*]]: memref<?xf32, strided<[-2]>>
// CHECK: %[[I:.*]] = "kern.global_id"
// CHECK: %[[V:.*]] = memref.load %[[X]][%[[I]], %c4]
// CHECK: %[[W:.*]] = memref.load %[[S]][%c3]
func.func @known(%x: memref<?x?xf32>, %n: i64, %s: memref<?xf32, strided<[?]>>)
    attributes {kern.kernel, kern.known = array<i64: 2, 4, 3, 3, 6, -2>, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c1 = arith.constant 1 : index
  %i = "kern.global_id"() {dim = 0 : i64} : () -> index
  %w = memref.dim %x, %c1 : memref<?x?xf32>
  %k = arith.index_cast %n : i64 to index
  %a = memref.load %x[%i, %w] : memref<?x?xf32>
  %b = memref.load %s[%k] : memref<?xf32, strided<[?]>>
  %c = arith.addf %a, %b : f32
  memref.store %c, %x[%i, %k] : memref<?x?xf32>
  return
}

// -----

// An array that is used otherwise keeps its type, its length is known all the same. Without `kern.known` all stays.

func.func private @use(memref<*xf32>)

// CHECK-LABEL: func.func @cast
// CHECK-SAME: memref<?xf32>
// CHECK: memref.cast
// CHECK: memref.store %{{.*}}, %arg0[%c5]
func.func @cast(%x: memref<?xf32>)
    attributes {kern.kernel, kern.known = array<i64: 1, 5>, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = memref.dim %x, %c0 : memref<?xf32>
  %y = memref.cast %x : memref<?xf32> to memref<*xf32>
  func.call @use(%y) : (memref<*xf32>) -> ()
  memref.store %zero, %x[%n] : memref<?xf32>
  return
}

// CHECK-LABEL: func.func @unknown
// CHECK: memref.dim
func.func @unknown(%x: memref<?xf32>) attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = memref.dim %x, %c0 : memref<?xf32>
  memref.store %zero, %x[%n] : memref<?xf32>
  return
}
