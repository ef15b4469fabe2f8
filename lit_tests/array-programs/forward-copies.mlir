// RUN: %pykern-opt %s --kern-forward-copies | FileCheck %s

// A copy that is only read is its source.

// CHECK-LABEL: func.func @read_only
// CHECK-NOT: memref.copy
// CHECK: memref.load %arg0
func.func @read_only(%x: memref<8xf32>) -> f32 attributes {kern.program} {
  %c0 = arith.constant 0 : index
  %a = memref.alloc() : memref<8xf32>
  memref.copy %x, %a : memref<8xf32> to memref<8xf32>
  %v = memref.load %a[%c0] : memref<8xf32>
  return %v : f32
}

// Not where the source changes in between.

// CHECK-LABEL: func.func @source_changes
// CHECK: %[[A:.*]] = memref.alloc
// CHECK: memref.copy %arg0, %[[A]]
// CHECK: memref.store
// CHECK: memref.load %[[A]]
func.func @source_changes(%x: memref<8xf32>, %f: f32) -> f32 attributes {kern.program} {
  %c0 = arith.constant 0 : index
  %a = memref.alloc() : memref<8xf32>
  memref.copy %x, %a : memref<8xf32> to memref<8xf32>
  memref.store %f, %x[%c0] : memref<8xf32>
  %v = memref.load %a[%c0] : memref<8xf32>
  return %v : f32
}

// Not where the copy is written, in a loop that carries it.

// CHECK-LABEL: func.func @written_in_a_loop
// CHECK: memref.copy
func.func @written_in_a_loop(%x: memref<8xf32>, %f: f32, %n: index) attributes {kern.program} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<8xf32>
  memref.copy %x, %a : memref<8xf32> to memref<8xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %a) -> (memref<8xf32>) {
    memref.store %f, %t[%i] : memref<8xf32>
    scf.yield %t : memref<8xf32>
  }
  return
}
