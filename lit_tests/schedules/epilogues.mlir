// RUN: %pykern-opt %s --pass-pipeline="builtin.module(kern-make-nests{machine=avx2},canonicalize,cse)" | FileCheck %s
// RUN: %pykern-opt %s --pass-pipeline="builtin.module(kern-make-nests{machine=avx2},kern-apply-schedules,kern-emit-register-tiles,canonicalize,cse)" | FileCheck %s --check-prefix=TILE

// Bias, activation and residual are computed in the tile, from its sums: one function for all of it, two slices of terms.

// CHECK-LABEL: func.func @layer
// CHECK: scf.for
// CHECK: call @layer.nest3{{.*}}(%{{.*}}, %arg2, %arg3, %arg4,
// CHECK-NEXT: }
// CHECK-NEXT: return
// CHECK-LABEL: func.func private @layer.nest3(
// CHECK: %[[LAST:.*]] = arith.cmpi eq, %{{.*}}, %c400
// CHECK: linalg.generic {{.*}}ins(%{{.*}}, %[[LAST]],
// CHECK-SAME: kern.tile = {first = 3 : i64, lane = 3 : i64, last = 4
// CHECK: %[[SUM:.*]] = arith.addf
// CHECK: arith.addf %[[SUM]],
// CHECK: math.tanh
// CHECK: linalg.yield %[[SUM]], %

// With the last slice the result is written, with those before it the sums.

// TILE-LABEL: func.func private @layer.nest3(
// TILE: memref.alloca() {alignment = 64 : i64} : memref<6x16xf32>
// TILE: vector.fma
// TILE: scf.if
// TILE: scf.for
// TILE: arith.addf {{.*}} : vector<8xf32>
// TILE: math.tanh {{.*}} : vector<8xf32>
// TILE: vector.store
// TILE: } else {
// TILE-NOT: math.tanh
// TILE: vector.store
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @layer(%a: memref<120x800xf32>, %b: memref<800x160xf32>, %bias: memref<160xf32>, %r: memref<120x160xf32>,
    %y: memref<120x160xf32>) attributes {kern.program} {
  %zero = arith.constant 0.0 : f32
  %t = memref.alloc() : memref<120x160xf32>
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%t : memref<120x160xf32>) {
    ^bb0(%o: f32):
      linalg.yield %zero : f32
  }
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
      affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<120x800xf32>, memref<800x160xf32>) outs(%t : memref<120x160xf32>) {
    ^bb0(%x: f32, %z: f32, %o: f32):
      %p = arith.mulf %x, %z : f32
      %s = arith.addf %o, %p : f32
      linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#id, affine_map<(d0, d1) -> (d1)>, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%t, %bias, %r : memref<120x160xf32>, memref<160xf32>, memref<120x160xf32>) outs(%y : memref<120x160xf32>) {
    ^bb0(%s: f32, %c: f32, %d: f32, %o: f32):
      %1 = arith.addf %s, %c : f32
      %2 = math.tanh %1 : f32
      %3 = arith.addf %2, %d : f32
      linalg.yield %3 : f32
  }
  return
}
