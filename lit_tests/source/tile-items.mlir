// RUN: pykern-opt %s --kern-tile-items --canonicalize | FileCheck %s

// Work-items go down the columns of x: they run in squares. 8 divides the rows; what is left of 102 columns ends earlier.

// CHECK-LABEL: func.func @transposed(
// CHECK: scf.for %[[ROWS:.*]] = %c0 to %c64 step %c8
// CHECK-NEXT: scf.for %[[COLUMNS:.*]] = %c0 to %c102 step %c8
// CHECK: %[[LAST_ROW:.*]] = arith.addi %[[ROWS]], %c8
// CHECK: %[[FULL:.*]] = arith.addi %[[COLUMNS]], %c8
// CHECK: %[[LAST_COLUMN:.*]] = arith.minsi %[[FULL]], %c102
// CHECK: scf.for %[[ROW:.*]] = %[[ROWS]] to %[[LAST_ROW]] step %c1
// CHECK: scf.for %[[COLUMN:.*]] = %[[COLUMNS]] to %[[LAST_COLUMN]] step %c1
// CHECK: memref.load %arg1
// CHECK: memref.store
// CHECK: {kern.dimension = 1 : i64, kern.items}
// CHECK: {kern.dimension = 0 : i64}
// CHECK: {kern.dimension = 1 : i64}
// CHECK: {kern.dimension = 0 : i64}
func.func @transposed(%out: memref<?xf32>, %x: memref<?xf32>) attributes {kern.kernel, kern.rank = 2 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c102 = arith.constant 102 : index
  scf.for %i = %c0 to %c64 step %c1 {
    %row = arith.muli %i, %c102 : index
    scf.for %j = %c0 to %c102 step %c1 {
      %down = arith.muli %j, %c64 : index
      %from = arith.addi %down, %i : index
      %value = memref.load %x[%from] : memref<?xf32>
      %to = arith.addi %row, %j : index
      memref.store %value, %out[%to] : memref<?xf32>
    } {kern.items}
  }
  return
}

// 16 divides both: squares of 16 x 16 are cut into squares of 4 x 4, where columns of x are read along its rows.

// CHECK-LABEL: func.func @whole_squares(
// CHECK: scf.for %[[ROWS:.*]] = %c0 to %c64 step %c16
// CHECK: scf.for %[[COLUMNS:.*]] = %c0 to %c96 step %c16
// CHECK: %[[LAST_ROWS:.*]] = arith.addi %[[ROWS]], %c16
// CHECK: %[[LAST_COLUMNS:.*]] = arith.addi %[[COLUMNS]], %c16
// CHECK: scf.for %[[SMALL_ROWS:.*]] = %[[ROWS]] to %[[LAST_ROWS]] step %c4
// CHECK: scf.for %[[SMALL_COLUMNS:.*]] = %[[COLUMNS]] to %[[LAST_COLUMNS]] step %c4
// CHECK: %[[LAST_ROW:.*]] = arith.addi %[[SMALL_ROWS]], %c4
// CHECK: %[[LAST_COLUMN:.*]] = arith.addi %[[SMALL_COLUMNS]], %c4
// CHECK: scf.for %[[COLUMN:.*]] = %[[SMALL_COLUMNS]] to %[[LAST_COLUMN]] step %c1
// CHECK: scf.for %[[ROW:.*]] = %[[SMALL_ROWS]] to %[[LAST_ROW]] step %c1
// CHECK: %[[DOWN:.*]] = arith.muli %[[COLUMN]], %c64
// CHECK: %[[FROM:.*]] = arith.addi %[[DOWN]], %[[ROW]]
// CHECK: memref.load %arg1[%[[FROM]]]
// CHECK: memref.store
// CHECK: {kern.dimension = 0 : i64, kern.items}
// CHECK: {kern.dimension = 1 : i64}
func.func @whole_squares(%out: memref<?xf32>, %x: memref<?xf32>) attributes {kern.kernel, kern.rank = 2 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c96 = arith.constant 96 : index
  scf.for %i = %c0 to %c64 step %c1 {
    %row = arith.muli %i, %c96 : index
    scf.for %j = %c0 to %c96 step %c1 {
      %down = arith.muli %j, %c64 : index
      %from = arith.addi %down, %i : index
      %value = memref.load %x[%from] : memref<?xf32>
      %to = arith.addi %row, %j : index
      memref.store %value, %out[%to] : memref<?xf32>
    } {kern.items}
  }
  return
}

// Rows alone are read along: nothing is done.

// CHECK-LABEL: func.func @copied(
// CHECK: scf.for %{{.*}} = %c0 to %c64 step %c1
// CHECK-NOT: step %c8
// CHECK: return
func.func @copied(%out: memref<?xf32>, %x: memref<?xf32>) attributes {kern.kernel, kern.rank = 2 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %c64 step %c1 {
    %row = arith.muli %i, %c64 : index
    scf.for %j = %c0 to %c64 step %c1 {
      %at = arith.addi %row, %j : index
      %value = memref.load %x[%at] : memref<?xf32>
      memref.store %value, %out[%at] : memref<?xf32>
    } {kern.items}
  }
  return
}

// Work-items that run in order stay in it.

// CHECK-LABEL: func.func @in_order(
// CHECK-NOT: step %c8
// CHECK: return
func.func @in_order(%out: memref<?xf32>, %x: memref<?xf32>)
    attributes {kern.kernel, kern.rank = 2 : i64, kern.sequential} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %c64 step %c1 {
    %row = arith.muli %i, %c64 : index
    scf.for %j = %c0 to %c64 step %c1 {
      %down = arith.muli %j, %c64 : index
      %from = arith.addi %down, %i : index
      %value = memref.load %x[%from] : memref<?xf32>
      %to = arith.addi %row, %j : index
      memref.store %value, %out[%to] : memref<?xf32>
    } {kern.items}
  }
  return
}
