// RUN: %pykern-opt %s --pass-pipeline="builtin.module(kern-make-nests{machine=avx2},canonicalize,cse)" | FileCheck %s --check-prefixes=CHECK,AVX2
// RUN: %pykern-opt %s --pass-pipeline="builtin.module(kern-make-nests{machine=avx512},canonicalize,cse)" | FileCheck %s --check-prefixes=CHECK,AVX512

// The right factor lies along its terms and is small: it is turned once, in squares of 256 bits, and the product reads
// vectors of it where it would read those of a factor that lies along the columns. Nothing is packed.

// CHECK-LABEL: func.func @small(
// CHECK: %[[TURNED:.*]] = memref.alloc() : memref<51x67xf32>
// CHECK: call @small.nest0(%arg1, %[[TURNED]],
// CHECK: call @small.nest1(%arg0, %[[TURNED]], %arg2,
func.func @small(%a: memref<40x51xf32>, %b: memref<67x51xf32>, %c: memref<40x67xf32>) attributes {kern.program} {
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>,
      affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<40x51xf32>, memref<67x51xf32>) outs(%c : memref<40x67xf32>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %o, %p : f32
      linalg.yield %s : f32
  }
  return
}

// With few rows both factors are packed: a panel has the columns of a tile, not all of them.

// CHECK-LABEL: func.func @few_rows(
// CHECK: %[[ROWS:.*]] = memref.alloc() : memref<1x51x{{.*}}xf32>
// CHECK: %[[PANELS:.*]] = memref.alloc() : memref<{{.*}}x51x{{.*}}xf32>
// CHECK: call @few_rows.nest2(%[[ROWS]], %[[PANELS]], %arg2,
func.func @few_rows(%a: memref<9x51xf32>, %b: memref<67x51xf32>, %c: memref<9x67xf32>) attributes {kern.program} {
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>,
      affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<9x51xf32>, memref<67x51xf32>) outs(%c : memref<9x67xf32>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %o, %p : f32
      linalg.yield %s : f32
  }
  return
}

// CHECK-LABEL: func.func private @small.nest0(
// CHECK-COUNT-8: vector.load {{.*}} : memref<67x51xf32>, vector<8xf32>
// CHECK: vector.shuffle {{.*}} [0, 8, 1, 9, 4, 12, 5, 13] : vector<8xf32>, vector<8xf32>
// CHECK-COUNT-8: vector.store {{.*}} : memref<51x67xf32>, vector<8xf32>
// CHECK-LABEL: func.func private @small.nest1(
// CHECK-SAME: form = "direct"
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction"]
// AVX2-SAME: width = 8
// AVX512-SAME: width = 16
