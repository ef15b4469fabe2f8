// RUN: %pykern-opt %s --pass-pipeline="builtin.module(kern-make-kernels{matrix-unit=m16n8k16 aligned=true warpgroup-unit=m64k16},canonicalize,cse)" | FileCheck %s
// RUN: %pykern-opt %s --pass-pipeline="builtin.module(kern-make-kernels{matrix-unit=m16n8k16 warpgroup-unit=m64k16},canonicalize,cse)" | FileCheck %s --check-prefix=ANYWHERE

// A warpgroup has 64 queries, which stay in registers: four words of each 16 terms. Boxes of 64 keys, and of their values,
// come into one of two slots of 24 KiB. The scores are 32 sums of a work-item, their powers 16 words, which are the
// left factor of the second product, and that has 64 sums. The next block is asked for behind the barrier.

#q = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d3)>
#k = affine_map<(d0, d1, d2, d3, d4) -> (d0, d2, d3)>
#v = affine_map<(d0, d1, d2, d3, d4) -> (d0, d2, d4)>
#v_out = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d4)>

// CHECK-LABEL: func.func @program.attend
// CHECK: func.func private @attend_0(
// CHECK-SAME: kern.ndrange = array<i64: 8, 8, 128>
// CHECK: %[[K:.*]] = "kern.tensor_map"(%{{.*}}) {form = "tensor_map -1 f16 64,512,8 128,65536 64,64,1"}
// CHECK: %[[V:.*]] = "kern.tensor_map"(%{{.*}}) {form = "tensor_map -1 f16 128,512,8 256,131072 64,64,1"}
// CHECK: %[[MEMORY:.*]] = "kern.shared"() {kern.at_launch} : () -> memref<12288xi32
// CHECK: %[[PHASES:.*]] = "kern.shared"() : () -> memref<2xi64
// CHECK: "kern.begin_phases"(%[[PHASES]]) {count = 2 : i32}
// CHECK: "kern.expect_bytes"(%[[PHASES]], %{{.*}}) {bytes = 24576 : i32}
// CHECK: "kern.copy_box"(%[[K]], %[[MEMORY]]
// CHECK-COUNT-2: "kern.copy_box"(%[[V]], %[[MEMORY]]
// CHECK: "kern.barrier"
// CHECK: scf.for {{.*}} step %c64
// CHECK: "kern.wait_phase"(%[[PHASES]]
// CHECK-NEXT: "kern.barrier"
// CHECK: "kern.expect_bytes"
// CHECK: "kern.multiply_words"(%[[MEMORY]], {{.*}}{by_terms = true, columns = 64 : i32, operandSegmentSizes = array<i32: 1, 1, 16, 32>, type = "f16"}
// CHECK-COUNT-4: "kern.subgroup_shuffle"
// CHECK-COUNT-34: math.exp {{.*}} fastmath<afn>
// CHECK: "kern.multiply_words"(%[[MEMORY]], {{.*}}{by_terms = false, columns = 128 : i32, operandSegmentSizes = array<i32: 1, 1, 16, 64>, type = "f16"}
// CHECK: scf.yield

// ANYWHERE-NOT: "kern.multiply_words"
// ANYWHERE: "kern.multiply_matrices"
func.func @program.attend(%q: memref<8x512x64xf16>, %k: memref<8x512x64xf16>, %v: memref<8x512x128xf16>, %out: memref<8x512x128xf16>) attributes {kern.program} {
  call @program.attend.attention0.tiles(%q, %k, %v, %out) : (memref<8x512x64xf16>, memref<8x512x64xf16>, memref<8x512x128xf16>, memref<8x512x128xf16>) -> ()
  return
}
func.func private @program.attend.attention0.score(%s: f32, %b: index, %i: index, %j: index) -> f32 attributes {kern.attention} {
  return %s : f32
}
func.func private @program.attend.attention0.tiles(memref<8x512x64xf16>, memref<8x512x64xf16>, memref<8x512x128xf16>, memref<8x512x128xf16>) attributes {kern.attention = @program.attend.attention0.score, kern.lengths = array<i64: 8, 512, 512, 64, 128>, kern.maps = [#q, #k, #v, #v_out], kern.weights = f16}
