// RUN: %pykern-opt %s --kern-raise-to-linalg --canonicalize --cse | FileCheck %s

// A value carried by a loop is collected in the place it is stored to.

// CHECK-LABEL: func.func @row_sum
// CHECK: %[[Y:.*]] = tensor.extract_slice
// CHECK: %[[F:.*]] = linalg.fill ins(%{{.*}} : f32) outs(%[[Y]] : tensor<?xf32>)
// CHECK: linalg.generic {{.*}}["parallel", "reduction"]} ins(%{{.*}} : tensor<?x?xf32>) outs(%[[F]] : tensor<?xf32>)
// CHECK-NOT: scf.for
func.func @row_sum(%y: memref<?xf32>, %x: memref<?x?xf32>)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %i = "kern.global_id"() {dim = 0 : i64} : () -> index
  %m = memref.dim %x, %c1 : memref<?x?xf32>
  %s = scf.for %j = %c0 to %m step %c1 iter_args(%acc = %zero) -> (f32) {
    %0 = memref.load %x[%i, %j] : memref<?x?xf32>
    %1 = arith.addf %acc, %0 : f32
    scf.yield %1 : f32
  }
  memref.store %s, %y[%i] : memref<?xf32>
  return
}

// Collected in memory; the product of two arrays has a name.

// CHECK-LABEL: func.func @matmul
// CHECK: linalg.matmul ins(%{{.*}}, %{{.*}} : tensor<?x?xf32>, tensor<?x?xf32>) outs(%{{.*}} : tensor<?x?xf32>)
// CHECK-NOT: scf.for
func.func @matmul(%c: memref<?x?xf32>, %a: memref<?x?xf32>, %b: memref<?x?xf32>)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 2 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %i = "kern.global_id"() {dim = 0 : i64} : () -> index
  %j = "kern.global_id"() {dim = 1 : i64} : () -> index
  %n = memref.dim %a, %c1 : memref<?x?xf32>
  scf.for %k = %c0 to %n step %c1 {
    %0 = memref.load %a[%i, %k] : memref<?x?xf32>
    %1 = memref.load %b[%k, %j] : memref<?x?xf32>
    %2 = arith.mulf %0, %1 : f32
    %3 = memref.load %c[%i, %j] : memref<?x?xf32>
    %4 = arith.addf %3, %2 : f32
    memref.store %4, %c[%i, %j] : memref<?x?xf32>
  }
  return
}

// Up to the diagonal: the loop runs over all rows, and what is beyond adds nothing, not even to -0.

// CHECK-LABEL: func.func @triangle
// CHECK: linalg.generic {{.*}}["parallel", "reduction"]
// CHECK: %[[IN:.*]] = arith.cmpi slt
// CHECK: arith.select %[[IN]], %{{.*}}, %{{.*}} : f32
// CHECK: arith.addf
func.func @triangle(%y: memref<?xf32>, %x: memref<?x?xf32>)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %i = "kern.global_id"() {dim = 0 : i64} : () -> index
  %m = arith.addi %i, %c1 : index
  %s = scf.for %j = %c0 to %m step %c1 iter_args(%acc = %zero) -> (f32) {
    %0 = memref.load %x[%i, %j] : memref<?x?xf32>
    %1 = arith.addf %acc, %0 : f32
    scf.yield %1 : f32
  }
  memref.store %s, %y[%i] : memref<?xf32>
  return
}
