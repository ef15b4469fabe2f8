// RUN: %pykern-opt %s --kern-vectorize-elementary --canonicalize --cse | FileCheck %s

// Vectors of 64 bytes, two registers of AVX2, then the loop itself for the rest, one by one. The arrays are only seen as
// one dimension.

// CHECK-LABEL: func.func @gelu
// CHECK: %[[X:.*]] = memref.collapse_shape %arg0
// CHECK: %[[Y:.*]] = memref.collapse_shape %arg1
// CHECK: %[[END:.*]] = arith.addi %arg2,
// CHECK: scf.for %[[I:.*]] = %arg2 to %[[END]] step %c16 {
// CHECK: %[[V:.*]] = vector.load %[[X]][%[[I]]] : memref<65536xf32>, vector<16xf32>
// CHECK: %[[E:.*]] = math.erf %[[V]] : vector<16xf32>
// CHECK: vector.store %[[E]], %[[Y]][%[[I]]]
// CHECK: } {llvm.loop_annotation =
// CHECK: scf.for %{{.*}} = %[[END]] to %arg3 step %c1
// CHECK: math.erf %{{.*}} : f32
// CHECK: } {llvm.loop_annotation =
func.func @gelu(%x: memref<128x512xf32>, %y: memref<128x512xf32>, %lo: index, %hi: index) attributes {kern.noalias} {
  %c1 = arith.constant 1 : index
  %u = memref.collapse_shape %x [[0, 1]] : memref<128x512xf32> into memref<65536xf32>
  %v = memref.collapse_shape %y [[0, 1]] : memref<128x512xf32> into memref<65536xf32>
  scf.for %i = %lo to %hi step %c1 {
    %a = memref.load %u[%i] : memref<65536xf32>
    %e = math.erf %a : f32
    memref.store %e, %v[%i] : memref<65536xf32>
  }
  return
}

// LLVM does as well with plain arithmetic; an array that is seen in two shapes may meet itself; short loops stay.

// CHECK-LABEL: func.func @plain
// CHECK-NOT: vector<
// CHECK-LABEL: func.func @two_shapes
// CHECK-NOT: vector<
// CHECK-LABEL: func.func @short
// CHECK-NOT: vector<
// CHECK: return
func.func @plain(%x: memref<?xf32>, %y: memref<?xf32>, %lo: index, %hi: index) attributes {kern.noalias} {
  %c1 = arith.constant 1 : index
  scf.for %i = %lo to %hi step %c1 {
    %a = memref.load %x[%i] : memref<?xf32>
    %e = math.sqrt %a : f32
    memref.store %e, %y[%i] : memref<?xf32>
  }
  return
}

func.func @two_shapes(%x: memref<128x512xf32>, %lo: index, %hi: index) attributes {kern.noalias} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %u = memref.collapse_shape %x [[0, 1]] : memref<128x512xf32> into memref<65536xf32>
  scf.for %i = %lo to %hi step %c1 {
    %a = memref.load %x[%c0, %i] : memref<128x512xf32>
    %e = math.exp %a : f32
    memref.store %e, %u[%i] : memref<65536xf32>
  }
  return
}

func.func @short(%x: memref<?xf32>, %y: memref<?xf32>) attributes {kern.noalias} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c31 = arith.constant 31 : index
  scf.for %i = %c0 to %c31 step %c1 {
    %a = memref.load %x[%i] : memref<?xf32>
    %e = math.exp %a : f32
    memref.store %e, %y[%i] : memref<?xf32>
  }
  return
}
