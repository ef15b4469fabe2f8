// RUN: %pykern-opt %s --kern-destination-passing | FileCheck %s

// A result's buffer is the caller's; an argument that is returned is copied.

// CHECK-LABEL: func.func @results(%arg0: memref<8xf32>, %arg1: memref<8xf32>, %arg2: memref<8xf32>)
// CHECK-SAME: kern.result_arguments = array<i64: -1, -1>
// CHECK-NOT: memref.alloc
// CHECK: call @make{{.}}(%arg1)
// CHECK: memref.copy %arg0, %arg2
// CHECK: return{{$}}
func.func @results(%x: memref<8xf32>) -> (memref<8xf32>, memref<8xf32>) attributes {kern.program} {
  %a = memref.alloc() : memref<8xf32>
  func.call @make1(%a) : (memref<8xf32>) -> ()
  return %a, %x : memref<8xf32>, memref<8xf32>
}

// New values of an argument go into the argument, through a copy only where it is still read.

// CHECK-LABEL: func.func @updated(%arg0: memref<8xf32>, %arg1: memref<8xf32>)
// CHECK: %[[A:.*]] = memref.alloc
// CHECK: call @use{{.}}(%arg0, %[[A]])
// CHECK: call @make{{.}}(%arg1)
// CHECK: memref.copy %[[A]], %arg0
func.func @updated(%x: memref<8xf32>, %y: memref<8xf32>) -> (memref<8xf32>, memref<8xf32>)
    attributes {kern.program, kern.updated = array<i64: 0, 1>, kern.result_arguments = array<i64: 0, 1>} {
  %a = memref.alloc() : memref<8xf32>
  func.call @use2(%x, %a) : (memref<8xf32>, memref<8xf32>) -> ()
  %b = memref.alloc() : memref<8xf32>
  func.call @make1(%b) : (memref<8xf32>) -> ()
  return %a, %b : memref<8xf32>, memref<8xf32>
}

// What an op's body loads itself may be any element: the argument is no place for its result.

// CHECK-LABEL: func.func @gathered(%arg0: memref<8xf32>, %arg1: memref<8xf32>)
// CHECK-SAME: kern.result_arguments = array<i64: -1>
// CHECK: linalg.generic {{.*}} ins(%arg0 : memref<8xf32>) outs(%arg1 : memref<8xf32>)
// CHECK-LABEL: func.func @elementwise(%arg0: memref<8xf32>)
// CHECK-SAME: kern.result_arguments = array<i64: 0>
// CHECK: linalg.generic {{.*}} ins(%arg0 : memref<8xf32>) outs(%arg0 : memref<8xf32>)
#id = affine_map<(d0) -> (d0)>
func.func @gathered(%x: memref<8xf32>) -> memref<8xf32>
    attributes {kern.program, kern.result_arguments = array<i64: 0>} {
  %seven = arith.constant 7 : index
  %a = memref.alloc() : memref<8xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : memref<8xf32>) outs(%a : memref<8xf32>) {
  ^bb0(%one: f32, %out: f32):
    %i = linalg.index 0 : index
    %j = arith.subi %seven, %i : index
    %other = memref.load %x[%j] : memref<8xf32>
    %sum = arith.addf %one, %other : f32
    linalg.yield %sum : f32
  }
  return %a : memref<8xf32>
}

func.func @elementwise(%x: memref<8xf32>) -> memref<8xf32>
    attributes {kern.program, kern.result_arguments = array<i64: 0>} {
  %a = memref.alloc() : memref<8xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : memref<8xf32>) outs(%a : memref<8xf32>) {
  ^bb0(%one: f32, %out: f32):
    %sum = arith.addf %one, %one : f32
    linalg.yield %sum : f32
  }
  return %a : memref<8xf32>
}

func.func private @make1(memref<8xf32>)
func.func private @use2(memref<8xf32>, memref<8xf32>)

// A result in another shape than its buffer: the buffer is the caller's memory in its own shape.

// CHECK-LABEL: func.func @reshaped(%arg0: memref<2x12xf32>)
// CHECK: %[[FLAT:.*]] = memref.collapse_shape %arg0
// CHECK: %[[OWN:.*]] = memref.expand_shape %[[FLAT]] {{.*}} output_shape [2, 3, 4]
// CHECK-NOT: memref.alloc
// CHECK: call @make3(%[[OWN]])
// CHECK-NOT: memref.copy
// CHECK: return{{$}}
func.func @reshaped() -> memref<2x12xf32> attributes {kern.program} {
  %a = memref.alloc() : memref<2x3x4xf32>
  func.call @make3(%a) : (memref<2x3x4xf32>) -> ()
  %flat = memref.collapse_shape %a [[0, 1, 2]] : memref<2x3x4xf32> into memref<24xf32>
  %r = memref.expand_shape %flat [[0, 1]] output_shape [2, 12] : memref<24xf32> into memref<2x12xf32>
  return %r : memref<2x12xf32>
}
func.func private @make3(memref<2x3x4xf32>)
