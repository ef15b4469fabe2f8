// RUN: %pykern-opt %s --pass-pipeline="builtin.module(kern-narrow-indices{versions=false},canonicalize)" | FileCheck %s
// RUN: %pykern-opt %s --pass-pipeline="builtin.module(kern-narrow-indices{versions=false everywhere=true},canonicalize,cse)" | FileCheck %s --check-prefix=ALL

// Loops with constant bounds: what becomes a float is computed in 32 bits, addresses stay as they are.

// CHECK-LABEL: func.func @narrowed
// CHECK: scf.for %[[I:.*]] = %c0
// CHECK: %[[NI:.*]] = arith.index_cast %[[I]] : index to i32
// CHECK: scf.for %[[J:.*]] = %c0
// CHECK: %[[NJ:.*]] = arith.index_cast %[[J]] : index to i32
// CHECK: %[[P:.*]] = arith.muli %[[NI]], %c7_i32 overflow<nsw> : i32
// CHECK: %[[R:.*]] = arith.remsi %[[NJ]], %c5_i32 : i32
// CHECK: %[[S:.*]] = arith.addi %[[P]], %[[R]] overflow<nsw> : i32
// CHECK: arith.sitofp %[[S]] : i32 to f32
// CHECK-NOT: arith.muli
// CHECK: %[[C:.*]] = arith.addi %[[J]], %c7 : index
// CHECK: memref.store %{{.*}}, %{{.*}}[%[[I]], %[[C]]]

// ALL-LABEL: func.func @narrowed
// ALL: %[[C:.*]] = arith.addi %{{.*}}, %c7_i32 overflow<nsw> : i32
// ALL: %[[W:.*]] = arith.index_cast %[[C]] : i32 to index
// ALL: memref.store %{{.*}}, %{{.*}}[%{{.*}}, %[[W]]]
func.func @narrowed(%x: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %c7 = arith.constant 7 : index
  %n = arith.constant 2000 : index
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %p = arith.muli %i, %c7 : index
      %r = arith.remsi %j, %c5 : index
      %s = arith.addi %p, %r : index
      %wide = arith.index_cast %s : index to i64
      %f = arith.sitofp %wide : i64 to f32
      %column = arith.addi %j, %c7 : index
      memref.store %f, %x[%i, %column] : memref<?x?xf32>
    }
  }
  return
}

// The last product is 2^31: one too many. The remainder of it fits again.

// CHECK-LABEL: func.func @overflows
// CHECK: %[[P:.*]] = arith.muli %{{.*}}, %c2 : index
// CHECK: %[[W:.*]] = arith.index_cast %[[P]] : index to i64
// CHECK: arith.sitofp %[[W]] : i64 to f64
// CHECK: %[[R:.*]] = arith.remsi %[[P]], %c7 : index
// CHECK: %[[N:.*]] = arith.index_cast %[[R]] : index to i32
// CHECK: arith.sitofp %[[N]] : i32 to f64
// CHECK-LABEL: func.func @just_fits
// CHECK: %[[P:.*]] = arith.muli %{{.*}}, %c2_i32 overflow<nsw> : i32
// CHECK: arith.sitofp %[[P]] : i32 to f64
func.func @overflows(%x: memref<2xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c7 = arith.constant 7 : index
  %n = arith.constant 1073741825 : index
  scf.for %i = %c0 to %n step %c1 {
    %p = arith.muli %i, %c2 : index
    %w = arith.index_cast %p : index to i64
    %f = arith.sitofp %w : i64 to f64
    memref.store %f, %x[%c0] : memref<2xf64>
    %r = arith.remsi %p, %c7 : index
    %v = arith.index_cast %r : index to i64
    %g = arith.sitofp %v : i64 to f64
    memref.store %g, %x[%c1] : memref<2xf64>
  }
  return
}

func.func @just_fits(%x: memref<2xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = arith.constant 1073741824 : index
  scf.for %i = %c0 to %n step %c1 {
    %p = arith.muli %i, %c2 : index
    %w = arith.index_cast %p : index to i64
    %f = arith.sitofp %w : i64 to f64
    memref.store %f, %x[%c0] : memref<2xf64>
  }
  return
}

// A length of a static shape is a fact; one that is only known at launch is none.

// CHECK-LABEL: func.func @lengths
// CHECK: scf.for %[[I:.*]] = %c0
// CHECK: arith.sitofp %{{.*}} : i32 to f32
// CHECK: scf.for %[[I:.*]] = %c0
// CHECK: arith.sitofp %{{.*}} : i64 to f32
func.func @lengths(%x: memref<100xf32>, %y: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<100xf32>
  scf.for %i = %c0 to %n step %c1 {
    %w = arith.index_cast %i : index to i64
    %f = arith.sitofp %w : i64 to f32
    memref.store %f, %x[%i] : memref<100xf32>
  }
  %m = memref.dim %y, %c0 : memref<?xf32>
  scf.for %i = %c0 to %m step %c1 {
    %w = arith.index_cast %i : index to i64
    %f = arith.sitofp %w : i64 to f32
    memref.store %f, %y[%i] : memref<?xf32>
  }
  return
}

// Carried values have no bounds of their own.

// CHECK-LABEL: func.func @carried
// CHECK: arith.sitofp %{{.*}} : i64 to f32
func.func @carried(%x: memref<1xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i64
  %n = arith.constant 100 : index
  %end = scf.for %i = %c0 to %n step %c1 iter_args(%a = %one) -> (i64) {
    %b = arith.addi %a, %a : i64
    scf.yield %b : i64
  }
  %f = arith.sitofp %end : i64 to f32
  memref.store %f, %x[%c0] : memref<1xf32>
  return
}
