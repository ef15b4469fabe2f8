// RUN: pykern-opt %s --kern-split-angles --canonicalize | FileCheck %s

// Angles of a block are looked at before one of two loops runs.

// CHECK-LABEL: func.func @waves(
// CHECK: scf.for %[[BEGIN:.*]] = %c0 to %c1000 step %c256
// CHECK: %[[FULL:.*]] = arith.addi %[[BEGIN]], %c256
// CHECK: %[[END:.*]] = arith.minsi %[[FULL]], %c1000
// CHECK: %[[HUGE:.*]] = scf.for %[[AT:.*]] = %[[BEGIN]] to %[[END]] step %c1 iter_args(%[[FOUND:.*]] = %c0_i32) -> (i32)
// CHECK: %[[X:.*]] = memref.load %arg1[%[[AT]]]
// CHECK: %[[ANGLE:.*]] = arith.mulf %[[X]], %arg2
// CHECK: %[[SIZE:.*]] = math.absf %[[ANGLE]]
// CHECK: %[[IS:.*]] = arith.cmpf ogt, %[[SIZE]]
// CHECK: %[[BIT:.*]] = arith.extui %[[IS]]
// CHECK: arith.ori %[[FOUND]], %[[BIT]]
// CHECK: arith.cmpi ne, %[[HUGE]], %c0_i32
// CHECK: scf.if
// CHECK: scf.for %{{.*}} = %[[BEGIN]] to %[[END]] step %c1
// CHECK: math.sin %{{[^ ]*}} : f32
// CHECK: } else {
// CHECK: scf.for %{{.*}} = %[[BEGIN]] to %[[END]] step %c1
// CHECK: math.sin %{{.*}} {kern.moderate} : f32
func.func @waves(%out: memref<?xf32>, %x: memref<?xf32>, %pitch: f32)
    attributes {kern.kernel, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c1000 = arith.constant 1000 : index
  scf.for %i = %c0 to %c1000 step %c1 {
    %value = memref.load %x[%i] : memref<?xf32>
    %angle = arith.mulf %value, %pitch : f32
    %sine = math.sin %angle : f32
    memref.store %sine, %out[%i] : memref<?xf32>
  } {kern.items}
  return
}

// An angle that another function of an angle gives is not known in front of the loop.

// CHECK-LABEL: func.func @twice(
// CHECK-NOT: kern.moderate
// CHECK: return
func.func @twice(%out: memref<?xf32>, %x: memref<?xf32>) attributes {kern.kernel, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c1000 = arith.constant 1000 : index
  scf.for %i = %c0 to %c1000 step %c1 {
    %value = memref.load %x[%i] : memref<?xf32>
    %sine = math.sin %value : f32
    %again = math.sin %sine : f32
    memref.store %again, %out[%i] : memref<?xf32>
  } {kern.items}
  return
}

// Nor is one that is read where the work-item has stored.

// CHECK-LABEL: func.func @stored(
// CHECK-NOT: kern.moderate
// CHECK: return
func.func @stored(%out: memref<?xf32>, %x: memref<?xf32>) attributes {kern.kernel, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c1000 = arith.constant 1000 : index
  scf.for %i = %c0 to %c1000 step %c1 {
    %first = memref.load %x[%i] : memref<?xf32>
    memref.store %first, %out[%i] : memref<?xf32>
    %value = memref.load %out[%i] : memref<?xf32>
    %sine = math.sin %value : f32
    memref.store %sine, %x[%i] : memref<?xf32>
  } {kern.items}
  return
}

// Angles of 64 bits are left to the C library.

// CHECK-LABEL: func.func @wide(
// CHECK-NOT: kern.moderate
// CHECK: return
func.func @wide(%out: memref<?xf64>, %x: memref<?xf64>) attributes {kern.kernel, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c1000 = arith.constant 1000 : index
  scf.for %i = %c0 to %c1000 step %c1 {
    %value = memref.load %x[%i] : memref<?xf64>
    %sine = math.sin %value : f64
    memref.store %sine, %out[%i] : memref<?xf64>
  } {kern.items}
  return
}
