// RUN: %pykern-opt %s --pass-pipeline="builtin.module(kern-interchange-strides,canonicalize,cse)" | FileCheck %s

// Each step of the launch, and the neighbours of a group in it; a work-item is its place less the step's.

// CHECK-LABEL: func.func @strided
// CHECK: scf.for %[[STEP:.*]] = %arg2 to %arg3 step %arg4
// CHECK: %[[END:.*]] = arith.addi %[[STEP]], %arg5
// CHECK: %[[LAST:.*]] = arith.minsi %[[END]], %arg3
// CHECK: scf.for %[[K:.*]] = %[[STEP]] to %[[LAST]] step %c1
// CHECK: %[[ITEM:.*]] = arith.subi %[[K]], %[[STEP]]
// CHECK: memref.load %arg0[%[[K]]]
// CHECK: memref.store %{{.*}}, %arg1[%[[ITEM]]]
// CHECK: kern.group_items
func.func @strided(%x: memref<?xf32>, %o: memref<?xf32>, %origin: index, %n: index, %by: index, %count: index)
    attributes {kern.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %item = %c0 to %count step %c1 {
    %first = arith.addi %origin, %item : index
    scf.for %k = %first to %n step %by {
      %v = memref.load %x[%k] : memref<?xf32>
      memref.store %v, %o[%item] : memref<?xf32>
    }
  } {kern.group_items}
  return
}

// Not what carries a sum, nor where the work-item does something else.

// CHECK-LABEL: func.func @kept
// CHECK: scf.for %{{.*}} = %c0 to %arg5
// CHECK:   scf.for {{.*}} iter_args
// CHECK:   memref.store
// CHECK-NOT: kern.group_items
func.func @kept(%x: memref<?xf32>, %o: memref<?xf32>, %origin: index, %n: index, %by: index, %count: index)
    attributes {kern.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  scf.for %item = %c0 to %count step %c1 {
    %first = arith.addi %origin, %item : index
    %s = scf.for %k = %first to %n step %by iter_args(%t = %zero) -> (f32) {
      %v = memref.load %x[%k] : memref<?xf32>
      %w = arith.addf %t, %v : f32
      scf.yield %w : f32
    }
    memref.store %s, %o[%item] : memref<?xf32>
  } {kern.group_items}
  return
}

// Without groups: all work-items of the part take each step together.

// CHECK-LABEL: func.func @of_the_launch
// CHECK: scf.for %[[STEP:.*]] = %arg2 to %arg4 step %arg5
// CHECK: scf.for %[[K:.*]] = %[[STEP]] to %{{.*}} step %c1
// CHECK: memref.load %arg0[%[[K]]]
// CHECK: kern.items
func.func @of_the_launch(%x: memref<?xf32>, %o: memref<?xf32>, %lo: index, %hi: index, %n: index, %by: index)
    attributes {kern.kernel} {
  %c1 = arith.constant 1 : index
  scf.for %i = %lo to %hi step %c1 {
    scf.for %k = %i to %n step %by {
      %v = memref.load %x[%k] : memref<?xf32>
      memref.store %v, %o[%k] : memref<?xf32>
    }
  } {kern.items}
  return
}
