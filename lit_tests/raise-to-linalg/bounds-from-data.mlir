// RUN: %pykern-opt %s --kern-raise-to-linalg --canonicalize --cse | FileCheck %s

// A length that is looked up: the loop runs to the greatest of them, the rest adds -0.

// CHECK-LABEL: func.func @rows_of_any_length
// CHECK: linalg.generic {{.*}}["reduction"]
// CHECK: arith.maxsi
// CHECK: %[[MOST:.*]] = tensor.extract %{{.*}}[] : tensor<index>
// CHECK: arith.minsi %[[MOST]]
// CHECK: linalg.generic {{.*}}["parallel", "reduction"]
// CHECK: %[[J:.*]] = linalg.index 1
// CHECK: %[[IN:.*]] = arith.cmpi slt, %[[J]]
// CHECK: arith.select %[[IN]]
func.func @rows_of_any_length(%arg0: memref<?xf32> {kern.name = "y"},
                              %arg1: memref<?x?xf32> {kern.name = "x"},
                              %arg2: memref<?xi32> {kern.name = "n"})
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %cst = arith.constant 0.000000e+00 : f32
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  %0 = "kern.global_id"() {dim = 0 : i64} : () -> index
  %1 = memref.load %arg2[%0] : memref<?xi32>
  %2 = arith.index_cast %1 : i32 to index
  %3 = scf.for %arg3 = %c0 to %2 step %c1 iter_args(%arg4 = %cst) -> (f32) {
    %4 = memref.load %arg1[%0, %arg3] : memref<?x?xf32>
    %5 = arith.addf %arg4, %4 fastmath<contract> : f32
    scf.yield %5 : f32
  }
  memref.store %3, %arg0[%0] : memref<?xf32>
  return
}
