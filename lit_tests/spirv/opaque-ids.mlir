// RUN: %pykern-opt %s --kern-opaque-ids | FileCheck %s

// Conditions and bounds read an id that is joined with a zero which only the launch decides; addresses read it as it is.
// A kernel whose ids are compared with its lengths alone stays.

// CHECK-LABEL: func.func @diagonal
// CHECK-SAME: %[[LAST:[a-z0-9]*]]: i64) attributes
// CHECK: %[[SIGN:.*]] = arith.shrui %[[LAST]], %c63
// CHECK: %[[ZERO:.*]] = arith.index_cast %[[SIGN]] : i64 to index
// CHECK: %[[ID:.*]] = gpu.thread_id x
// CHECK: %[[HIDDEN:.*]] = arith.xori %[[ID]], %[[ZERO]]
// CHECK: %[[I:.*]] = arith.addi %[[FIRST:.*]], %[[ID]]
// CHECK: %[[OPAQUE:.*]] = arith.addi %[[FIRST]], %[[HIDDEN]]
// CHECK: arith.cmpi slt, %[[OPAQUE]]
// CHECK: %[[J:.*]] = arith.subi %[[K:.*]], %[[I]]
// CHECK: %[[REST:.*]] = arith.subi %[[K]], %[[OPAQUE]]
// CHECK: arith.cmpi sle, %[[REST]]
// CHECK: memref.store %{{.*}}[%[[I]]]
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[REST]]
func.func @diagonal(%x: memref<?xf32>, %k: index, %n: index, %last: i64)
    attributes {kern.kernel, kern.arguments = ["memory", "slot", "slot", "slot"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c256 = arith.constant 256 : index
  %one = arith.constant 1.0 : f32
  %id = gpu.thread_id x
  %group = gpu.block_id x
  %first = arith.muli %group, %c256 : index
  %i = arith.addi %first, %id : index
  %is_item = arith.cmpi slt, %i, %n : index
  scf.if %is_item {
    %j = arith.subi %k, %i : index
    %is_left = arith.cmpi sle, %j, %n : index
    scf.if %is_left {
      memref.store %one, %x[%i] : memref<?xf32>
      scf.for %q = %c0 to %j step %c1 {
        memref.store %one, %x[%q] : memref<?xf32>
      }
    }
  }
  return
}

// CHECK-LABEL: func.func @guarded
// CHECK-NOT: arith.xori
func.func @guarded(%x: memref<?xf32>, %n: index, %m: index, %last: i64)
    attributes {kern.kernel, kern.arguments = ["memory", "slot", "slot", "slot"]} {
  %one = arith.constant 1.0 : f32
  %i = gpu.thread_id x
  %j = gpu.thread_id y
  %is_row = arith.cmpi slt, %i, %n : index
  %is_column = arith.cmpi slt, %j, %m : index
  %is_item = arith.andi %is_row, %is_column : i1
  scf.if %is_item {
    memref.store %one, %x[%i] : memref<?xf32>
  }
  return
}
