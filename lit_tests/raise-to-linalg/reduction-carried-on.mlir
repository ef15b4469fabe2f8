// RUN: %pykern-opt %s --kern-raise-to-linalg --canonicalize --cse | FileCheck %s

// What one loop collects the next one reads: a tensor of its own.

// CHECK-LABEL: func.func @carried_on
// CHECK: %[[NEW:.*]] = tensor.empty(%{{.*}}) : tensor<?xf32>
// CHECK: %[[ZERO:.*]] = linalg.fill {{.*}} outs(%[[NEW]]
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}}["parallel", "reduction"]{{.*}} outs(%[[ZERO]]
// CHECK: linalg.generic {{.*}}["parallel", "parallel"]} ins(%{{.*}}, %[[SUM]] :
// CHECK: arith.divf
// CHECK-NOT: scf.for
func.func @carried_on(%arg0: memref<?x?xf32> {kern.name = "y"}, %arg1: memref<?x?xf32> {kern.name = "x"})
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
  scf.for %arg2 = %c0 to %dim step %c1 {
    %2 = memref.load %arg1[%0, %arg2] : memref<?x?xf32>
    %3 = arith.divf %2, %1 fastmath<contract> : f32
    memref.store %3, %arg0[%0, %arg2] : memref<?x?xf32>
  }
  return
}
