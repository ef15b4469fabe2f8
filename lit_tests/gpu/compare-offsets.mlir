// RUN: %pykern-opt %s --kern-compare-offsets --canonicalize --cse --loop-invariant-code-motion | FileCheck %s

// The sums need 64 bits; what is left behind the base is one value for all, kept within 32 bits.

// CHECK-LABEL: func.func @several
// CHECK-DAG: %[[LOW:.*]] = arith.constant -1073741824 : index
// CHECK-DAG: %[[HIGH:.*]] = arith.constant 1073741824 : index
// CHECK-DAG: %[[C256:.*]] = arith.constant 256 : index
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK: %[[REST:.*]] = arith.subi %[[N:.*]], %[[BASE:.*]] : index
// CHECK: %[[LEAST:.*]] = arith.maxsi %[[REST]], %[[LOW]] : index
// CHECK: %[[KEPT:.*]] = arith.minsi %[[LEAST]], %[[HIGH]] : index
// CHECK: arith.cmpi sgt, %[[KEPT]], %[[C0]] : index
// CHECK: arith.cmpi sgt, %[[KEPT]], %[[C256]] : index
func.func @several(%slot: i64, %group: i64) -> (i1, i1) {
  %c4096 = arith.constant 4096 : index
  %c256 = arith.constant 256 : index
  %n = arith.index_cast %slot {kern.range = array<i64: 0, 2147481600>} : i64 to index
  %number = arith.index_cast %group {kern.range = array<i64: 0, 8388607>} : i64 to index
  %base = arith.muli %number, %c4096 : index
  %next = arith.addi %base, %c256 : index
  %0 = arith.cmpi slt, %base, %n : index
  %1 = arith.cmpi slt, %next, %n : index
  return %0, %1 : i1, i1
}

// One that is alone, one whose ranges nobody knows, and one that fits in 32 bits stay.

// CHECK-LABEL: func.func @others
// CHECK-NOT: arith.subi
// CHECK-NOT: arith.minsi
// CHECK: return
func.func @others(%slot: i64, %group: i64, %far: index, %any: index) -> (i1, i1, i1, i1, i1) {
  %c4096 = arith.constant 4096 : index
  %c256 = arith.constant 256 : index
  %n = arith.index_cast %slot {kern.range = array<i64: 0, 2147481600>} : i64 to index
  %number = arith.index_cast %group {kern.range = array<i64: 0, 8388607>} : i64 to index
  %base = arith.muli %number, %c4096 : index
  %next = arith.addi %base, %c256 : index
  %0 = arith.cmpi slt, %next, %n : index
  %1 = arith.cmpi slt, %far, %any : index
  %beyond = arith.addi %far, %c256 : index
  %2 = arith.cmpi slt, %beyond, %any : index
  %3 = arith.cmpi slt, %number, %n : index
  %after = arith.addi %number, %c256 : index
  %4 = arith.cmpi slt, %after, %n : index
  return %0, %1, %2, %3, %4 : i1, i1, i1, i1, i1
}

// In a loop that only makes the offset one is enough.

// CHECK-LABEL: func.func @in_a_loop
// CHECK: arith.minsi
// CHECK: scf.for
// CHECK: arith.cmpi slt, %{{.*}}, %{{.*}} : index
func.func @in_a_loop(%slot: i64, %group: i64, %x: memref<?xindex>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c4096 = arith.constant 4096 : index
  %n = arith.index_cast %slot {kern.range = array<i64: 0, 2147481600>} : i64 to index
  %number = arith.index_cast %group {kern.range = array<i64: 0, 8388607>} : i64 to index
  %base = arith.muli %number, %c4096 : index
  scf.for %k = %c0 to %c64 step %c1 {
    %at = arith.addi %base, %k : index
    %inside = arith.cmpi slt, %at, %n : index
    scf.if %inside {
      memref.store %k, %x[%k] : memref<?xindex>
    }
  }
  return
}
