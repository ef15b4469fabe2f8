// RUN: %pykern-opt %s --kern-raise-to-linalg --canonicalize --cse | FileCheck %s

// Columns that are added to and read were frozen by another compiler: what was just stored is read here.

// CHECK-LABEL: func.func @columns
// CHECK: scf.for {{.*}} iter_args(%[[OUT:.*]] = %{{.*}})
// CHECK: %[[OLD:.*]] = tensor.extract_slice %[[OUT]][0, 0]
// CHECK: %[[FIRST:.*]] = linalg.generic {{.*}} outs(%[[OLD]]
// CHECK: %[[ONE:.*]] = tensor.insert_slice %[[FIRST]] into %[[OUT]][0, 0]
// CHECK: linalg.generic {{.*}} ins(%[[FIRST]],
// CHECK: %[[TWO:.*]] = tensor.insert_slice %{{.*}} into %[[ONE]][0, 1]
// CHECK: scf.yield %[[TWO]]
func.func @columns(%arg0: memref<?x?xf32> {kern.name = "out"}, %arg1: memref<?x?xf32> {kern.name = "x"})
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  %0 = "kern.global_id"() {dim = 0 : i64} : () -> index
  %dim = memref.dim %arg1, %c1 : memref<?x?xf32>
  scf.for %arg2 = %c0 to %dim step %c1 {
    %1 = memref.load %arg0[%0, %c0] : memref<?x?xf32>
    %2 = memref.load %arg1[%0, %arg2] : memref<?x?xf32>
    %3 = arith.addf %1, %2 fastmath<contract> : f32
    memref.store %3, %arg0[%0, %c0] : memref<?x?xf32>
    %4 = memref.load %arg0[%0, %c1] : memref<?x?xf32>
    %5 = memref.load %arg0[%0, %c0] : memref<?x?xf32>
    %6 = memref.load %arg1[%0, %arg2] : memref<?x?xf32>
    %7 = arith.mulf %5, %6 fastmath<contract> : f32
    %8 = arith.addf %4, %7 fastmath<contract> : f32
    memref.store %8, %arg0[%0, %c1] : memref<?x?xf32>
  }
  return
}
