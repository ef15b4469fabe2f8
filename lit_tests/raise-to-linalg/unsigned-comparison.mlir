// RUN: %pykern-opt %s --kern-raise-to-linalg --canonicalize --cse | FileCheck %s

// An unsigned comparison stays one.

// CHECK-LABEL: func.func @unsigned
// CHECK: ^bb0(%[[A:.*]]: i32, %[[B:.*]]: i32, %{{.*}}: i8):
// CHECK-NEXT: arith.cmpi ult, %[[A]], %[[B]]
func.func @unsigned(%arg0: memref<?xi8> {kern.name = "y"},
                    %arg1: memref<?xi32> {kern.name = "a"},
                    %arg2: memref<?xi32> {kern.name = "b"})
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %0 = "kern.global_id"() {dim = 0 : i64} : () -> index
  %1 = memref.load %arg1[%0] : memref<?xi32>
  %2 = memref.load %arg2[%0] : memref<?xi32>
  %3 = arith.cmpi ult, %1, %2 : i32
  %4 = arith.extui %3 : i1 to i8
  memref.store %4, %arg0[%0] : memref<?xi8>
  return
}
