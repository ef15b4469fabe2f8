// RUN: %pykern-opt %s --kern-raise-to-linalg --canonicalize --cse | FileCheck %s

// A truth that is set in a loop is collected with or; it does not depend on the work-item, so it is one.

// CHECK-LABEL: func.func @flag
// CHECK: %[[ANY:.*]] = linalg.generic {{.*}}["reduction"]{{.*}} outs(%{{.*}} : tensor<i8>)
// CHECK: arith.ori
// CHECK: linalg.generic {{.*}}["parallel"]} ins(%[[ANY]] : tensor<i8>)
// CHECK-NOT: scf.for
func.func @flag(%arg0: memref<?xf32> {kern.name = "y"},
                %arg1: memref<?xf32> {kern.name = "x"},
                %arg2: memref<?xi32> {kern.name = "index"})
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %true = arith.constant true
  %cst = arith.constant 0.000000e+00 : f32
  %false = arith.constant false
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  %0 = "kern.global_id"() {dim = 0 : i64} : () -> index
  %dim = memref.dim %arg2, %c0 : memref<?xi32>
  %1 = scf.for %arg3 = %c0 to %dim step %c1 iter_args(%arg4 = %false) -> (i1) {
    %3 = memref.load %arg2[%arg3] : memref<?xi32>
    %4 = arith.index_cast %3 : i32 to index
    %5 = memref.load %arg1[%4] : memref<?xf32>
    %6 = arith.cmpf ogt, %5, %cst : f32
    %7 = arith.select %6, %true, %arg4 : i1
    scf.yield %7 : i1
  }
  %2 = arith.uitofp %1 : i1 to f32
  memref.store %2, %arg0[%0] : memref<?xf32>
  return
}
