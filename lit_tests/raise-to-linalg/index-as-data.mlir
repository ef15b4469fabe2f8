// RUN: %pykern-opt %s --kern-raise-to-linalg --canonicalize --cse | FileCheck %s

// The index is the position in the box; the one cell that all read is a tensor of rank 0.

// CHECK-LABEL: func.func @broadcast
// CHECK: tensor.extract_slice %{{.*}}[0] [1] [1] : tensor<?xf32> to tensor<f32>
// CHECK: %[[I:.*]] = linalg.index 0
// CHECK: arith.index_cast %[[I]] : index to i64
// CHECK: arith.sitofp
func.func @broadcast(%arg0: memref<?xf32> {kern.name = "y"}, %arg1: memref<?xf32> {kern.name = "x"})
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %0 = "kern.global_id"() {dim = 0 : i64} : () -> index
  %1 = memref.load %arg1[%c0] : memref<?xf32>
  %2 = arith.index_cast %0 : index to i64
  %3 = arith.sitofp %2 : i64 to f32
  %4 = arith.mulf %1, %3 fastmath<contract> : f32
  memref.store %4, %arg0[%0] : memref<?xf32>
  return
}
