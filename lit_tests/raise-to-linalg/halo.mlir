// RUN: %pykern-opt %s --kern-raise-to-linalg --canonicalize --cse | FileCheck %s

// A rim of an array: a row is filled, a column but for what the row took.

// CHECK-LABEL: func.func @halo
// CHECK: %[[ROW:.*]] = linalg.fill ins(%{{.*}} : f32)
// CHECK: %[[A:.*]] = tensor.insert_slice %[[ROW]]
// CHECK: %[[LENGTH:.*]] = memref.dim %arg0, %c1
// CHECK: %[[END:.*]] = arith.addi %[[LENGTH]], %c-1
// CHECK: %[[LAST:.*]] = arith.maxsi %[[END]], %c0
// CHECK: tensor.extract_slice %[[A]][0, %[[LAST]]]
// CHECK: linalg.generic
// CHECK-NEXT: ^bb0(%[[OLD:.*]]: f32):
// CHECK-NEXT: %[[I:.*]] = linalg.index 0
// CHECK-NEXT: %[[INNER:.*]] = arith.cmpi ne, %[[I]], %c0
// CHECK-NEXT: arith.select %[[INNER]], %{{.*}}, %[[OLD]]
func.func @halo(%arg0: memref<?x?xf32> {kern.name = "y"})
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 2 : i64} {
  %cst = arith.constant 2.000000e+00 : f32
  %c1 = arith.constant 1 : index
  %cst_0 = arith.constant 1.000000e+00 : f32
  %c0 = arith.constant 0 : index
  %0 = "kern.global_id"() {dim = 1 : i64} : () -> index
  %1 = "kern.global_id"() {dim = 0 : i64} : () -> index
  %2 = arith.cmpi eq, %1, %c0 : index
  scf.if %2 {
    memref.store %cst_0, %arg0[%1, %0] : memref<?x?xf32>
  } else {
    %dim = memref.dim %arg0, %c1 : memref<?x?xf32>
    %3 = arith.subi %dim, %c1 : index
    %4 = arith.cmpi eq, %0, %3 : index
    scf.if %4 {
      memref.store %cst, %arg0[%1, %0] : memref<?x?xf32>
    }
  }
  return
}
