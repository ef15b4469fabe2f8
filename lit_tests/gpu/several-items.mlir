// RUN: %pykern-opt %s --kern-place-work-items=many=true --canonicalize --cse | FileCheck %s

// One work-item does four of a line, which are a group's length apart.

// CHECK-LABEL: func.func @line
// CHECK-SAME: kern.items_each = array<i64: 4>
// CHECK: scf.for %[[K:.*]] = %c0 to %c4 step %c1
// CHECK: %[[FAR:.*]] = arith.muli %[[K]], %c256
// CHECK: %[[PLACE:.*]] = arith.addi %[[FAR]], %{{.*}}
// CHECK: %[[FIRST:.*]] = arith.muli %{{.*}}, %c1024
// CHECK: %[[I:.*]] = arith.addi %[[FIRST]], %[[PLACE]]
// CHECK: arith.cmpi slt, %[[I]]
// CHECK: scf.if
// CHECK: memref.load %{{.*}}[%[[I]]]
// CHECK: {kern.each, llvm.loop_annotation
func.func @line(%x: memref<?xf32>, %y: memref<?xf32>) attributes {kern.kernel, kern.rank = 1 : i64, kern.plain} {
  %i = "kern.global_id"() {dim = 0 : i64} : () -> index
  %v = memref.load %x[%i] : memref<?xf32>
  memref.store %v, %y[%i] : memref<?xf32>
  return
}

// Of a plane they are neighbours along the dimension before the last.

// CHECK-LABEL: func.func @plane
// CHECK-SAME: kern.items_each = array<i64: 4, 1>
// CHECK: scf.for %[[K:.*]] = %c0 to %c4 step %c1
// CHECK: %[[ROW:.*]] = arith.addi %{{.*}}, %[[K]]
func.func @plane(%x: memref<?x?xf32>, %y: memref<?x?xf32>) attributes {kern.kernel, kern.rank = 2 : i64, kern.plain} {
  %i = "kern.global_id"() {dim = 0 : i64} : () -> index
  %j = "kern.global_id"() {dim = 1 : i64} : () -> index
  %v = memref.load %x[%i, %j] : memref<?x?xf32>
  memref.store %v, %y[%i, %j] : memref<?x?xf32>
  return
}

// One that loads nothing, or sees its group, does one.

// CHECK-LABEL: func.func @fill
// CHECK-NOT: scf.for
// CHECK-LABEL: func.func @group
// CHECK-NOT: scf.for
func.func @fill(%y: memref<?xindex>) attributes {kern.kernel, kern.rank = 1 : i64, kern.plain} {
  %i = "kern.global_id"() {dim = 0 : i64} : () -> index
  memref.store %i, %y[%i] : memref<?xindex>
  return
}
func.func @group(%x: memref<?xindex>) attributes {kern.kernel, kern.rank = 1 : i64, kern.plain} {
  %i = "kern.global_id"() {dim = 0 : i64} : () -> index
  %l = "kern.local_id"() {dim = 0 : i64} : () -> index
  %v = memref.load %x[%i] : memref<?xindex>
  %s = arith.addi %v, %l : index
  memref.store %s, %x[%i] : memref<?xindex>
  return
}
