// RUN: %pykern-opt %s --kern-emit-register-tiles --canonicalize --cse | FileCheck %s

// Two rows of one vector: the sums stay in registers over the terms. Each term loads the vector of the right factor
// once and broadcasts an element of each row.

// CHECK-LABEL: func.func @tile
// CHECK-NOT: linalg.generic
// CHECK: %[[SUMS:.*]]:4 = scf.for
// CHECK: vector.load {{.*}} vector<8xf32>
// CHECK-COUNT-2: vector.fma {{.*}} vector<8xf32>
// CHECK: scf.yield
// CHECK: arith.addf %{{.*}}, %[[SUMS]]#0 : vector<8xf32>
// CHECK: arith.addf %{{.*}}, %[[SUMS]]#1 : vector<8xf32>
// CHECK-COUNT-2: vector.store {{.*}} vector<8xf32>
func.func @tile(%a: memref<2x32xf32>, %b: memref<32x8xf32>, %c: memref<2x8xf32>) {
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
      affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<2x32xf32>, memref<32x8xf32>) outs(%c : memref<2x8xf32>)
      attrs = {kern.tile = {row = 0, lane = 1, unroll = 1, width = 8, first = -1, start = -1}} {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %o, %p : f32
      linalg.yield %s : f32
  }
  return
}
