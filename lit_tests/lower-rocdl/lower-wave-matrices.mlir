// RUN: %pykern-opt %s --kern-lower-wave-matrices | FileCheck %s

// The words of a lane are one vector of what the instruction multiplies, its sums another.

// CHECK-LABEL: func.func @cdna
// CHECK-SAME: (%[[W:.*]]: i32, %[[F:.*]]: f32, %[[D:.*]]: f64)
// CHECK: %[[WORDS:.*]] = llvm.insertelement %[[W]], %{{.*}} : vector<2xi32>
// CHECK: %[[HALVES:.*]] = llvm.bitcast %{{.*}} : vector<2xi32> to vector<4xf16>
// CHECK: %[[ZERO:.*]] = llvm.mlir.constant(0 : i32)
// CHECK: %[[SUMS:.*]] = rocdl.mfma.f32.16x16x16f16 %[[HALVES]], %{{.*}}, %{{.*}}, %{{.*}} : (vector<4xf16>, vector<4xf16>, vector<4xf32>, i32, i32, i32) -> vector<4xf32>
// CHECK: llvm.extractelement %[[SUMS]]
// CHECK: rocdl.mfma.f32.16x16x16bf16.1k {{.*}} : (vector<4xi16>, vector<4xi16>, vector<4xf32>, i32, i32, i32)
// CHECK: %[[DOUBLE:.*]] = llvm.bitcast %{{.*}} : vector<2xi32> to f64
// CHECK: rocdl.mfma.f64.16x16x4f64 %[[DOUBLE]], {{.*}} : (f64, f64, vector<4xf64>, i32, i32, i32) -> vector<4xf64>
// CHECK: %[[ONE:.*]] = llvm.bitcast %{{.*}} : i32 to f32
// CHECK: rocdl.mfma.f32.16x16x4f32 %[[ONE]], {{.*}} : (f32, f32, vector<4xf32>, i32, i32, i32)
// CHECK: rocdl.mfma.i32.16x16x32.i8 {{.*}} : (i64, i64, vector<4xi32>, i32, i32, i32)
// CHECK: rocdl.mfma.i32.16x16x16i8 %[[W]], %[[W]], {{.*}} : (i32, i32, vector<4xi32>, i32, i32, i32)
// CHECK: rocdl.mfma.f32.16x16x32.bf16 {{.*}} : (vector<8xbf16>, vector<8xbf16>, vector<4xf32>, i32, i32, i32)
func.func @cdna(%w: i32, %f: f32, %d: f64) -> (f32, f64, i32) {
  %a:4 = "kern.multiply_matrices"(%w, %w, %w, %w, %f, %f, %f, %f) {left = "f16", operandSegmentSizes = array<i32: 4, 4>, right = "f16", unit = "gfx942"} : (i32, i32, i32, i32, f32, f32, f32, f32) -> (f32, f32, f32, f32)
  %b:4 = "kern.multiply_matrices"(%w, %w, %w, %w, %a#0, %a#1, %a#2, %a#3) {left = "bf16", operandSegmentSizes = array<i32: 4, 4>, right = "bf16", unit = "gfx90a"} : (i32, i32, i32, i32, f32, f32, f32, f32) -> (f32, f32, f32, f32)
  %c:4 = "kern.multiply_matrices"(%w, %w, %w, %w, %d, %d, %d, %d) {left = "f64", operandSegmentSizes = array<i32: 4, 4>, right = "f64", unit = "gfx90a"} : (i32, i32, i32, i32, f64, f64, f64, f64) -> (f64, f64, f64, f64)
  %e:4 = "kern.multiply_matrices"(%w, %w, %b#0, %b#1, %b#2, %b#3) {left = "f32", operandSegmentSizes = array<i32: 2, 4>, right = "f32", unit = "gfx950"} : (i32, i32, f32, f32, f32, f32) -> (f32, f32, f32, f32)
  %g:4 = "kern.multiply_matrices"(%w, %w, %w, %w, %w, %w, %w, %w) {left = "s8", operandSegmentSizes = array<i32: 4, 4>, right = "s8", unit = "gfx942"} : (i32, i32, i32, i32, i32, i32, i32, i32) -> (i32, i32, i32, i32)
  %h:4 = "kern.multiply_matrices"(%w, %w, %g#0, %g#1, %g#2, %g#3) {left = "s8", operandSegmentSizes = array<i32: 2, 4>, right = "s8", unit = "gfx90a"} : (i32, i32, i32, i32, i32, i32) -> (i32, i32, i32, i32)
  %i:4 = "kern.multiply_matrices"(%w, %w, %w, %w, %w, %w, %w, %w, %e#0, %e#1, %e#2, %e#3) {left = "bf16", operandSegmentSizes = array<i32: 8, 4>, right = "bf16", unit = "gfx950"} : (i32, i32, i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> (f32, f32, f32, f32)
  return %i#0, %c#1, %h#2 : f32, f64, i32
}

// Bytes are signed where their type says so.

// CHECK-LABEL: func.func @rdna
// CHECK: rocdl.wmma.f32.16x16x16.f16 {{.*}} : (vector<8xf16>, vector<8xf16>, vector<8xf32>) -> vector<8xf32>
// CHECK: rocdl.wmma.i32.16x16x16.iu8 {{.*}} {signA = true} : (vector<2xi32>, vector<2xi32>, vector<8xi32>) -> vector<8xi32>
func.func @rdna(%w: i32, %f: f32) -> (f32, i32) {
  %a:8 = "kern.multiply_matrices"(%w, %w, %w, %w, %w, %w, %w, %w, %f, %f, %f, %f, %f, %f, %f, %f) {left = "f16", operandSegmentSizes = array<i32: 8, 8>, right = "f16", unit = "gfx12"} : (i32, i32, i32, i32, i32, i32, i32, i32, f32, f32, f32, f32, f32, f32, f32, f32) -> (f32, f32, f32, f32, f32, f32, f32, f32)
  %b:8 = "kern.multiply_matrices"(%w, %w, %w, %w, %w, %w, %w, %w, %w, %w, %w, %w) {left = "s8", operandSegmentSizes = array<i32: 4, 8>, right = "u8", unit = "gfx12"} : (i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32) -> (i32, i32, i32, i32, i32, i32, i32, i32)
  return %a#0, %b#7 : f32, i32
}

// Powers that may be flushed to 0 are one multiplication and one instruction, others stay.

// CHECK-LABEL: func.func @powers
// CHECK: %[[LOG2E:.*]] = arith.constant 1.442695
// CHECK: %[[X:.*]] = arith.mulf %arg0, %[[LOG2E]] : f32
// CHECK: rocdl.exp2 %[[X]] f32 -> f32
// CHECK: math.exp %arg0 fastmath<afn> : f32
func.func @powers(%x: f32) -> (f32, f32) {
  %a = math.exp %x fastmath<afn> {kern.flushed} : f32
  %b = math.exp %x fastmath<afn> : f32
  return %a, %b : f32, f32
}
