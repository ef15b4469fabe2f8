// RUN: %pykern-opt %s --pass-pipeline="builtin.module(kern-narrow-indices{everywhere=true},canonicalize)" | FileCheck %s

// What has 32 bits unsigned is not compared, divided or converted as if it were signed.

// CHECK-LABEL: func.func @unsigned
// CHECK: arith.cmpi slt, %{{.*}}, %c40 : index
// CHECK: arith.divsi %{{.*}}, %c2 : index
// CHECK-NOT: i32
func.func @unsigned(%x: memref<?xi1>, %y: memref<?xindex>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c40 = arith.constant 40 : index
  %n = arith.constant 4000000000 : index
  scf.for %i = %c0 to %n step %c1 {
    %a = arith.cmpi slt, %i, %c40 : index
    memref.store %a, %x[%i] : memref<?xi1>
    %b = arith.divsi %i, %c2 : index
    memref.store %b, %y[%i] : memref<?xindex>
  }
  return
}

// A shift by 40 is defined in 64 bits only; by 3 it may overflow 32 bits or not.

// CHECK-LABEL: func.func @shifts
// CHECK: arith.shrsi %{{.*}}, %c40 : index
// CHECK: arith.shli %{{.*}}, %c3_i32 overflow<nsw> : i32
// CHECK: arith.shli %{{.*}}, %c20 : index
func.func @shifts(%x: memref<3xindex>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c20 = arith.constant 20 : index
  %c40 = arith.constant 40 : index
  %n = arith.constant 4000 : index
  scf.for %i = %c0 to %n step %c1 {
    %a = arith.shrsi %i, %c40 : index
    memref.store %a, %x[%c0] : memref<3xindex>
    %b = arith.shli %i, %c3 : index
    memref.store %b, %x[%c1] : memref<3xindex>
    %c = arith.shli %i, %c20 : index
    memref.store %c, %x[%c2] : memref<3xindex>
  }
  return
}

// Sign extension keeps the unsigned order; an unsigned division of what may be negative stays.

// CHECK-LABEL: func.func @order
// CHECK: %[[S:.*]] = arith.addi %{{.*}}, %c-5_i32 overflow<nsw> : i32
// CHECK: arith.cmpi ult, %[[S]], %c40_i32 : i32
// CHECK: arith.divui %{{.*}}, %c3 : index
func.func @order(%x: memref<?xi1>, %y: memref<?xindex>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %m5 = arith.constant -5 : index
  %c40 = arith.constant 40 : index
  %n = arith.constant 100 : index
  scf.for %i = %c0 to %n step %c1 {
    %s = arith.addi %i, %m5 : index
    %a = arith.cmpi ult, %s, %c40 : index
    memref.store %a, %x[%i] : memref<?xi1>
    %b = arith.divui %s, %c3 : index
    memref.store %b, %y[%i] : memref<?xindex>
  }
  return
}

// -2^31 % -1 is 0 in 64 bits and a trap in 32.

// CHECK-LABEL: func.func @trap
// CHECK: arith.remsi %{{.*}} : i64
// CHECK-LABEL: func.func @no_trap
// CHECK: arith.remsi %{{.*}} : i32
func.func @trap(%a: i32, %b: i32) -> f64 {
  %wa = arith.extsi %a : i32 to i64
  %wb = arith.extsi %b : i32 to i64
  %r = arith.remsi %wa, %wb : i64
  %f = arith.sitofp %r : i64 to f64
  return %f : f64
}

func.func @no_trap(%a: i32, %b: i8) -> f64 {
  %wa = arith.extsi %a : i32 to i64
  %c1 = arith.constant 1 : i64
  %c200 = arith.constant 200 : i64
  %wb = arith.extsi %b : i8 to i64
  %s = arith.addi %wb, %c200 : i64
  %r = arith.remsi %wa, %s : i64
  %f = arith.sitofp %r : i64 to f64
  return %f : f64
}

// CHECK-LABEL: func.func @unsigned_source
// CHECK: arith.uitofp %{{.*}} : i64 to f64
// CHECK-LABEL: func.func @small_source
// CHECK: %[[E:.*]] = arith.extui %{{.*}} : i8 to i32
// CHECK: arith.sitofp %[[E]] : i32 to f64
func.func @unsigned_source(%a: i32) -> f64 {
  %w = arith.extui %a : i32 to i64
  %f = arith.uitofp %w : i64 to f64
  return %f : f64
}

func.func @small_source(%a: i8) -> f64 {
  %w = arith.extui %a : i8 to i64
  %f = arith.uitofp %w : i64 to f64
  return %f : f64
}
