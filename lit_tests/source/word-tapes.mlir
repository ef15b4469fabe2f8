// RUN: pykern-opt %s --kern-word-tapes | FileCheck %s

// Everything on a tape is a word: floats by their bits, integers and truth values with zeros in front.

// CHECK-LABEL: func.func @kept(
// CHECK: %[[VALUE:.*]] = memref.load
// CHECK: %[[BITS:.*]] = arith.bitcast %[[VALUE]] : f32 to i32
// CHECK: %[[WORD:.*]] = arith.extui %[[BITS]] : i32 to i64
// CHECK: "kern.push"(%[[WORD]]) : (i64) -> ()
// CHECK: %[[TAKEN:.*]] = "kern.pop"() : () -> i64
// CHECK: %[[NARROW:.*]] = arith.trunci %[[TAKEN]] : i64 to i32
// CHECK: %[[FLOAT:.*]] = arith.bitcast %[[NARROW]] : i32 to f32
// CHECK: memref.store %[[FLOAT]]
func.func @kept(%memory: memref<?xf32>) attributes {kern.kernel, kern.rank = 1 : i64} {
  %zero = arith.constant 0 : index
  %value = memref.load %memory[%zero] : memref<?xf32>
  "kern.push"(%value) : (f32) -> ()
  %taken = "kern.pop"() : () -> f32
  memref.store %taken, %memory[%zero] : memref<?xf32>
  return
}
