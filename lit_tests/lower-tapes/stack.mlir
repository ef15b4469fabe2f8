// RUN: %pykern-opt %s --split-input-file --kern-lower-tapes | FileCheck %s
// RUN: %pykern-opt %s --split-input-file --pass-pipeline="builtin.module(kern-lower-tapes{groups=true})" | FileCheck %s --check-prefix=GROUPS

// Three words a thread: address, words used, words there. A push that finds it full lets it grow.

// CHECK: func.func @pykern.tape_grow
// CHECK: call @pykern.resize
// CHECK-LABEL: func.func @twice
// CHECK: %[[T:.*]] = memref.alloca() : memref<3xi64>
// CHECK: %[[FULL:.*]] = arith.cmpi sgt
// CHECK: scf.if %[[FULL]] {
// CHECK: func.call @pykern.tape_grow
// CHECK: llvm.store
// CHECK: %[[BITS:.*]] = llvm.load
// CHECK: arith.bitcast %[[BITS]] : i64 to f64
// CHECK: llvm.call @_mlir_memref_to_llvm_free
// CHECK-NEXT: return

// GROUPS-LABEL: func.func @twice
// GROUPS: kern.push
func.func @twice(%x: memref<?xf64>)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %i = "kern.global_id"() {dim = 0} : () -> index
  %v = memref.load %x[%i] : memref<?xf64>
  "kern.push"(%v) : (f64) -> ()
  %w = "kern.pop"() : () -> f64
  memref.store %w, %x[%i] : memref<?xf64>
  return
}

// -----

// Lanes of work-items put vectors on it: 8 words, or 1.

// CHECK-LABEL: func.func @lanes
// CHECK: arith.constant 8 : i64
// CHECK: llvm.store %{{.*}}, %{{.*}} {alignment = 8 : i64} : vector<8xf64>, !llvm.ptr
// CHECK: arith.extui %{{.*}} : vector<8xi1> to vector<8xi8>
// CHECK: llvm.load %{{.*}} {alignment = 8 : i64} : !llvm.ptr -> vector<8xi8>
// CHECK: arith.trunci %{{.*}} : vector<8xi8> to vector<8xi1>
// CHECK: llvm.load %{{.*}} {alignment = 8 : i64} : !llvm.ptr -> vector<8xf64>

// GROUPS-LABEL: func.func @lanes
// GROUPS: kern.push
func.func @lanes(%x: memref<?xf64>, %v: vector<8xf64>, %m: vector<8xi1>) -> vector<8xf64>
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  "kern.push"(%v) : (vector<8xf64>) -> ()
  "kern.push"(%m) : (vector<8xi1>) -> ()
  %n = "kern.pop"() : () -> vector<8xi1>
  %w = "kern.pop"() : () -> vector<8xf64>
  %s = arith.select %n, %w, %v : vector<8xi1>, vector<8xf64>
  return %s : vector<8xf64>
}

// -----

// Work-items of a group take turns: each has a tape.

// CHECK-LABEL: func.func @met
// GROUPS-LABEL: func.func @met
// GROUPS: "kern.private"() : () -> memref<3xi64
// GROUPS-NOT: kern.push
// GROUPS: return
func.func @met(%x: memref<?xf64>)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %i = "kern.global_id"() {dim = 0} : () -> index
  %v = memref.load %x[%i] : memref<?xf64>
  "kern.push"(%v) : (f64) -> ()
  "kern.barrier"() : () -> ()
  %w = "kern.pop"() : () -> f64
  memref.store %w, %x[%i] : memref<?xf64>
  return
}
