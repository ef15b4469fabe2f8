// RUN: %pykern-opt %s --split-input-file --kern-lower-to-pointers | FileCheck %s

// Shared memory that launches bring begins at a multiple of 1024 bytes. A map is one more argument, which tells whose
// memory it is of. The sums go through the instructions that order registers.

// CHECK: llvm.mlir.global external @kern_dynamic_shared() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
// CHECK-LABEL: func.func @kernel
// CHECK-SAME: %[[MAP:[a-z0-9]*]]: !llvm.ptr)
// CHECK-SAME: kern.arguments = ["memory", "tensor_map 0 f16 64,64 128 64,64"]
// CHECK-SAME: kern.launch_shared = 16384
// CHECK-SAME: kern.shared_bytes = 8
// CHECK: nvvm.mbarrier.init
// CHECK: nvvm.fence.mbarrier.init
// CHECK: nvvm.mbarrier.arrive.expect_tx
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[MAP]], %{{.*}}, box[%{{.*}}, %{{.*}}]
// CHECK: nvvm.mbarrier.try_wait.parity
// CHECK: llvm.inline_asm has_side_effects asm_dialect = att "wgmma.fence.sync.aligned;"
// CHECK-COUNT-4: nvvm.wgmma.mma_async {{.*}} <m = 64, n = 64, k = 16>
// CHECK: nvvm.wgmma.commit.group.sync.aligned
// CHECK: llvm.inline_asm has_side_effects asm_dialect = att "wgmma.wait_group.sync.aligned 0;"
func.func @kernel(%a: memref<?xf16>) attributes {kern.kernel, kern.plain, kern.rank = 1 : i64, kern.workgroup = array<i64: 128>, kern.arguments = ["memory"]} {
  %map = "kern.tensor_map"(%a) {form = "tensor_map -1 f16 64,64 128 64,64"} : (memref<?xf16>) -> i64
  %memory = "kern.shared"() {kern.at_launch} : () -> memref<4096xi32, #gpu.address_space<workgroup>>
  %phases = "kern.shared"() : () -> memref<1xi64, #gpu.address_space<workgroup>>
  %zero = arith.constant 0 : index
  %word = arith.constant 0 : i32
  %half = arith.constant 2048 : index
  "kern.begin_phases"(%phases) {count = 1 : i32} : (memref<1xi64, #gpu.address_space<workgroup>>) -> ()
  "kern.expect_bytes"(%phases, %zero) {bytes = 8192 : i32} : (memref<1xi64, #gpu.address_space<workgroup>>, index) -> ()
  "kern.copy_box"(%map, %memory, %zero, %phases, %zero, %zero, %zero) : (i64, memref<4096xi32, #gpu.address_space<workgroup>>, index, memref<1xi64, #gpu.address_space<workgroup>>, index, index, index) -> ()
  "kern.wait_phase"(%phases, %zero, %word) : (memref<1xi64, #gpu.address_space<workgroup>>, index, i32) -> ()
  %sum = arith.constant 0.0 : f32
  %d:32 = "kern.multiply_panels"(%memory, %zero, %memory, %half, %sum, %sum, %sum, %sum, %sum, %sum, %sum, %sum, %sum, %sum, %sum, %sum, %sum, %sum, %sum, %sum, %sum, %sum, %sum, %sum, %sum, %sum, %sum, %sum, %sum, %sum, %sum, %sum, %sum, %sum, %sum, %sum) {columns = 64 : i32, left_by_terms = true, right_by_terms = false, type = "f16"} : (memref<4096xi32, #gpu.address_space<workgroup>>, index, memref<4096xi32, #gpu.address_space<workgroup>>, index, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32) -> (f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)
  return
}

// -----

// A left factor in registers: the instruction is PTX, as the op of NVVM takes a descriptor alone. Its registers keep their
// words until the product is done.

// CHECK-LABEL: func.func @words
// CHECK: llvm.inline_asm has_side_effects asm_dialect = att "wgmma.fence.sync.aligned;"
// CHECK-COUNT-2: llvm.inline_asm has_side_effects asm_dialect = att "{ .reg .pred p; setp.ne.b32 p, 1, 0; wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {$0, {{.*}}$31}, {$32, $33, $34, $35}, $36, p, 1, 1, 1; }"
// CHECK: nvvm.wgmma.commit.group.sync.aligned
// CHECK: llvm.inline_asm has_side_effects asm_dialect = att "wgmma.wait_group.sync.aligned 0;"
func.func @words(%w: i32) attributes {kern.kernel, kern.plain, kern.rank = 1 : i64, kern.workgroup = array<i64: 128>, kern.arguments = ["i32"]} {
  %memory = "kern.shared"() {kern.at_launch} : () -> memref<2048xi32, #gpu.address_space<workgroup>>
  %zero = arith.constant 0 : index
  %sum = arith.constant 0.0 : f32
  %d:32 = "kern.multiply_words"(%memory, %zero, %w, %w, %w, %w, %w, %w, %w, %w, %sum, %sum, %sum, %sum, %sum, %sum, %sum, %sum, %sum, %sum, %sum, %sum, %sum, %sum, %sum, %sum, %sum, %sum, %sum, %sum, %sum, %sum, %sum, %sum, %sum, %sum, %sum, %sum, %sum, %sum, %sum, %sum) {by_terms = false, columns = 64 : i32, operandSegmentSizes = array<i32: 1, 1, 8, 32>, type = "bf16"} : (memref<2048xi32, #gpu.address_space<workgroup>>, index, i32, i32, i32, i32, i32, i32, i32, i32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32) -> (f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)
  return
}
