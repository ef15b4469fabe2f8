// RUN: %pykern-opt %s --pass-pipeline="builtin.module(kern-make-nests{machine=avx2},kern-apply-schedules,kern-emit-register-tiles,canonicalize,cse)" | FileCheck %s

// A row times a large matrix: eight lines of it at a time, sums in the first cache; no element of it is read twice.

// CHECK-LABEL: func.func private @row.nest0
// CHECK-SAME: kern.schedule = {block = 32 : i64, depth = 8 : i64, form = "direct", rows = 1 : i64
// CHECK: memref.store
// CHECK: scf.for %{{.*}} step %c8
// CHECK: scf.for %{{.*}} step %c32
// CHECK-COUNT-32: vector.fma
// CHECK-NOT: vector.fma
// CHECK: vector.load
// CHECK: arith.addf
// CHECK: vector.store
func.func @row(%a: memref<1x2048xf32>, %b: memref<2048x2048xf32>, %c: memref<1x2048xf32>) attributes {kern.program} {
  %zero = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      outs(%c : memref<1x2048xf32>) {
    ^bb0(%o: f32):
      linalg.yield %zero : f32
  }
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
      affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<1x2048xf32>, memref<2048x2048xf32>) outs(%c : memref<1x2048xf32>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %o, %p : f32
      linalg.yield %s : f32
  }
  return
}
