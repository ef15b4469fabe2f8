// RUN: %pykern-opt %s --kern-raise-to-linalg --canonicalize --cse | FileCheck %s

// A value carried by a loop and combined with `arith.addf` is a reduction from its start.

// CHECK-LABEL: func.func @reduce_add
// CHECK: %[[START:.*]] = linalg.fill
// CHECK: linalg.generic {{.*}}["parallel", "reduction"]{{.*}} outs(%[[START]]
// CHECK: arith.addf %
// CHECK-NOT: scf.for
func.func @reduce_add(%arg0: memref<?xf32> {kern.name = "y"}, %arg1: memref<?x?xf32> {kern.name = "x"})
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %cst = arith.constant 0.000000e+00 : f32
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  %0 = "kern.global_id"() {dim = 0 : i64} : () -> index
  %dim = memref.dim %arg1, %c1 : memref<?x?xf32>
  %1 = scf.for %arg2 = %c0 to %dim step %c1 iter_args(%arg3 = %cst) -> (f32) {
    %2 = memref.load %arg1[%0, %arg2] : memref<?x?xf32>
    %3 = arith.addf %arg3, %2 fastmath<contract> : f32
    scf.yield %3 : f32
  }
  memref.store %1, %arg0[%0] : memref<?xf32>
  return
}
