// RUN: %pykern-opt %s --kern-narrow-indices --canonicalize | FileCheck %s

// Sizes known at launch: what comes into the innermost loop is tested, and the wide loop is left as it is.

// CHECK: #[[COLD:.*]] = #llvm.loop_annotation<
// CHECK-LABEL: func.func @sizes
// CHECK-SAME: %[[N:[a-z0-9]+]]: index, %[[M:[a-z0-9]+]]: index)
// CHECK: scf.for %[[I:.*]] = %c0 to %[[N]]
// CHECK: %[[P:.*]] = arith.muli %[[I]], %c7 : index
// CHECK-DAG: arith.cmpi sge, %[[P]], %c-1073741824
// CHECK-DAG: arith.cmpi sle, %[[P]], %c1073741824
// CHECK-DAG: arith.cmpi sge, %[[M]], %c-1073741824
// CHECK-DAG: arith.cmpi sle, %[[M]], %c1073741824
// CHECK: scf.if
// CHECK-NEXT: %[[NP:.*]] = arith.index_cast %[[P]] : index to i32
// CHECK-NEXT: scf.for
// CHECK: %[[S:.*]] = arith.addi %[[NP]], %{{.*}} overflow<nsw> : i32
// CHECK: arith.sitofp %[[S]] : i32 to f32
// CHECK: else
// CHECK: arith.sitofp %{{.*}} : i64 to f32
// CHECK: llvm.loop_annotation = #[[COLD]]
func.func @sizes(%x: memref<?x?xf32>, %n: index, %m: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  scf.for %i = %c0 to %n step %c1 {
    %p = arith.muli %i, %c7 : index
    scf.for %j = %c0 to %m step %c1 {
      %s = arith.addi %p, %j : index
      %w = arith.index_cast %s : index to i64
      %f = arith.sitofp %w : i64 to f32
      memref.store %f, %x[%i, %j] : memref<?x?xf32>
    }
  }
  return
}

// A product needs a lower limit.

// CHECK-LABEL: func.func @product
// CHECK: arith.cmpi sle, %{{.*}}, %c262144
// CHECK: arith.muli %{{.*}}, %c5000_i32 overflow<nsw> : i32
func.func @product(%x: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5000 = arith.constant 5000 : index
  scf.for %i = %c0 to %n step %c1 {
    %p = arith.muli %i, %c5000 : index
    %w = arith.index_cast %p : index to i64
    %f = arith.sitofp %w : i64 to f32
    memref.store %f, %x[%i] : memref<?xf32>
  }
  return
}

// What is loaded may be anything, and so may a square of what is large: one version.

// CHECK-LABEL: func.func @anything
// CHECK-NOT: scf.if
// CHECK: arith.sitofp %{{.*}} : i64 to f32
// CHECK: arith.sitofp %{{.*}} : i64 to f32
// CHECK: return
func.func @anything(%x: memref<?xf32>, %y: memref<?xi64>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %w = memref.load %y[%i] : memref<?xi64>
    %f = arith.sitofp %w : i64 to f32
    memref.store %f, %x[%i] : memref<?xf32>
    %s = arith.muli %i, %i : index
    %v = arith.index_cast %s : index to i64
    %g = arith.sitofp %v : i64 to f32
    memref.store %g, %x[%i] : memref<?xf32>
  }
  return
}
