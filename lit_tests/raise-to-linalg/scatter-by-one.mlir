// RUN: %pykern-opt %s --kern-raise-to-linalg --canonicalize --cse | FileCheck %s

// A launch of one work-item is a loop in order: no other one can race with it.

// CHECK-LABEL: func.func @one_work_item
// CHECK: scf.for %[[J:.*]] = %c0 to {{.*}} iter_args(%[[Y:.*]] = %{{.*}})
// CHECK: %[[NEW:.*]] = tensor.insert %{{.*}} into %[[Y]][%{{.*}}]
// CHECK: scf.yield %[[NEW]]
func.func @one_work_item(%arg0: memref<?xf32> {kern.name = "y"},
                         %arg1: memref<?xf32> {kern.name = "x"},
                         %arg2: memref<?xi32> {kern.name = "index"})
    attributes {kern.kernel, kern.ndrange = array<i64: 1>, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  %dim = memref.dim %arg2, %c0 : memref<?xi32>
  scf.for %arg3 = %c0 to %dim step %c1 {
    %0 = memref.load %arg1[%arg3] : memref<?xf32>
    %1 = memref.load %arg2[%arg3] : memref<?xi32>
    %2 = arith.index_cast %1 : i32 to index
    memref.store %0, %arg0[%2] : memref<?xf32>
  }
  return
}
