// RUN: %pykern-opt %s --kern-narrow-indices=everywhere=true | FileCheck %s

// A counter whose bounds, and whose last sum, fit in 32 bits.

// CHECK-LABEL: func.func @fits
// CHECK: scf.for %[[K:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args({{.*}}) -> (f32) : i32
// CHECK: arith.index_cast %[[K]] : i32 to index
func.func @fits(%x: memref<?xf32>, %given: i64, %zero: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c256 = arith.constant 256 : index
  %n = arith.index_cast %given {kern.range = array<i64: 0, 2147481600>} : i64 to index
  %total = scf.for %k = %c0 to %n step %c256 iter_args(%so_far = %zero) -> (f32) {
    %value = memref.load %x[%k] : memref<?xf32>
    %next = arith.addf %so_far, %value : f32
    scf.yield %next : f32
  }
  return %total : f32
}

// The step leads beyond 31 bits, but not beyond 32: the loop counts without a sign, up to an end that is not negative.

// CHECK-LABEL: func.func @without_sign
// CHECK: %[[N:.*]] = arith.trunci
// CHECK: scf.for unsigned %[[K:.*]] = %{{.*}} to %[[N]] step %{{.*}} : i32 {
// CHECK-NEXT: arith.index_castui %[[K]] : i32 to index
// CHECK: %[[END:.*]] = arith.maxsi
// CHECK: scf.for unsigned %{{.*}} = %{{.*}} to %[[END]] step %{{.*}} : i32 {
func.func @without_sign(%x: memref<?xf32>, %given: i64, %signed: i32, %first: index, %zero: f32) {
  %c0 = arith.constant 0 : index
  %c4096 = arith.constant 4096 : index
  %n = arith.index_cast %given {kern.range = array<i64: 0, 2147481600>} : i64 to index
  %m = arith.index_cast %signed : i32 to index
  scf.for %k = %c0 to %n step %c4096 {
    memref.store %zero, %x[%k] : memref<?xf32>
  }
  scf.for %k = %c0 to %m step %c4096 {
    memref.store %zero, %x[%k] : memref<?xf32>
  }
  return
}

// The start may be negative, or nothing is known of the bound: 64 bits.

// CHECK-LABEL: func.func @wide
// CHECK-NOT: : i32 {
func.func @wide(%x: memref<?xf32>, %given: i64, %some: i32, %any: index, %zero: f32) {
  %c0 = arith.constant 0 : index
  %c4096 = arith.constant 4096 : index
  %n = arith.index_cast %given {kern.range = array<i64: 0, 2147481600>} : i64 to index
  %below = arith.index_cast %some : i32 to index
  scf.for %k = %below to %n step %c4096 {
    memref.store %zero, %x[%k] : memref<?xf32>
  }
  scf.for %k = %c0 to %any step %c4096 {
    memref.store %zero, %x[%k] : memref<?xf32>
  }
  return
}
