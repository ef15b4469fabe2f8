// RUN: %pykern-opt %s --split-input-file --pass-pipeline="builtin.module(kern-make-nests{machine=avx2},canonicalize,cse)" | FileCheck %s
// RUN: %pykern-opt %s --split-input-file --pass-pipeline="builtin.module(kern-make-nests{machine=avx2},kern-apply-schedules,kern-emit-register-tiles,canonicalize,cse)" | FileCheck %s --check-prefix=TILE

// A small product reads both factors where they are: no copies, one function.

// CHECK-LABEL: func.func @small
// CHECK-NOT: memref.alloc
// CHECK: call @small.nest0(%arg0, %arg1, %arg2, %c0{{.*}}, %c8{{.*}})
// CHECK: kern.schedule = {{{.*}}form = "direct", rows = 3

// The last three columns of 19 are a vector that is not full: a padded load, a store of two and one of one.

// TILE-LABEL: func.func private @small.nest0
// TILE: vector.fma
// TILE: vector.maskedload {{.*}} vector<8xf32>
// TILE: vector.shuffle {{.*}} [0, 1] : vector<8xf32>
// TILE: vector.shuffle {{.*}} [2] : vector<8xf32>
func.func @small(%a: memref<24x32xf32>, %b: memref<32x19xf32>, %c: memref<24x19xf32>) attributes {kern.program} {
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
      affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<24x32xf32>, memref<32x19xf32>) outs(%c : memref<24x19xf32>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %o, %p : f32
      linalg.yield %s : f32
  }
  return
}

// -----

// A convolution of one channel is the same: elements of the filter are broadcast, lines of the picture are vectors.

// CHECK-LABEL: func.func @filter
// CHECK-NOT: memref.alloc
// CHECK: call @filter.nest0
// TILE-LABEL: func.func private @filter.nest0
// TILE: memref.load %{{.*}} : memref<9xf32
// TILE: vector.broadcast
// TILE: vector.load {{.*}} vector<8xf32>
// TILE: vector.fma
func.func @filter(%x: memref<34x66xf32>, %w: memref<3x3xf32>, %y: memref<32x64xf32>) attributes {kern.program} {
  linalg.generic {indexing_maps = [affine_map<(i, j, p, q) -> (i + p, j + q)>, affine_map<(i, j, p, q) -> (p, q)>,
      affine_map<(i, j, p, q) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : memref<34x66xf32>, memref<3x3xf32>) outs(%y : memref<32x64xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %p = arith.mulf %a, %b : f32
      %s = arith.addf %o, %p : f32
      linalg.yield %s : f32
  }
  return
}

// -----

// A convolution with channels is a product whose rows overlap: the picture is packed as it is read.

// CHECK-LABEL: func.func @channels
// CHECK-DAG: memref.alloc() : memref<2x100x20x288x5xf32>
// CHECK-DAG: memref.alloc() : memref<16x288x16xf32>
// CHECK: form = "packed"
func.func @channels(%x: memref<2x102x102x32xf32>, %w: memref<3x3x32x256xf32>, %y: memref<2x100x100x256xf32>) attributes {kern.program} {
  linalg.generic {indexing_maps = [affine_map<(b, i, j, o, p, q, c) -> (b, i + p, j + q, c)>,
      affine_map<(b, i, j, o, p, q, c) -> (p, q, c, o)>, affine_map<(b, i, j, o, p, q, c) -> (b, i, j, o)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : memref<2x102x102x32xf32>, memref<3x3x32x256xf32>) outs(%y : memref<2x100x100x256xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %p = arith.mulf %a, %b : f32
      %s = arith.addf %o, %p : f32
      linalg.yield %s : f32
  }
  return
}
