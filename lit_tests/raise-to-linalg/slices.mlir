// RUN: %pykern-opt %s --kern-raise-to-linalg --canonicalize --cse | FileCheck %s

// An offset and a stride are those of a slice; a copy between slices needs no op.

// CHECK-LABEL: func.func @slices
// CHECK: %[[PART:.*]] = tensor.extract_slice %{{.*}}[3] [%[[N:.*]]] [1]
// CHECK-NEXT: tensor.insert_slice %[[PART]] into %{{.*}}[1] [%[[N]]] [2]
// CHECK-NOT: linalg
func.func @slices(%arg0: memref<?xf32> {kern.name = "y"}, %arg1: memref<?xf32> {kern.name = "x"})
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %0 = "kern.global_id"() {dim = 0 : i64} : () -> index
  %1 = arith.addi %0, %c3 : index
  %2 = memref.load %arg1[%1] : memref<?xf32>
  %3 = arith.muli %0, %c2 : index
  %4 = arith.addi %3, %c1 : index
  memref.store %2, %arg0[%4] : memref<?xf32>
  return
}
