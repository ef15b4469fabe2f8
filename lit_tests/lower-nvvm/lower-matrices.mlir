// RUN: %pykern-opt %s --kern-lower-matrices | FileCheck %s

// Pairs of f16 are vectors of two, pairs of bf16 are words.

// CHECK-LABEL: func.func @multiply
// CHECK-SAME: (%[[W:.*]]: i32, %[[S:.*]]: f32)
// CHECK: %[[PAIR:.*]] = llvm.bitcast %[[W]] : i32 to vector<2xf16>
// CHECK: %[[HALF:.*]] = nvvm.mma.sync A[%[[PAIR]],{{.*}}] B[{{.*}}] C[%[[S]], %[[S]], %[[S]], %[[S]]]
// CHECK-SAME: shape = #nvvm.shape<m = 16, n = 8, k = 16>
// CHECK-SAME: (vector<2xf16>, vector<2xf16>, f32) -> !llvm.struct<(f32, f32, f32, f32)>
// CHECK: %[[FIRST:.*]] = llvm.extractvalue %[[HALF]][0]
// CHECK: nvvm.mma.sync A[%[[W]], %[[W]], %[[W]], %[[W]]] B[%[[W]], %[[W]]] C[%[[FIRST]],
// CHECK-SAME: multiplicandAPtxType = #nvvm.mma_type<bf16>
func.func @multiply(%w: i32, %s: f32) -> f32 {
  %d:4 = "kern.multiply_matrices"(%w, %w, %w, %w, %w, %w, %s, %s, %s, %s) {left = "f16", operandSegmentSizes = array<i32: 6, 4>, right = "f16", unit = "m16n8k16"} : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> (f32, f32, f32, f32)
  %e:4 = "kern.multiply_matrices"(%w, %w, %w, %w, %w, %w, %d#0, %d#1, %d#2, %d#3) {left = "bf16", operandSegmentSizes = array<i32: 6, 4>, right = "bf16", unit = "m16n8k16"} : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> (f32, f32, f32, f32)
  return %e#3 : f32
}

// Four bytes are a word, and sums wrap.

// CHECK-LABEL: func.func @multiply_bytes
// CHECK: nvvm.mma.sync {{.*}} {intOverflowBehavior = #nvvm.mma_int_overflow<wrapped>
// CHECK-SAME: multiplicandAPtxType = #nvvm.mma_type<s8>, multiplicandBPtxType = #nvvm.mma_type<u8>
// CHECK-SAME: shape = #nvvm.shape<m = 16, n = 8, k = 32>
// CHECK-SAME: (i32, i32, i32) -> !llvm.struct<(i32, i32, i32, i32)>
func.func @multiply_bytes(%w: i32) -> i32 {
  %d:4 = "kern.multiply_matrices"(%w, %w, %w, %w, %w, %w, %w, %w, %w, %w) {left = "s8", operandSegmentSizes = array<i32: 6, 4>, right = "u8", unit = "m16n8k16"} : (i32, i32, i32, i32, i32, i32, i32, i32, i32, i32) -> (i32, i32, i32, i32)
  return %d#3 : i32
}

// Two words are an f64, which is made where they are loaded.

// CHECK-LABEL: func.func @multiply_f64
// CHECK: %[[WORDS:.*]]:4 = "kern.load_words"
// CHECK: %[[B:.*]] = llvm.bitcast %{{.*}} : vector<2xi32> to f64
// CHECK: llvm.insertelement %[[WORDS]]#0,
// CHECK: llvm.insertelement %[[WORDS]]#1,
// CHECK: %[[A:.*]] = llvm.bitcast %{{.*}} : vector<2xi32> to f64
// CHECK: arith.constant 7
// CHECK: nvvm.mma.sync A[%[[A]]] B[%[[B]]] C[%[[S:.*]], %[[S]]]
// CHECK-SAME: shape = #nvvm.shape<m = 8, n = 8, k = 4>
// CHECK-SAME: (f64, f64, f64) -> !llvm.struct<(f64, f64)>
func.func @multiply_f64(%x: memref<64xi32>, %i: index, %s: f64) -> (f64, i32) {
  %w:4 = "kern.load_words"(%x, %i) : (memref<64xi32>, index) -> (i32, i32, i32, i32)
  %seven = arith.constant 7 : i32
  %d:2 = "kern.multiply_matrices"(%w#0, %w#1, %w#2, %w#3, %s, %s) {left = "f64", operandSegmentSizes = array<i32: 4, 2>, right = "f64", unit = "m16n8k16"} : (i32, i32, i32, i32, f64, f64) -> (f64, f64)
  return %d#1, %seven : f64, i32
}

// Powers that may be flushed to 0 are one multiplication and one instruction, others stay.

// CHECK-LABEL: func.func @powers
// CHECK: %[[LOG2E:.*]] = arith.constant 1.442695
// CHECK: %[[X:.*]] = arith.mulf %arg0, %[[LOG2E]] : f32
// CHECK: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f"(%[[X]]) : (f32) -> f32
// CHECK: math.exp %arg0 fastmath<afn> : f32
func.func @powers(%x: f32) -> (f32, f32) {
  %a = math.exp %x fastmath<afn> {kern.flushed} : f32
  %b = math.exp %x fastmath<afn> : f32
  return %a, %b : f32, f32
}

// Copies wait by groups.

// CHECK-LABEL: func.func @copies
// CHECK: nvvm.cp.async.commit.group
// CHECK: nvvm.cp.async.wait.group 2
func.func @copies() {
  "kern.commit_copies"() : () -> ()
  "kern.wait_copies"() {pending = 2 : i32} : () -> ()
  return
}
