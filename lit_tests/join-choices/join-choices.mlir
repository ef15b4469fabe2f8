// RUN: %pykern-opt %s --kern-join-choices --canonicalize | FileCheck %s

// Both choices keep what the loop carries: one is left, and the comparison that waits for it is the last.

// CHECK-LABEL: func.func @nearest
// CHECK: scf.for {{.*}} iter_args(%[[BEST:.*]] = %arg1)
// CHECK: %[[WAITS:.*]] = arith.cmpf olt, %{{.*}}, %[[BEST]]
// CHECK: %[[FIRST:.*]] = arith.andi %{{.*}}, %{{.*}} : i1
// CHECK: %[[ALL:.*]] = arith.andi %[[FIRST]], %[[WAITS]] : i1
// CHECK: %[[NEXT:.*]] = arith.select %[[ALL]], %{{.*}}, %[[BEST]] : f32
// CHECK-NOT: arith.select
// CHECK: scf.yield %[[NEXT]]
func.func @nearest(%x: memref<?xf32>, %far: f32, %n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%best = %far) -> (f32) {
    %h = memref.load %x[%k] : memref<?xf32>
    %hit = arith.cmpf ogt, %h, %zero : f32
    %t = arith.addf %h, %h : f32
    %less = arith.cmpf olt, %t, %best : f32
    %front = arith.cmpf olt, %t, %far : f32
    %both = arith.andi %less, %front : i1
    %a = arith.select %both, %t, %best : f32
    %b = arith.select %hit, %a, %best : f32
    scf.yield %b : f32
  }
  return %r : f32
}

// Integers that would have wrapped around may be compared: what is not asked for may be anything.

// CHECK-LABEL: func.func @integers
// CHECK-COUNT-2: arith.select
func.func @integers(%x: memref<?xi32>, %far: i32, %n: index) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%best = %far) -> (i32) {
    %h = memref.load %x[%k] : memref<?xi32>
    %hit = arith.cmpi sgt, %h, %zero : i32
    %less = arith.cmpi slt, %h, %best : i32
    %a = arith.select %less, %h, %best : i32
    %b = arith.select %hit, %a, %best : i32
    scf.yield %b : i32
  }
  return %r : i32
}
