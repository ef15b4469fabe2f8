// RUN: %pykern-opt %s --kern-raise-to-linalg --canonicalize --cse | FileCheck %s

// `acc[i, index[j]] += v` in two loops crashed another compiler: the outer loop has an order, the inner one collects.

// CHECK-LABEL: func.func @two_loops_add
// CHECK: scf.for %[[J:.*]] = %c0 to {{.*}} iter_args(%[[ACC:.*]] = %{{.*}})
// CHECK: %[[PART:.*]] = tensor.extract_slice %[[ACC]][0, %[[K:.*]]]
// CHECK: linalg.generic {{.*}}["parallel", "reduction"]{{.*}} outs(%[[PART]]
// CHECK: arith.addf
// CHECK: tensor.insert_slice %{{.*}} into %[[ACC]][0, %[[K]]]
func.func @two_loops_add(%arg0: memref<?x?xf32> {kern.name = "acc"},
                         %arg1: memref<?x?xf32> {kern.name = "v"},
                         %arg2: memref<?xi32> {kern.name = "index"})
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c2 = arith.constant 2 : index
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  %0 = "kern.global_id"() {dim = 0 : i64} : () -> index
  %dim = memref.dim %arg2, %c0 : memref<?xi32>
  scf.for %arg3 = %c0 to %dim step %c1 {
    scf.for %arg4 = %c0 to %c2 step %c1 {
      %1 = memref.load %arg2[%arg3] : memref<?xi32>
      %2 = arith.index_cast %1 : i32 to index
      %3 = memref.load %arg0[%0, %2] : memref<?x?xf32>
      %4 = memref.load %arg1[%0, %arg3] : memref<?x?xf32>
      %5 = arith.addf %3, %4 fastmath<contract> : f32
      memref.store %5, %arg0[%0, %2] : memref<?x?xf32>
    }
  }
  return
}
