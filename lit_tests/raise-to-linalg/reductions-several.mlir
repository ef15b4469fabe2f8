// RUN: %pykern-opt %s --kern-raise-to-linalg --canonicalize --cse | FileCheck %s

// Two values carried by one loop are two reductions over it.

// CHECK-LABEL: func.func @several
// CHECK: linalg.fill ins(%{{.*}} : f32)
// CHECK: linalg.generic {{.*}}["parallel", "reduction"]
// CHECK: arith.addf
// CHECK: linalg.fill ins(%{{.*}} : f32)
// CHECK: linalg.generic {{.*}}["parallel", "reduction"]
// CHECK: arith.maximumf
// CHECK-NOT: scf.for
func.func @several(%arg0: memref<?xf32> {kern.name = "y"},
                   %arg1: memref<?xf32> {kern.name = "w"},
                   %arg2: memref<?x?xf32> {kern.name = "x"})
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %cst = arith.constant 0xFF800000 : f32
  %cst_0 = arith.constant 0.000000e+00 : f32
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  %0 = "kern.global_id"() {dim = 0 : i64} : () -> index
  %dim = memref.dim %arg2, %c1 : memref<?x?xf32>
  %1:2 = scf.for %arg3 = %c0 to %dim step %c1 iter_args(%arg4 = %cst_0, %arg5 = %cst) -> (f32, f32) {
    %2 = memref.load %arg2[%0, %arg3] : memref<?x?xf32>
    %3 = arith.addf %arg4, %2 fastmath<contract> : f32
    %4 = arith.maximumf %arg5, %2 : f32
    scf.yield %3, %4 : f32, f32
  }
  memref.store %1#0, %arg0[%0] : memref<?xf32>
  memref.store %1#1, %arg1[%0] : memref<?xf32>
  return
}
