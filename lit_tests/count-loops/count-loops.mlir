// RUN: %pykern-opt %s --kern-count-loops --canonicalize --cse | FileCheck %s

// What the loop carries stays, and the counter is the variable of the loop.

// CHECK-LABEL: func.func @sum
// CHECK: %[[SUM:.*]] = scf.for %[[I:.*]] = %c0 to %arg1 step %c1 iter_args(%[[T:.*]] = %cst)
// CHECK:   memref.load %arg0[%[[I]]]
// CHECK: memref.store %[[SUM]]
// CHECK-NOT: scf.while
func.func @sum(%x: memref<?xf32>, %n: index) attributes {kern.kernel, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %r:2 = scf.while (%s = %zero, %i = %c0) : (f32, index) -> (f32, index) {
    %more = arith.cmpi slt, %i, %n : index
    scf.condition(%more) %s, %i : f32, index
  } do {
  ^bb0(%s: f32, %i: index):
    %v = memref.load %x[%i] : memref<?xf32>
    %t = arith.addf %s, %v : f32
    %next = arith.addi %i, %c1 : index
    scf.yield %t, %next : f32, index
  }
  memref.store %r#0, %x[%c0] : memref<?xf32>
  return
}

// Backwards, by the other side of the comparison, and with the counter used behind the loop.

// CHECK-LABEL: func.func @backwards
// CHECK: %[[N:.*]] = arith.addi %arg1, %c1
// CHECK: scf.for %[[D:.*]] = %c0 to %[[N]] step %c1
// CHECK:   %[[I:.*]] = arith.subi %arg1, %[[D]]
// CHECK:   memref.store %{{.*}}, %arg0[%[[I]]]
// CHECK: %[[LENGTH:.*]] = arith.maxsi %[[N]], %c0
// CHECK: %[[BEHIND:.*]] = arith.subi %arg1, %[[LENGTH]]
// CHECK: arith.index_cast %[[BEHIND]]
func.func @backwards(%x: memref<?xi64>, %n: index) attributes {kern.kernel, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i64
  %r = scf.while (%i = %n) : (index) -> index {
    %more = arith.cmpi sle, %c0, %i : index
    scf.condition(%more) %i : index
  } do {
  ^bb0(%i: index):
    memref.store %one, %x[%i] : memref<?xi64>
    %next = arith.subi %i, %c1 : index
    scf.yield %next : index
  }
  %v = arith.index_cast %r : index to i64
  memref.store %v, %x[%c0] : memref<?xi64>
  return
}

// A condition of two parts, and a step that is not known, stay.

// CHECK-LABEL: func.func @others
// CHECK: scf.while
// CHECK: scf.while
func.func @others(%x: memref<?xf32>, %n: index, %step: index) attributes {kern.kernel, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %a = scf.while (%i = %c0) : (index) -> index {
    %low = arith.cmpi slt, %i, %n : index
    %v = memref.load %x[%c0] : memref<?xf32>
    %positive = arith.cmpf ogt, %v, %zero : f32
    %more = arith.andi %low, %positive : i1
    scf.condition(%more) %i : index
  } do {
  ^bb0(%i: index):
    memref.store %zero, %x[%i] : memref<?xf32>
    %next = arith.addi %i, %c1 : index
    scf.yield %next : index
  }
  %b = scf.while (%i = %c0) : (index) -> index {
    %more = arith.cmpi slt, %i, %n : index
    scf.condition(%more) %i : index
  } do {
  ^bb0(%i: index):
    memref.store %zero, %x[%i] : memref<?xf32>
    %next = arith.addi %i, %step : index
    scf.yield %next : index
  }
  return
}

// In steps of the launch, which has at least one work-item.

// CHECK-LABEL: func.func @strides
// CHECK: %[[ALL:.*]] = "kern.ndrange"
// CHECK: scf.for %{{.*}} = %{{.*}} to %arg1 step %[[ALL]]
// CHECK-NOT: scf.while
func.func @strides(%x: memref<?xf32>, %n: index) attributes {kern.kernel, kern.rank = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  %first = "kern.global_id"() {dim = 0 : i64} : () -> index
  %all = "kern.ndrange"() {dim = 0 : i64} : () -> index
  %i = scf.while (%k = %first) : (index) -> index {
    %more = arith.cmpi slt, %k, %n : index
    scf.condition(%more) %k : index
  } do {
  ^bb0(%k: index):
    memref.store %zero, %x[%k] : memref<?xf32>
    %next = arith.addi %k, %all : index
    scf.yield %next : index
  }
  return
}

// The size of a group is a number by then, and the counter is compared in 64 bits.

// CHECK-LABEL: func.func @groups
// CHECK: %[[STEP:.*]] = arith.muli %{{.*}}, %c256
// CHECK: %[[N:.*]] = arith.index_cast %arg1 : i32 to index
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[N]] step %[[STEP]]
// CHECK-NOT: scf.while
func.func @groups(%x: memref<?xf32>, %n: i32) attributes {kern.kernel, kern.rank = 1 : i64, kern.workgroup = array<i64: 256>} {
  %zero = arith.constant 0.0 : f32
  %c256 = arith.constant 256 : index
  %first = "kern.global_id"() {dim = 0 : i64} : () -> index
  %groups = "kern.num_groups"() {dim = 0 : i64} : () -> index
  %i = scf.while (%k = %first) : (index) -> index {
    %at = arith.index_cast %k : index to i64
    %end = arith.extsi %n : i32 to i64
    %more = arith.cmpi slt, %at, %end : i64
    scf.condition(%more) %k : index
  } do {
  ^bb0(%k: index):
    memref.store %zero, %x[%k] : memref<?xf32>
    %step = arith.muli %groups, %c256 : index
    %next = arith.addi %k, %step : index
    scf.yield %next : index
  }
  return
}
