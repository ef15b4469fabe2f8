// RUN: %pykern-opt %s --kern-raise-to-linalg --canonicalize --cse | FileCheck %s

// Neighbours are shifted slices of one size; the guard is the size.

// CHECK-LABEL: func.func @stencil
// CHECK: tensor.extract_slice %[[X:.*]][0, 1] [%[[R:.*]], %[[C:.*]]] [1, 1]
// CHECK: tensor.extract_slice %[[X]][2, 1] [%[[R]], %[[C]]] [1, 1]
// CHECK: tensor.extract_slice %[[X]][1, 0] [%[[R]], %[[C]]] [1, 1]
// CHECK: tensor.extract_slice %[[X]][1, 2] [%[[R]], %[[C]]] [1, 1]
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK-NEXT: ^bb0
// CHECK-COUNT-3: arith.addf
// CHECK-NEXT: linalg.yield
// CHECK-NOT: arith.select
func.func @stencil(%arg0: memref<?x?xf32> {kern.name = "y"}, %arg1: memref<?x?xf32> {kern.name = "x"})
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 2 : i64} {
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  %0 = "kern.global_id"() {dim = 1 : i64} : () -> index
  %1 = "kern.global_id"() {dim = 0 : i64} : () -> index
  %2 = arith.cmpi sgt, %1, %c0 : index
  %dim = memref.dim %arg1, %c0 : memref<?x?xf32>
  %3 = arith.subi %dim, %c1 : index
  %4 = arith.cmpi slt, %1, %3 : index
  %5 = arith.andi %2, %4 : i1
  %6 = arith.cmpi sgt, %0, %c0 : index
  %dim_0 = memref.dim %arg1, %c1 : memref<?x?xf32>
  %7 = arith.subi %dim_0, %c1 : index
  %8 = arith.cmpi slt, %0, %7 : index
  %9 = arith.andi %6, %8 : i1
  %10 = arith.andi %5, %9 : i1
  scf.if %10 {
    %11 = arith.subi %1, %c1 : index
    %12 = memref.load %arg1[%11, %0] : memref<?x?xf32>
    %13 = arith.addi %1, %c1 : index
    %14 = memref.load %arg1[%13, %0] : memref<?x?xf32>
    %15 = arith.addf %12, %14 fastmath<contract> : f32
    %16 = arith.subi %0, %c1 : index
    %17 = memref.load %arg1[%1, %16] : memref<?x?xf32>
    %18 = arith.addf %15, %17 fastmath<contract> : f32
    %19 = arith.addi %0, %c1 : index
    %20 = memref.load %arg1[%1, %19] : memref<?x?xf32>
    %21 = arith.addf %18, %20 fastmath<contract> : f32
    memref.store %21, %arg0[%1, %0] : memref<?x?xf32>
  }
  return
}
