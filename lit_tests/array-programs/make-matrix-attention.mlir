// RUN: %pykern-opt %s --pass-pipeline="builtin.module(kern-make-kernels{matrix-unit=m16n8k16 aligned=true},canonicalize,cse)" | FileCheck %s
// RUN: %pykern-opt %s --pass-pipeline="builtin.module(kern-make-kernels{matrix-unit=gfx942 aligned=true},canonicalize,cse)" | FileCheck %s --check-prefix=WAVE

// Four subgroups have 16 queries each, in registers: two times four words of two elements. Keys are in the one shared
// array by rows of 32 terms, values in the other; each is copied while the other one is multiplied. Of a block of 64
// keys a lane has 32 scores, and what becomes of them is the left factor of the second product.

#q = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d3)>
#k = affine_map<(d0, d1, d2, d3, d4) -> (d0, d2, d3)>
#v = affine_map<(d0, d1, d2, d3, d4) -> (d0, d2, d4)>
#v_out = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d4)>

// CHECK-LABEL: func.func @program.attend
// CHECK: func.func private @attend_0(
// CHECK-SAME: kern.ndrange = array<i64: 4, 8, 128>
// CHECK: "kern.shared"() : () -> memref<1024xi32
// CHECK: "kern.shared"() : () -> memref<512xi32
// CHECK-NOT: "kern.shared"
// CHECK-COUNT-2: "kern.copy_async"
// CHECK: "kern.commit_copies"
// CHECK: scf.for {{.*}} step %c64
// CHECK: "kern.wait_copies"
// CHECK: "kern.barrier"
// CHECK: "kern.copy_async"
// CHECK: "kern.commit_copies"
// CHECK-COUNT-8: "kern.load_matrices"({{.*}}) {transposed = false}
// CHECK: "kern.multiply_matrices"
// CHECK-COUNT-4: "kern.subgroup_shuffle"
// CHECK-COUNT-34: math.exp {{.*}} fastmath<afn>
// CHECK-NOT: memref.store
// CHECK: "kern.wait_copies"
// CHECK: "kern.barrier"
// CHECK-COUNT-2: "kern.copy_async"
// CHECK-COUNT-4: "kern.load_matrices"({{.*}}) {transposed = true}
// CHECK: "kern.multiply_matrices"
// CHECK: scf.yield
// CHECK: "kern.wait_copies"

// On AMD a lane has one query, and 16 scores of 64 keys. Values are loaded before the scores are computed, and stored
// behind them; the next keys are loaded before the second product.
// WAVE-LABEL: func.func @program.attend
// WAVE: func.func private @attend_0(
// WAVE-SAME: kern.ndrange = array<i64: 4, 8, 256>
// WAVE: "kern.shared"() : () -> memref<1024xi32
// WAVE: "kern.shared"() : () -> memref<512xi32
// WAVE: scf.for {{.*}} step %c64{{.*}} -> (f32, f32, f32, f32, f32, f32)
// WAVE-NEXT: "kern.barrier"
// WAVE-COUNT-2: "kern.load_words"({{.*}}) : (memref<4x512x16xf16>, index, index, index) -> i32
// WAVE-COUNT-4: "kern.load_words"({{.*}}) : (memref<1024xi32, {{.*}}>, index) -> (i32, i32, i32, i32)
// WAVE-COUNT-8: "kern.multiply_matrices"
// WAVE-COUNT-2: "kern.subgroup_shuffle"
// WAVE-COUNT-17: math.exp {{.*}} fastmath<afn>
// WAVE: "kern.store_words"({{.*}}) : (memref<512xi32
// WAVE: "kern.barrier"
// WAVE: "kern.load_words"({{.*}}) : (memref<4x512x32xf16>, index, index, index) -> (i32, i32, i32, i32)
// WAVE-COUNT-4: "kern.multiply_matrices"
// WAVE: "kern.store_words"({{.*}}) : (memref<1024xi32
// WAVE: scf.yield
func.func @program.attend(%q: memref<4x512x32xf16>, %k: memref<4x512x32xf16>, %v: memref<4x512x16xf16>, %out: memref<4x512x16xf16>) attributes {kern.program} {
  call @program.attend.attention0.tiles(%q, %k, %v, %out) : (memref<4x512x32xf16>, memref<4x512x32xf16>, memref<4x512x16xf16>, memref<4x512x16xf16>) -> ()
  return
}
func.func private @program.attend.attention0.score(%s: f32, %b: index, %i: index, %j: index) -> f32 attributes {kern.attention} {
  return %s : f32
}
func.func private @program.attend.attention0.tiles(memref<4x512x32xf16>, memref<4x512x32xf16>, memref<4x512x16xf16>, memref<4x512x16xf16>) attributes {kern.attention = @program.attend.attention0.score, kern.lengths = array<i64: 4, 512, 512, 32, 16>, kern.maps = [#q, #k, #v, #v_out], kern.weights = f16}
