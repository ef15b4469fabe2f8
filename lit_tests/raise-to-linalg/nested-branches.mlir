// RUN: %pykern-opt %s --kern-raise-to-linalg --canonicalize --cse | FileCheck %s

// Each store has the conditions around it; one on an index is a slice, those on data are a select.

// CHECK-LABEL: func.func @nested_branches
// CHECK: arith.cmpf ogt
// CHECK: arith.andi
// CHECK: arith.select
// CHECK: %[[NOT:.*]] = arith.xori
// CHECK: %[[BOTH:.*]] = arith.andi %{{.*}}, %[[NOT]]
// CHECK: arith.select %[[BOTH]]
// CHECK: %[[REST:.*]] = tensor.extract_slice %{{.*}}[3] [%{{.*}}] [1]
// CHECK: linalg.generic {{.*}} outs(%[[REST]]
// CHECK: arith.select %{{.*}}, %{{.*}}, %{{.*}} : f32
// CHECK-NOT: scf.if
func.func @nested_branches(%arg0: memref<?xf32> {kern.name = "y"}, %arg1: memref<?xf32> {kern.name = "x"})
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %cst = arith.constant -1.000000e+00 : f32
  %c2 = arith.constant 2 : index
  %cst_0 = arith.constant 1.000000e+00 : f32
  %cst_1 = arith.constant 0.000000e+00 : f32
  %0 = "kern.global_id"() {dim = 0 : i64} : () -> index
  %1 = memref.load %arg1[%0] : memref<?xf32>
  %2 = arith.cmpf ogt, %1, %cst_1 : f32
  scf.if %2 {
    %3 = memref.load %arg1[%0] : memref<?xf32>
    %4 = arith.cmpf ogt, %3, %cst_0 : f32
    scf.if %4 {
      memref.store %cst_0, %arg0[%0] : memref<?xf32>
    } else {
      %5 = memref.load %arg1[%0] : memref<?xf32>
      memref.store %5, %arg0[%0] : memref<?xf32>
    }
  } else {
    %3 = arith.cmpi sgt, %0, %c2 : index
    scf.if %3 {
      memref.store %cst, %arg0[%0] : memref<?xf32>
    }
  }
  return
}
