// RUN: %pykern-opt %s --split-input-file --pass-pipeline="builtin.module(kern-reverse-kernel{active=0,1},canonicalize,cse)" | FileCheck %s

// What flows back through a shuffle is added up lane by lane: for each lane k the whole subgroup sums what its readers send,
// and lane k keeps the sum. A lane that is not there counts as the reader's own.

// CHECK-LABEL: func.func @shuffled
// CHECK: %[[G:.*]] = memref.load %arg1
// CHECK: %[[HERE:.*]] = "kern.subgroup_reduce"(%{{.*}}) {kind = "or"} : (i64) -> i64
// CHECK: arith.andi %[[HERE]], %{{.*}} : i64
// CHECK: scf.for %[[K:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[ACC:.*]] = %{{.*}}) -> (f64)
// CHECK: %[[READ:.*]] = arith.select %{{.*}}, %[[G]], %{{.*}} : f64
// CHECK: %[[SUM:.*]] = "kern.subgroup_reduce"(%[[READ]]) {kind = "add"} : (f64) -> f64
// CHECK: arith.select %{{.*}}, %[[SUM]], %[[ACC]] : f64
func.func @shuffled(%out: memref<?xf64> {kern.name = "out"}, %x: memref<?xf64> {kern.name = "x"})
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c1 = arith.constant 1 : index
  %i = "kern.global_id"() {dim = 0 : i64} : () -> index
  %l = "kern.lane_id"() : () -> index
  %n = arith.xori %l, %c1 : index
  %v = memref.load %x[%i] : memref<?xf64>
  %w = "kern.subgroup_shuffle"(%v, %n) : (f64, index) -> f64
  memref.store %w, %out[%i] : memref<?xf64>
  return
}

// -----

// Shared memory that the launch sizes has a shadow of the same size, zeroed by the group before anything else.

// CHECK-LABEL: func.func @sized
// CHECK: %[[SHADOW:.*]] = "kern.dynamic_shared"(%arg4) : (index) -> memref<?xf64
// CHECK: memref.dim %[[SHADOW]]
// CHECK: memref.store %{{.*}}, %[[SHADOW]]
// CHECK: "kern.barrier"
// CHECK: "kern.dynamic_shared"(%arg4)
func.func @sized(%out: memref<?xf64> {kern.name = "out"}, %x: memref<?xf64> {kern.name = "x"}, %bytes: index {kern.name = "bytes"})
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %i = "kern.global_id"() {dim = 0 : i64} : () -> index
  %l = "kern.local_id"() {dim = 0 : i64} : () -> index
  %t = "kern.dynamic_shared"(%bytes) : (index) -> memref<?xf64, #gpu.address_space<workgroup>>
  %v = memref.load %x[%i] : memref<?xf64>
  memref.store %v, %t[%l] : memref<?xf64, #gpu.address_space<workgroup>>
  "kern.barrier"() : () -> ()
  %w = memref.load %t[%l] : memref<?xf64, #gpu.address_space<workgroup>>
  memref.store %w, %out[%i] : memref<?xf64>
  return
}
