// RUN: pykern-opt %s --kern-narrow-words | FileCheck %s

// A number of the launch that is a float of 64 bits, rounded to smaller ones; a float that a report tells in 64 bits;
// a float of 64 bits that is computed with, which stays.

// CHECK-LABEL: func.func @words(
// CHECK-SAME: %[[WORD:[^:]*]]: i64,
// CHECK-NOT: arith.truncf
// CHECK: arith.shrui %[[WORD]], %{{.*}} : i64
// CHECK: %[[BITS:.*]] = arith.trunci %{{.*}} : i64 to i32
// CHECK: %[[NARROW:.*]] = arith.bitcast %[[BITS]] : i32 to f32
// CHECK: memref.store %[[NARROW]]
// CHECK: arith.trunci %{{.*}} : i64 to i16
// CHECK: arith.bitcast %{{.*}} : i16 to bf16
func.func @words(%word: i64, %memory: memref<?xf32>, %small: memref<?xbf16>)
    attributes {kern.kernel, kern.rank = 1 : i64, kern.workgroup = array<i64: 64>} {
  %zero = arith.constant 0 : index
  %wide = arith.bitcast %word : i64 to f64
  %narrow = arith.truncf %wide : f64 to f32
  memref.store %narrow, %memory[%zero] : memref<?xf32>
  %half = arith.truncf %wide : f64 to bf16
  memref.store %half, %small[%zero] : memref<?xbf16>
  return
}

// CHECK-LABEL: func.func @told(
// CHECK-NOT: f64
// CHECK: arith.bitcast %{{.*}} : f32 to i32
// CHECK: math.ctlz
// CHECK: memref.store %{{.*}} : memref<?xi64>
func.func @told(%memory: memref<?xf16>, %report: memref<?xi64>)
    attributes {kern.kernel, kern.rank = 1 : i64, kern.workgroup = array<i64: 64>} {
  %zero = arith.constant 0 : index
  %value = memref.load %memory[%zero] : memref<?xf16>
  %wide = arith.extf %value : f16 to f64
  %word = arith.bitcast %wide : f64 to i64
  memref.store %word, %report[%zero] : memref<?xi64>
  return
}

// CHECK-LABEL: func.func @computed(
// CHECK: %[[SUM:.*]] = arith.addf
// CHECK: arith.truncf %[[SUM]] : f64 to f32
func.func @computed(%word: i64, %memory: memref<?xf32>)
    attributes {kern.kernel, kern.rank = 1 : i64, kern.workgroup = array<i64: 64>} {
  %zero = arith.constant 0 : index
  %wide = arith.bitcast %word : i64 to f64
  %sum = arith.addf %wide, %wide : f64
  %narrow = arith.truncf %sum : f64 to f32
  memref.store %narrow, %memory[%zero] : memref<?xf32>
  return
}
