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

// A row that is read while the next one is written, in a loop that carries the array.

// CHECK-LABEL: func.func @row_before
// CHECK-NOT: memref.copy
// CHECK: linalg.generic
// CHECK-LABEL: func.func @rows_meet
// CHECK: memref.copy
// CHECK: linalg.generic
func.func @row_before(%n: index) -> memref<8x4xf32> attributes {kern.program} {
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<8x4xf32>
  %r = scf.for %i = %c1 to %n step %c1 iter_args(%t = %a) -> (memref<8x4xf32>) {
    %above = arith.subi %i, %c1 : index
    %x = memref.subview %t[%above, 0] [1, 4] [1, 1] : memref<8x4xf32> to memref<4xf32, strided<[1], offset: ?>>
    %b = memref.alloc() : memref<4xf32>
    memref.copy %x, %b : memref<4xf32, strided<[1], offset: ?>> to memref<4xf32>
    %y = memref.subview %t[%i, 0] [1, 4] [1, 1] : memref<8x4xf32> to memref<4xf32, strided<[1], offset: ?>>
    linalg.generic {indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> (d)>], iterator_types = ["parallel"]}
        ins(%b : memref<4xf32>) outs(%y : memref<4xf32, strided<[1], offset: ?>>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    }
    scf.yield %t : memref<8x4xf32>
  }
  return %r : memref<8x4xf32>
}

func.func @rows_meet(%n: index) -> memref<8x4xf32> attributes {kern.program} {
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<8x4xf32>
  %r = scf.for %i = %c1 to %n step %c1 iter_args(%t = %a) -> (memref<8x4xf32>) {
    %above = arith.subi %i, %c1 : index
    %x = memref.subview %t[%above, 0] [2, 4] [1, 1] : memref<8x4xf32> to memref<2x4xf32, strided<[4, 1], offset: ?>>
    %b = memref.alloc() : memref<2x4xf32>
    memref.copy %x, %b : memref<2x4xf32, strided<[4, 1], offset: ?>> to memref<2x4xf32>
    %y = memref.subview %t[%i, 0] [1, 4] [1, 1] : memref<8x4xf32> to memref<4xf32, strided<[1], offset: ?>>
    linalg.generic {indexing_maps = [affine_map<(d, r) -> (r, d)>, affine_map<(d, r) -> (d)>], iterator_types = ["parallel", "reduction"]}
        ins(%b : memref<2x4xf32>) outs(%y : memref<4xf32, strided<[1], offset: ?>>) {
    ^bb0(%in: f32, %out: f32):
      %s = arith.addf %in, %out : f32
      linalg.yield %s : f32
    }
    scf.yield %t : memref<8x4xf32>
  }
  return %r : memref<8x4xf32>
}
