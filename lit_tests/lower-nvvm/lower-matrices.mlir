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
  %d:4 = "kern.multiply_matrices"(%w, %w, %w, %w, %w, %w, %s, %s, %s, %s) {element = "f16"} : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> (f32, f32, f32, f32)
  %e:4 = "kern.multiply_matrices"(%w, %w, %w, %w, %w, %w, %d#0, %d#1, %d#2, %d#3) {element = "bf16"} : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> (f32, f32, f32, f32)
  return %e#3 : f32
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
