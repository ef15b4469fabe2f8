// RUN: %pykern-opt %s --split-input-file --kern-version-short-rows | FileCheck %s

// Where a pixel has three colours the loop knows it, or four of which three are used; elsewhere a copy runs as it is.

// CHECK-LABEL: func.func @red_and_blue
// CHECK: %[[LENGTH:.*]] = memref.dim %arg1, %c2
// CHECK: %[[SHORT:.*]] = arith.cmpi eq, %[[LENGTH]], %c3
// CHECK: scf.if %[[SHORT]] {
// CHECK-NEXT: %[[KNOWN:.*]] = memref.cast %arg1 : memref<?x?x?xf32> to memref<?x?x3xf32>
// CHECK-NEXT: scf.for
// CHECK-NEXT: memref.load %[[KNOWN]]
// CHECK-NEXT: memref.load %[[KNOWN]]
// CHECK: memref.store %{{.*}}, %arg0
// CHECK: } else {
// CHECK: %[[PADDED:.*]] = arith.cmpi eq, %{{.*}}, %c4
// CHECK: scf.if %[[PADDED]] {
// CHECK-NEXT: memref.cast %arg1 : memref<?x?x?xf32> to memref<?x?x4xf32>
// CHECK: } else {
// CHECK-NEXT: scf.for
// CHECK-NEXT: memref.load %arg1
// CHECK-NEXT: memref.load %arg1
func.func @red_and_blue(%z: memref<?x?xf32>, %x: memref<?x?x?xf32>, %n: index, %m: index)
    attributes {kern.kernel, kern.noalias} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %m step %c1 {
      %r = memref.load %x[%i, %j, %c0] : memref<?x?x?xf32>
      %b = memref.load %x[%i, %j, %c2] : memref<?x?x?xf32>
      %s = arith.addf %r, %b : f32
      memref.store %s, %z[%i, %j] : memref<?x?xf32>
    }
  }
  return
}

// -----

// Sums that the loop carries come from either version.

// CHECK-LABEL: func.func @sum
// CHECK: %[[SUM:.*]] = scf.if %{{.*}} -> (f32) {
// CHECK: scf.for {{.*}} iter_args
// CHECK: memref.load %{{.*}} : memref<?x2x2xf32>
// CHECK: scf.yield
// CHECK: scf.yield
// CHECK: } else {
// CHECK: scf.for {{.*}} iter_args
// CHECK: memref.store %[[SUM]], %arg1
func.func @sum(%x: memref<?x?x?xf32>, %z: memref<f32>, %n: index) attributes {kern.kernel, kern.noalias} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%held = %zero) -> f32 {
    %a = memref.load %x[%i, %c1, %c0] : memref<?x?x?xf32>
    %b = memref.load %x[%i, %c0, %c1] : memref<?x?x?xf32>
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %held, %p : f32
    scf.yield %s : f32
  }
  memref.store %sum, %z[] : memref<f32>
  return
}

// -----

// One element of a row, a row that stays the same, a row of nine: no version.

// CHECK-LABEL: func.func @none
// CHECK-NOT: scf.if
func.func @none(%z: memref<?xf32>, %x: memref<?x?xf32>, %i: index, %n: index) attributes {kern.kernel, kern.noalias} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %j = %c0 to %n step %c1 {
    %a = memref.load %x[%j, %c0] : memref<?x?xf32>
    memref.store %a, %z[%j] : memref<?xf32>
  }
  scf.for %j = %c0 to %n step %c1 {
    %a = memref.load %x[%i, %c1] : memref<?x?xf32>
    memref.store %a, %z[%j] : memref<?xf32>
  }
  scf.for %j = %c0 to %n step %c1 {
    %a = memref.load %x[%j, %c8] : memref<?x?xf32>
    memref.store %a, %z[%j] : memref<?xf32>
  }
  return
}
