// RUN: %pykern-opt %s --split-input-file --pass-pipeline="builtin.module(kern-reverse-kernel{active=0,1},canonicalize,cse)" | FileCheck %s

// The shadow stands behind its array. A store takes the cotangent and leaves zero; the primal store goes.

// CHECK-LABEL: func.func @square
// CHECK-SAME: %[[OUT:.*]]: memref<?xf64> {kern.name = "out", kern.written}
// CHECK-SAME: %[[DOUT:.*]]: memref<?xf64> {kern.name = "d_out"}
// CHECK-SAME: %[[X:.*]]: memref<?xf64> {kern.name = "x"}
// CHECK-SAME: %[[DX:.*]]: memref<?xf64> {kern.name = "d_x"}
// CHECK: %[[I:.*]] = "kern.global_id"
// CHECK: %[[V:.*]] = memref.load %[[X]][%[[I]]]
// CHECK-NOT: memref.store {{.*}}, %[[OUT]]
// CHECK: %[[G:.*]] = memref.load %[[DOUT]][%[[I]]]
// CHECK: memref.store %{{.*}}, %[[DOUT]][%[[I]]]
// CHECK: arith.mulf %[[G]], %[[V]]
// CHECK: memref.load %[[DX]][%[[I]]]
// CHECK: memref.store %{{.*}}, %[[DX]][%[[I]]]
func.func @square(%out: memref<?xf64> {kern.name = "out"}, %x: memref<?xf64> {kern.name = "x"})
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %i = "kern.global_id"() {dim = 0} : () -> index
  %v = memref.load %x[%i] : memref<?xf64>
  %w = arith.mulf %v, %v : f64
  memref.store %w, %out[%i] : memref<?xf64>
  return
}

// -----

// A cell that several work-items read gets its derivative by an atomic addition.

// CHECK-LABEL: func.func @neighbour
// CHECK: "kern.atomic_rmw"(%{{.*}}, %arg3, %{{.*}}) {kern.launch_scope, kind = "add"}
func.func @neighbour(%out: memref<?xf64> {kern.name = "out"}, %x: memref<?xf64> {kern.name = "x"})
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c1 = arith.constant 1 : index
  %i = "kern.global_id"() {dim = 0} : () -> index
  %j = arith.addi %i, %c1 : index
  %u = memref.load %x[%i] : memref<?xf64>
  %v = memref.load %x[%j] : memref<?xf64>
  %w = arith.mulf %u, %v : f64
  memref.store %w, %out[%i] : memref<?xf64>
  return
}

// -----

// A scalar is active through a 0-d array.

// CHECK-LABEL: func.func @scaled
// CHECK-SAME: %[[S:[a-z0-9]*]]: f64 {kern.name = "s"}, %[[DS:[a-z0-9]*]]: memref<f64> {kern.name = "d_s"}
// The cell is stored over, and its old value put back.
// CHECK: %[[OLD:.*]] = memref.load %arg0
// CHECK: %[[NEW:.*]] = arith.mulf %[[OLD]], %[[S]]
// CHECK: memref.store %[[NEW]], %arg0
// CHECK: memref.store %[[OLD]], %arg0
// CHECK: "kern.atomic_rmw"(%{{.*}}, %[[DS]]) {kern.launch_scope, kind = "add"}
func.func @scaled(%x: memref<?xf64> {kern.name = "x"}, %s: f64 {kern.name = "s"})
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %i = "kern.global_id"() {dim = 0} : () -> index
  %v = memref.load %x[%i] : memref<?xf64>
  %w = arith.mulf %v, %s : f64
  memref.store %w, %x[%i] : memref<?xf64>
  return
}
