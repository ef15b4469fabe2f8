// RUN: %pykern-opt %s --kern-raise-to-linalg --canonicalize --cse | FileCheck %s

// Forward elimination and back substitution stay two loops, over all rows at once.

// CHECK-LABEL: func.func @thomas
// CHECK: %[[DOWN:.*]] = scf.for %[[K:.*]] = %c1 to
// CHECK: %[[BEFORE:.*]] = arith.addi %[[K]], %c-1
// CHECK: tensor.extract_slice %{{.*}}[0, %[[BEFORE]]]
// CHECK: linalg.generic {{.*}}["parallel"]
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[DOWN]])
// CHECK: linalg.generic {{.*}}["parallel"]
func.func @thomas(%arg0: memref<?x?xf32> {kern.name = "x"},
                  %arg1: memref<?x?xf32> {kern.name = "a"},
                  %arg2: memref<?x?xf32> {kern.name = "d"})
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c-1 = arith.constant -1 : index
  %c2 = arith.constant 2 : index
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  %0 = "kern.global_id"() {dim = 0 : i64} : () -> index
  %dim = memref.dim %arg0, %c1 : memref<?x?xf32>
  scf.for %arg3 = %c1 to %dim step %c1 {
    %4 = memref.load %arg2[%0, %arg3] : memref<?x?xf32>
    %5 = memref.load %arg1[%0, %arg3] : memref<?x?xf32>
    %6 = arith.subi %arg3, %c1 : index
    %7 = memref.load %arg0[%0, %6] : memref<?x?xf32>
    %8 = arith.mulf %5, %7 fastmath<contract> : f32
    %9 = arith.subf %4, %8 fastmath<contract> : f32
    memref.store %9, %arg0[%0, %arg3] : memref<?x?xf32>
  }
  %1 = arith.subi %dim, %c2 : index
  %2 = arith.addi %dim, %c-1 : index
  %3 = arith.maxsi %2, %c0 : index
  scf.for %arg3 = %c0 to %3 step %c1 {
    %4 = arith.subi %1, %arg3 : index
    %5 = memref.load %arg0[%0, %4] : memref<?x?xf32>
    %6 = memref.load %arg1[%0, %4] : memref<?x?xf32>
    %7 = arith.addi %4, %c1 : index
    %8 = memref.load %arg0[%0, %7] : memref<?x?xf32>
    %9 = arith.mulf %6, %8 fastmath<contract> : f32
    %10 = arith.subf %5, %9 fastmath<contract> : f32
    memref.store %10, %arg0[%0, %4] : memref<?x?xf32>
  }
  return
}
