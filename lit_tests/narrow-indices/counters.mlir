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

// The step leads beyond 31 bits, or nothing is known of the bound: 64 bits.

// CHECK-LABEL: func.func @wide
// CHECK-NOT: : i32 {
func.func @wide(%x: memref<?xf32>, %given: i64, %any: index, %zero: f32) {
  %c0 = arith.constant 0 : index
  %c4096 = arith.constant 4096 : index
  %n = arith.index_cast %given {kern.range = array<i64: 0, 2147481600>} : i64 to index
  scf.for %k = %c0 to %n step %c4096 {
    memref.store %zero, %x[%k] : memref<?xf32>
  }
  scf.for %k = %c0 to %any step %c4096 {
    memref.store %zero, %x[%k] : memref<?xf32>
  }
  return
}
