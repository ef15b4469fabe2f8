// RUN: %pykern-opt %s --kern-narrow-indices=everywhere=true | FileCheck %s

// A search by halves: while low < high, the middle is between them, so both ends stay where they began. The sum of
// both has 32 bits without a sign.

// CHECK-LABEL: func.func @search
// CHECK: scf.while (%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) : (i32, i32) -> (i32, i32)
// CHECK: %[[SUM:.*]] = arith.addi %{{.*}}, %{{.*}} : i32
// CHECK: %[[MIDDLE:.*]] = arith.shrui %[[SUM]], %{{.*}} : i32
// CHECK: arith.addi %[[MIDDLE]], %{{.*}} overflow<nsw> : i32
// CHECK: scf.yield %{{.*}}, %{{.*}} : i32, i32
func.func @search(%x: memref<?xf32>, %given: i64, %wanted: f32) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.index_cast %given {kern.range = array<i64: 0, 2147481600>} : i64 to index
  %ends:2 = scf.while (%low = %c0, %high = %n) : (index, index) -> (index, index) {
    %more = arith.cmpi slt, %low, %high : index
    scf.condition(%more) %low, %high : index, index
  } do {
  ^bb0(%low: index, %high: index):
    %sum = arith.addi %low, %high : index
    %middle = arith.shrsi %sum, %c1 : index
    %value = memref.load %x[%middle] : memref<?xf32>
    %below = arith.cmpf olt, %value, %wanted : f32
    %next = arith.addi %middle, %c1 : index
    %from = arith.select %below, %next, %low : index
    %to = arith.select %below, %high, %middle : index
    scf.yield %from, %to : index, index
  }
  return %ends#0 : index
}

// The same, but the condition says less: the lower end may pass the upper one, which is the most that it began with.

// CHECK-LABEL: func.func @passes
// CHECK: scf.while (%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) : (index, i32) -> (index, i32)
func.func @passes(%x: memref<?xf32>, %given: i64, %wanted: f32) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.index_cast %given {kern.range = array<i64: 0, 2147481600>} : i64 to index
  %ends:2 = scf.while (%low = %c0, %high = %n) : (index, index) -> (index, index) {
    %value = memref.load %x[%low] : memref<?xf32>
    %more = arith.cmpf olt, %value, %wanted : f32
    scf.condition(%more) %low, %high : index, index
  } do {
  ^bb0(%low: index, %high: index):
    %next = arith.addi %low, %c1 : index
    scf.yield %next, %high : index, index
  }
  return %ends#0 : index
}

// Ends that may be negative: their sum is shifted with its sign, in 64 bits.

// CHECK-LABEL: func.func @signs
// CHECK: arith.shrsi %{{.*}}, %{{.*}} : index
func.func @signs(%given: i64, %other: i64) -> index {
  %c1 = arith.constant 1 : index
  %a = arith.index_cast %given {kern.range = array<i64: -2147483648, 2147483647>} : i64 to index
  %b = arith.index_cast %other {kern.range = array<i64: 0, 2147483647>} : i64 to index
  %sum = arith.addi %a, %b : index
  %middle = arith.shrsi %sum, %c1 : index
  return %middle : index
}
