// RUN: %pykern-opt %s --kern-raise-to-linalg --canonicalize --cse | FileCheck %s

// Collected in memory under a condition: what fails it adds -0.

// CHECK-LABEL: func.func @conditional_sum
// CHECK: %[[NOTHING:.*]] = arith.constant -0.000000e+00
// CHECK: linalg.generic {{.*}}["parallel", "reduction"]
// CHECK: %[[YES:.*]] = arith.cmpf ogt
// CHECK: %[[ADDED:.*]] = arith.select %[[YES]], %{{.*}}, %[[NOTHING]]
// CHECK: arith.addf %{{.*}}, %[[ADDED]]
// CHECK-NOT: scf.for
func.func @conditional_sum(%arg0: memref<?xf32> {kern.name = "y"},
                           %arg1: memref<?xf32> {kern.name = "x"},
                           %arg2: memref<?xf32> {kern.name = "w"})
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %cst = arith.constant 0.000000e+00 : f32
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  %0 = "kern.global_id"() {dim = 0 : i64} : () -> index
  %dim = memref.dim %arg2, %c0 : memref<?xf32>
  scf.for %arg3 = %c0 to %dim step %c1 {
    %1 = memref.load %arg2[%arg3] : memref<?xf32>
    %2 = arith.cmpf ogt, %1, %cst : f32
    scf.if %2 {
      %3 = memref.load %arg0[%0] : memref<?xf32>
      %4 = memref.load %arg2[%arg3] : memref<?xf32>
      %5 = memref.load %arg1[%0] : memref<?xf32>
      %6 = arith.mulf %4, %5 fastmath<contract> : f32
      %7 = arith.addf %3, %6 fastmath<contract> : f32
      memref.store %7, %arg0[%0] : memref<?xf32>
    }
  }
  return
}
