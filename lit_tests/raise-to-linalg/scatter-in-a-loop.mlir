// RUN: %pykern-opt %s --kern-raise-to-linalg --canonicalize --cse | FileCheck %s

// Stores to looked-up columns go in the order of the loop, for all rows at once: the last one wins.

// CHECK-LABEL: func.func @scatter_in_a_loop
// CHECK: scf.for %[[J:.*]] = %c0 to {{.*}} iter_args(%[[Y:.*]] = %{{.*}})
// CHECK: %[[AT:.*]] = tensor.extract %{{.*}}[%[[J]]] : tensor<?xi32>
// CHECK: %[[K:.*]] = arith.index_cast %[[AT]]
// CHECK: %[[NEW:.*]] = tensor.insert_slice %{{.*}} into %[[Y]][0, %[[K]]]
// CHECK: scf.yield %[[NEW]]
func.func @scatter_in_a_loop(%arg0: memref<?x?xf32> {kern.name = "y"},
                             %arg1: memref<?x?xf32> {kern.name = "x"},
                             %arg2: memref<?xi32> {kern.name = "index"})
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  %0 = "kern.global_id"() {dim = 0 : i64} : () -> index
  %dim = memref.dim %arg2, %c0 : memref<?xi32>
  scf.for %arg3 = %c0 to %dim step %c1 {
    %1 = memref.load %arg1[%0, %arg3] : memref<?x?xf32>
    %2 = memref.load %arg2[%arg3] : memref<?xi32>
    %3 = arith.index_cast %2 : i32 to index
    memref.store %1, %arg0[%0, %3] : memref<?x?xf32>
  }
  return
}
