// RUN: %pykern-opt %s --kern-lower-device-tapes --canonicalize --cse | FileCheck %s

// The tape is private memory: a push stores the value's bits and counts on, a pop counts back and loads them.

// CHECK-LABEL: func.func @private
// CHECK-NOT: kern.push
// CHECK-NOT: kern.pop
// CHECK: %[[STATE:.*]] = "kern.private"() {kern.tape_state}
// CHECK: %[[SLOTS:.*]] = "kern.private"() {kern.tape_slots}
// CHECK: %[[BITS:.*]] = arith.bitcast %{{.*}} : f64 to i64
// CHECK: memref.store %[[BITS]], %[[SLOTS]]
// CHECK: %[[AFTER:.*]] = arith.addi %{{.*}}, %c1
// CHECK: memref.store %[[AFTER]], %[[STATE]][%c0]
// CHECK: %[[LAST:.*]] = arith.subi %{{.*}}, %c1
// CHECK: memref.store %[[LAST]], %[[STATE]][%c0]
// CHECK: %[[WORD:.*]] = memref.load %[[SLOTS]][%[[LAST]]]
// CHECK: %[[VALUE:.*]] = arith.bitcast %[[WORD]] : i64 to f64
// CHECK: memref.store %[[VALUE]], %arg0
func.func @private(%x: memref<?xf64>) attributes {kern.kernel, kern.plain, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %state = "kern.private"() {kern.tape_state} : () -> memref<2xindex, #gpu.address_space<private>>
  %slots = "kern.private"() {kern.tape_slots} : () -> memref<1xi64, #gpu.address_space<private>>
  memref.store %c0, %state[%c0] : memref<2xindex, #gpu.address_space<private>>
  %v = memref.load %x[%c0] : memref<?xf64>
  "kern.push"(%v) : (f64) -> ()
  %w = "kern.pop"() : () -> f64
  memref.store %w, %x[%c0] : memref<?xf64>
  return
}
