// RUN: %pykern-opt %s --split-input-file --pass-pipeline="builtin.module(kern-delinearise-launch{items=24},canonicalize,cse)" | FileCheck %s
// RUN: %pykern-opt %s --split-input-file --pass-pipeline="builtin.module(kern-delinearise-launch,canonicalize,cse)" | FileCheck %s --check-prefix=ANY

// 24 work-items are 4 rows of 6. Where lengths are not known, the kernel is right for whole rows.

// CHECK-LABEL: func.func @matrix
// CHECK-SAME: kern.ndrange = array<i64: 4, 6>
// CHECK-SAME: kern.rank = 2
// CHECK-DAG: %[[I:.*]] = "kern.global_id"() {dim = 0
// CHECK-DAG: %[[J:.*]] = "kern.global_id"() {dim = 1
// CHECK: memref.store %{{.*}}, %arg0[%[[I]], %[[J]]]
// ANY-LABEL: func.func @matrix
// ANY-NOT: kern.ndrange
func.func @matrix(%o: memref<4x6xf32>) attributes {kern.kernel, kern.plain, kern.rank = 1 : i64} {
  %w = arith.constant 6 : index
  %x = arith.constant 1.0 : f32
  %k = "kern.global_id"() {dim = 0 : i64} : () -> index
  %i = arith.floordivsi %k, %w : index
  %whole = arith.muli %i, %w : index
  %j = arith.subi %k, %whole : index
  memref.store %x, %o[%i, %j] : memref<4x6xf32>
  return
}

// -----

// Rows of rows, of lengths that a launch tells: asked without a number of work-items.

// CHECK-LABEL: func.func @volume
// CHECK-SAME: kern.rank = 1
// ANY-LABEL: func.func @volume
// ANY-SAME: kern.rank = 3
// ANY-DAG: %[[K:.*]] = "kern.global_id"() {dim = 2
// ANY-DAG: %[[J:.*]] = "kern.global_id"() {dim = 1
// ANY-DAG: %[[I:.*]] = "kern.global_id"() {dim = 0
// ANY: memref.store %{{.*}}, %arg0[%[[I]], %[[J]], %[[K]]]
func.func @volume(%o: memref<?x?x?xf32>) attributes {kern.kernel, kern.plain, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %x = arith.constant 1.0 : f32
  %h = memref.dim %o, %c1 : memref<?x?x?xf32>
  %w = memref.dim %o, %c2 : memref<?x?x?xf32>
  %q = "kern.global_id"() {dim = 0 : i64} : () -> index
  %hw = arith.muli %h, %w : index
  %i = arith.floordivsi %q, %hw : index
  %r = arith.floordivsi %q, %w : index
  %rest = arith.remsi %r, %h : index
  %some = arith.cmpi ne, %rest, %c0 : index
  %xor = arith.xori %rest, %h : index
  %mixed = arith.cmpi slt, %xor, %c0 : index
  %moved = arith.addi %rest, %h : index
  %both = arith.andi %some, %mixed : i1
  %j = arith.select %both, %moved, %rest : index
  %rw = arith.muli %r, %w : index
  %k = arith.subi %q, %rw : index
  memref.store %x, %o[%i, %j, %k] : memref<?x?x?xf32>
  return
}

// -----

// Not where 24 work-items are no whole rows, and not where a divisor is no multiple of the other.

// CHECK-LABEL: func.func @parts
// CHECK-SAME: kern.rank = 1
func.func @parts(%o: memref<4x7xf32>) attributes {kern.kernel, kern.plain, kern.rank = 1 : i64} {
  %w = arith.constant 7 : index
  %x = arith.constant 1.0 : f32
  %k = "kern.global_id"() {dim = 0 : i64} : () -> index
  %i = arith.floordivsi %k, %w : index
  %whole = arith.muli %i, %w : index
  %j = arith.subi %k, %whole : index
  memref.store %x, %o[%i, %j] : memref<4x7xf32>
  return
}

// ANY-LABEL: func.func @several
// ANY-SAME: kern.rank = 1
func.func @several(%o: memref<?x?xf32>) attributes {kern.kernel, kern.plain, kern.rank = 1 : i64} {
  %v = arith.constant 4 : index
  %w = arith.constant 6 : index
  %x = arith.constant 1.0 : f32
  %k = "kern.global_id"() {dim = 0 : i64} : () -> index
  %i = arith.floordivsi %k, %v : index
  %j = arith.floordivsi %k, %w : index
  memref.store %x, %o[%i, %j] : memref<?x?xf32>
  return
}
