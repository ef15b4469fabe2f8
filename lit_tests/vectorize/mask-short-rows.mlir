// RUN: %pykern-opt %s --split-input-file --kern-mask-short-rows | FileCheck %s

// A stencil whose rows have 16 vectors at most runs with masks.

// CHECK: #[[MASKED:.*]] = #llvm.loop_vectorize<predicateEnable = true>
// CHECK: #[[SHORT:.*]] = #llvm.loop_annotation<vectorize = #[[MASKED]]>
// CHECK-LABEL: func.func @two_rows
// CHECK: scf.for
// CHECK: %[[COUNT:.*]] = arith.subi %arg3, %c0
// CHECK: %[[FEW:.*]] = arith.cmpi sle, %[[COUNT]], %c256
// CHECK: scf.if %[[FEW]] {
// CHECK-NEXT: scf.for
// CHECK: } {llvm.loop_annotation = #[[SHORT]]}
// CHECK-NEXT: } else {
// CHECK-NEXT: scf.for
// CHECK-NOT: {llvm.loop_annotation
// CHECK: return
func.func @two_rows(%z: memref<?x?xf32>, %x: memref<?x?xf32>, %n: index, %m: index)
    attributes {kern.kernel, kern.noalias} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %below = arith.addi %i, %c1 : index
    scf.for %j = %c0 to %m step %c1 {
      %a = memref.load %x[%i, %j] : memref<?x?xf32>
      %b = memref.load %x[%below, %j] : memref<?x?xf32>
      %s = arith.addf %a, %b : f32
      memref.store %s, %z[%i, %j] : memref<?x?xf32>
    }
  }
  return
}

// -----

// Where the length is known there is no question; one row is left to LLVM, and so are rows in place.

// CHECK-LABEL: func.func @known
// CHECK-NOT: scf.if
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c100
// CHECK: } {llvm.loop_annotation
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c1000
// CHECK-NOT: {llvm.loop_annotation
// CHECK: return
func.func @known(%z: memref<?x?xf32>, %x: memref<?x?xf32>, %i: index) attributes {kern.kernel, kern.noalias} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c100 = arith.constant 100 : index
  %c1000 = arith.constant 1000 : index
  %below = arith.addi %i, %c1 : index
  scf.for %j = %c0 to %c100 step %c1 {
    %a = memref.load %x[%i, %j] : memref<?x?xf32>
    %b = memref.load %x[%below, %j] : memref<?x?xf32>
    %s = arith.addf %a, %b : f32
    memref.store %s, %z[%i, %j] : memref<?x?xf32>
  }
  scf.for %j = %c0 to %c1000 step %c1 {
    %a = memref.load %x[%i, %j] : memref<?x?xf32>
    %b = memref.load %x[%below, %j] : memref<?x?xf32>
    %s = arith.addf %a, %b : f32
    memref.store %s, %z[%i, %j] : memref<?x?xf32>
  }
  scf.for %j = %c0 to %c100 step %c1 {
    %a = memref.load %x[%i, %j] : memref<?x?xf32>
    memref.store %a, %z[%i, %j] : memref<?x?xf32>
  }
  scf.for %j = %c0 to %c100 step %c1 {
    %a = memref.load %x[%i, %j] : memref<?x?xf32>
    %b = memref.load %x[%below, %j] : memref<?x?xf32>
    %s = arith.addf %a, %b : f32
    memref.store %s, %x[%i, %j] : memref<?x?xf32>
  }
  return
}

// -----

// Eight lanes leave little behind, and integers are divided one by one: no masks.

// CHECK-LABEL: func.func @none
// CHECK-NOT: scf.if
// CHECK-NOT: {llvm.loop_annotation
// CHECK: return
func.func @none(%z: memref<?x?xf64>, %x: memref<?x?xf64>, %u: memref<?x?xi32>, %v: memref<?x?xi32>, %i: index)
    attributes {kern.kernel, kern.noalias} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c100 = arith.constant 100 : index
  %below = arith.addi %i, %c1 : index
  scf.for %j = %c0 to %c100 step %c1 {
    %a = memref.load %x[%i, %j] : memref<?x?xf64>
    %b = memref.load %x[%below, %j] : memref<?x?xf64>
    %s = arith.addf %a, %b : f64
    memref.store %s, %z[%i, %j] : memref<?x?xf64>
  }
  scf.for %j = %c0 to %c100 step %c1 {
    %a = memref.load %u[%i, %j] : memref<?x?xi32>
    %b = memref.load %u[%below, %j] : memref<?x?xi32>
    %s = arith.divsi %a, %b : i32
    memref.store %s, %v[%i, %j] : memref<?x?xi32>
  }
  return
}
