// RUN: %pykern-opt %s --kern-branch-conversions | FileCheck %s

// A number that becomes an index of what is written: one test for the range, and the conversion alone behind it.

// CHECK-LABEL: func.func @histogram
// CHECK: scf.for
// CHECK: %[[V:.*]] = memref.load %arg1
// CHECK: %[[A:.*]] = math.absf %[[V]]
// CHECK-NEXT: %[[END:.*]] = arith.constant 9.22337203E+18 : f32
// CHECK: %[[IN:.*]] = arith.cmpf olt, %[[A]], %[[END]]
// CHECK: %[[K:.*]] = scf.if %[[IN]] -> (i64)
// CHECK-NEXT: %[[C:.*]] = arith.fptosi %[[V]] : f32 to i64
// CHECK-NEXT: scf.yield %[[C]]
// CHECK-NEXT: } else {
// CHECK: arith.select
// CHECK: %[[S:.*]] = arith.select
// CHECK-NEXT: scf.yield %[[S]]
// CHECK: arith.index_cast %[[K]]
func.func @histogram(%h: memref<?xi64>, %x: memref<?xf32>, %n: index, %one: i64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %above = arith.constant 9.22337203E+18 : f32
  %below = arith.constant -9.22337203E+18 : f32
  %high = arith.constant 9223372036854775807 : i64
  %low = arith.constant -9223372036854775808 : i64
  %zero = arith.constant 0 : i64
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %c = arith.fptosi %v : f32 to i64
    %much = arith.cmpf oge, %v, %above : f32
    %few = arith.cmpf ole, %v, %below : f32
    %nan = arith.cmpf uno, %v, %v : f32
    %a = arith.select %much, %high, %c : i64
    %b = arith.select %few, %low, %a : i64
    %d = arith.select %nan, %zero, %b : i64
    %k = arith.index_cast %d : i64 to index
    %was = memref.load %h[%k] : memref<?xi64>
    %is = arith.addi %was, %one : i64
    memref.store %is, %h[%k] : memref<?xi64>
  }
  return
}

// What is stored as a number may be in a vector later: it stays, as an index of 32 bits does that is only read.

// CHECK-LABEL: func.func @number
// CHECK-NOT: scf.if
func.func @number(%o: memref<?xi32>, %x: memref<?xf32>, %t: memref<?xi32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %above = arith.constant 2.14748365E+9 : f32
  %below = arith.constant -2.14748365E+9 : f32
  %high = arith.constant 2147483647 : i32
  %low = arith.constant -2147483648 : i32
  %zero = arith.constant 0 : i32
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %c = arith.fptosi %v : f32 to i32
    %much = arith.cmpf oge, %v, %above : f32
    %few = arith.cmpf ole, %v, %below : f32
    %nan = arith.cmpf uno, %v, %v : f32
    %a = arith.select %much, %high, %c : i32
    %b = arith.select %few, %low, %a : i32
    %d = arith.select %nan, %zero, %b : i32
    %k = arith.index_cast %d : i32 to index
    %w = memref.load %t[%k] : memref<?xi32>
    %s = arith.addi %w, %d : i32
    memref.store %s, %o[%i] : memref<?xi32>
  }
  return
}
