// RUN: %pykern-opt %s --split-input-file --kern-raise-to-linalg --canonicalize --cse | FileCheck %s

// `c[i * 8 + j] += a[i * 6 + k] * b[k * 8 + j]`: rows and columns of flat arrays are dimensions.

// CHECK-LABEL: func.func @product
// CHECK-DAG: tensor.expand_shape %{{.*}} {{.*}} output_shape [4, 8] : tensor<32xf64> into tensor<4x8xf64>
// CHECK-DAG: tensor.expand_shape %{{.*}} {{.*}} output_shape [4, 6] : tensor<24xf64> into tensor<4x6xf64>
// CHECK-DAG: tensor.expand_shape %{{.*}} {{.*}} output_shape [6, 8] : tensor<48xf64> into tensor<6x8xf64>
// CHECK: linalg.{{matmul|generic}}
// CHECK: tensor.collapse_shape {{.*}} : tensor<4x8xf64> into tensor<32xf64>
// CHECK: bufferization.materialize_in_destination
func.func @product(%c: memref<32xf64>, %a: memref<24xf64>, %b: memref<48xf64>)
    attributes {kern.kernel, kern.ndrange = array<i64: 4, 8>, kern.noalias, kern.plain, kern.rank = 2 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %c8 = arith.constant 8 : index
  %i = "kern.global_id"() {dim = 0 : i64} : () -> index
  %j = "kern.global_id"() {dim = 1 : i64} : () -> index
  %r = arith.muli %i, %c8 : index
  %at = arith.addi %r, %j : index
  scf.for %k = %c0 to %c6 step %c1 {
    %ar = arith.muli %i, %c6 : index
    %ai = arith.addi %ar, %k : index
    %br = arith.muli %k, %c8 : index
    %bi = arith.addi %br, %j : index
    %0 = memref.load %c[%at] : memref<32xf64>
    %1 = memref.load %a[%ai] : memref<24xf64>
    %2 = memref.load %b[%bi] : memref<48xf64>
    %3 = arith.mulf %1, %2 : f64
    %4 = arith.addf %0, %3 : f64
    memref.store %4, %c[%at] : memref<32xf64>
  }
  return
}

// -----

// A launch of whole blocks goes beyond the rows, and a guard ends it: the rows are those of the guard.

// CHECK-LABEL: func.func @guarded
// CHECK: tensor.expand_shape %{{.*}} {{.*}} output_shape [3, 5] : tensor<15xf64> into tensor<3x5xf64>
// CHECK-NOT: scf.for
func.func @guarded(%x: memref<15xf64>)
    attributes {kern.kernel, kern.ndrange = array<i64: 8, 8>, kern.noalias, kern.plain, kern.rank = 2 : i64} {
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %i = "kern.global_id"() {dim = 0 : i64} : () -> index
  %j = "kern.global_id"() {dim = 1 : i64} : () -> index
  %0 = arith.cmpi slt, %i, %c3 : index
  %1 = arith.cmpi slt, %j, %c5 : index
  %2 = arith.andi %0, %1 : i1
  scf.if %2 {
    %r = arith.muli %i, %c5 : index
    %at = arith.addi %r, %j : index
    %3 = memref.load %x[%at] : memref<15xf64>
    %4 = arith.addf %3, %3 : f64
    memref.store %4, %x[%at] : memref<15xf64>
  }
  return
}

// -----

// `x[i * 4 + j]` with j up to 5 goes beyond a row of 4, so x stays flat; y, at `j * 4 + i`, has rows.

// CHECK-LABEL: func.func @beyond
// CHECK: tensor.expand_shape {{.*}} : tensor<20xf64> into tensor<5x4xf64>
// CHECK-NOT: tensor.expand_shape
func.func @beyond(%y: memref<20xf64>, %x: memref<40xf64>)
    attributes {kern.kernel, kern.ndrange = array<i64: 4, 5>, kern.noalias, kern.plain, kern.rank = 2 : i64} {
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %i = "kern.global_id"() {dim = 0 : i64} : () -> index
  %j = "kern.global_id"() {dim = 1 : i64} : () -> index
  %r = arith.muli %j, %c4 : index
  %at = arith.addi %r, %i : index
  %s = arith.muli %i, %c4 : index
  %from = arith.addi %s, %j : index
  %t = arith.muli %at, %c2 : index
  %0 = memref.load %x[%from] : memref<40xf64>
  %1 = memref.load %x[%t] : memref<40xf64>
  %2 = arith.addf %0, %1 : f64
  %n = arith.index_cast %from : index to i64
  %3 = arith.sitofp %n : i64 to f64
  %4 = arith.addf %2, %3 : f64
  memref.store %4, %y[%at] : memref<20xf64>
  return
}
