// RUN: %pykern-opt %s --pass-pipeline="builtin.module(kern-make-nests{machine=avx2},canonicalize,cse)" | FileCheck %s

#id = affine_map<(m, k) -> (m, k)>

// Large factors are computed while they are copied: no temporary of 256 x 600, each exponential once.

// CHECK-LABEL: func.func @packed
// CHECK-NOT: memref.alloc() : memref<256x600xf32>
// CHECK: call @packed.nest2.team(%arg0, {{.*}}, %arg1,
// CHECK-NEXT: func.call @packed.nest3.team
// CHECK-NEXT: }
// CHECK-NEXT: return
func.func @packed(%a: memref<256x600xf32>, %b: memref<600x512xf32>, %c: memref<256x512xf32>) attributes {kern.program} {
  %t = memref.alloc() : memref<256x600xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : memref<256x600xf32>) outs(%t : memref<256x600xf32>) {
    ^bb0(%p: f32, %o: f32):
      %e = math.exp %p : f32
      linalg.yield %e : f32
  }
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%t, %b : memref<256x600xf32>, memref<600x512xf32>) outs(%c : memref<256x512xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %r = arith.mulf %p, %q : f32
      %s = arith.addf %o, %r : f32
      linalg.yield %s : f32
  }
  return
}

// Weights that go by once are made from bytes where they are loaded; the scale of a column is a vector beside them.

// CHECK-LABEL: func.func @streamed
// CHECK-NOT: alloc
// CHECK: call @streamed.nest0.team(%arg0, %arg1, %arg2, %arg3,
// CHECK-NEXT: return
// CHECK-LABEL: func.func private @packed.nest0
// CHECK: math.exp %{{.*}} : vector<8xf32>
// CHECK: vector.shuffle
// CHECK-LABEL: func.func private @packed.nest3
// CHECK-NOT: math.exp
// CHECK: linalg.generic
// CHECK-LABEL: func.func private @streamed.nest0
// CHECK-SAME: form = "direct"
// CHECK: linalg.generic {{.*}} memref<600x2048xi8, {{.*}}>, memref<2048xf32,
// CHECK: arith.sitofp %{{.*}} : i8 to f32
// CHECK-NEXT: arith.mulf
// CHECK-NEXT: arith.mulf
// CHECK-NEXT: arith.addf
func.func @streamed(%a: memref<2x600xf32>, %w: memref<600x4096xi8>, %s: memref<4096xf32>, %c: memref<2x4096xf32>) attributes {kern.program} {
  %t = memref.alloc() : memref<600x4096xf32>
  linalg.generic {indexing_maps = [#id, affine_map<(k, n) -> (n)>, #id], iterator_types = ["parallel", "parallel"]}
      ins(%w, %s : memref<600x4096xi8>, memref<4096xf32>) outs(%t : memref<600x4096xf32>) {
    ^bb0(%p: i8, %q: f32, %o: f32):
      %f = arith.sitofp %p : i8 to f32
      %e = arith.mulf %f, %q : f32
      linalg.yield %e : f32
  }
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %t : memref<2x600xf32>, memref<600x4096xf32>) outs(%c : memref<2x4096xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %r = arith.mulf %p, %q : f32
      %u = arith.addf %o, %r : f32
      linalg.yield %u : f32
  }
  return
}
