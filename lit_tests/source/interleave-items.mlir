// RUN: pykern-opt %s --kern-interleave-items --canonicalize | FileCheck %s

// Neighbours read neighbouring elements of b: 32 sums run side by side, and as rows read the same of b, 8 rows of them.
// What is left of 100 columns is done as before.

// CHECK-LABEL: func.func @product(
// CHECK: scf.for %[[ROW:.*]] = %c0 to %c64 step %c8
// CHECK: scf.for %[[COLUMN:.*]] = %c0 to %c96 step %c32
// CHECK: %[[SUMS:.*]] = "kern.private"() : () -> memref<256xf32, #gpu.address_space<private>>
// CHECK: scf.for %{{.*}} = %[[ROW]] to
// CHECK: scf.for %{{.*}} = %[[COLUMN]] to
// CHECK: memref.store %{{.*}}, %[[SUMS]]
// CHECK: scf.for %{{.*}} = %c0 to %c70 step %c1
// CHECK: scf.for %{{.*}} = %[[ROW]] to
// CHECK: scf.for %{{.*}} = %[[COLUMN]] to
// CHECK: memref.load %[[SUMS]]
// CHECK: memref.store %{{.*}}, %[[SUMS]]
// CHECK: {kern.dimension = 1 : i64}
// CHECK: {kern.dimension = 0 : i64}
// CHECK: memref.store %{{.*}}, %arg0
// CHECK: scf.for %{{.*}} = %c0 to %c64 step %c1
// CHECK: scf.for %{{.*}} = %c96 to %c100 step %c1
// CHECK: scf.for {{.*}} iter_args
// CHECK: } {kern.items}
func.func @product(%out: memref<?xf32>, %a: memref<?xf32>, %b: memref<?xf32>)
    attributes {kern.kernel, kern.rank = 2 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c70 = arith.constant 70 : index
  %c100 = arith.constant 100 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %c64 step %c1 {
    %row = arith.muli %i, %c100 : index
    scf.for %j = %c0 to %c100 step %c1 {
      %sum = scf.for %k = %c0 to %c70 step %c1 iter_args(%total = %zero) -> (f32) {
        %left = arith.muli %i, %c70 : index
        %left_at = arith.addi %left, %k : index
        %x = memref.load %a[%left_at] : memref<?xf32>
        %right = arith.muli %k, %c100 : index
        %right_at = arith.addi %right, %j : index
        %y = memref.load %b[%right_at] : memref<?xf32>
        %term = arith.mulf %x, %y : f32
        %new = arith.addf %total, %term : f32
        scf.yield %new : f32
      }
      %at = arith.addi %row, %j : index
      memref.store %sum, %out[%at] : memref<?xf32>
    } {kern.items}
  }
  return
}

// Each work-item's loop ends when its own condition fails: the others go on.

// CHECK-LABEL: func.func @halved(
// CHECK: scf.for %[[FIRST:.*]] = %c0 to %{{.*}} step %c64
// CHECK: "kern.private"() : () -> memref<64xf32, #gpu.address_space<private>>
// CHECK: scf.while
// CHECK: scf.for %{{.*}} = %[[FIRST]] to %{{.*}} iter_args(%[[GOING:.*]] = %c0_i32) -> (i32)
// CHECK: %[[ON:.*]] = arith.cmpf ogt
// CHECK: %[[NEW:.*]] = arith.select %[[ON]]
// CHECK: memref.store %[[NEW]]
// CHECK: %[[BIT:.*]] = arith.extui %[[ON]]
// CHECK: arith.ori %[[GOING]], %[[BIT]]
func.func @halved(%x: memref<?xf32>, %n: index) attributes {kern.kernel, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  %half = arith.constant 0.5 : f32
  scf.for %i = %c0 to %n step %c1 {
    %end = scf.while (%value = %one) : (f32) -> f32 {
      %goes_on = arith.cmpf ogt, %value, %half : f32
      scf.condition(%goes_on) %value : f32
    } do {
    ^bb0(%value: f32):
      %next = arith.mulf %value, %half : f32
      scf.yield %next : f32
    }
    memref.store %end, %x[%i] : memref<?xf32>
  } {kern.items}
  return
}

// Each work-item reads a row of its own, and adds its floats up in their order: eight rows run side by side.

// CHECK-LABEL: func.func @row_sums(
// CHECK: scf.for %[[FIRST:.*]] = %c0 to %c96 step %c8
// CHECK: %[[SUMS:.*]] = "kern.private"() : () -> memref<8xf32, #gpu.address_space<private>>
// CHECK: scf.for %{{.*}} = %c0 to %c70 step %c1
// CHECK: scf.for %{{.*}} = %[[FIRST]] to
// CHECK: memref.load %[[SUMS]]
// CHECK: memref.store %{{.*}}, %[[SUMS]]
// CHECK: scf.for %{{.*}} = %c96 to %c101 step %c1
// CHECK-NEXT: %{{.*}} = arith.muli
// CHECK-NEXT: scf.for {{.*}} iter_args
func.func @row_sums(%out: memref<?xf32>, %x: memref<?xf32>) attributes {kern.kernel, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c70 = arith.constant 70 : index
  %c101 = arith.constant 101 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %c101 step %c1 {
    %row = arith.muli %i, %c70 : index
    %sum = scf.for %k = %c0 to %c70 step %c1 iter_args(%total = %zero) -> (f32) {
      %at = arith.addi %row, %k : index
      %value = memref.load %x[%at] : memref<?xf32>
      %new = arith.addf %total, %value : f32
      scf.yield %new : f32
    }
    memref.store %sum, %out[%i] : memref<?xf32>
  } {kern.items}
  return
}

// Integers may be added in any order, which compilers do by themselves.

// CHECK-LABEL: func.func @whole_sums(
// CHECK-NOT: kern.private
// CHECK: return
func.func @whole_sums(%out: memref<?xi32>, %x: memref<?xi32>) attributes {kern.kernel, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c70 = arith.constant 70 : index
  %zero = arith.constant 0 : i32
  scf.for %i = %c0 to %c70 step %c1 {
    %row = arith.muli %i, %c70 : index
    %sum = scf.for %k = %c0 to %c70 step %c1 iter_args(%total = %zero) -> (i32) {
      %at = arith.addi %row, %k : index
      %value = memref.load %x[%at] : memref<?xi32>
      %new = arith.addi %total, %value : i32
      scf.yield %new : i32
    }
    memref.store %sum, %out[%i] : memref<?xi32>
  } {kern.items}
  return
}
