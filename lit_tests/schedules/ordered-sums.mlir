// RUN: %pykern-opt %s --pass-pipeline="builtin.module(kern-make-nests{machine=avx2 ordered=true},kern-apply-schedules,kern-emit-register-tiles,canonicalize,cse)" | FileCheck %s

// Sums that keep their order start from what memory holds, and are stored as they are.

// CHECK-LABEL: func.func private @product.nest0
// CHECK: memref.reinterpret_cast %arg2
// CHECK: %[[HELD:.*]] = vector.load
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[HELD]],
// CHECK: vector.fma
// CHECK-NOT: arith.addf
// CHECK: vector.store
func.func @product(%a: memref<6x40xf32>, %b: memref<40x16xf32>, %c: memref<6x16xf32>) attributes {kern.program} {
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : memref<6x40xf32>, memref<40x16xf32>) outs(%c : memref<6x16xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %r = arith.mulf %p, %q : f32
      %s = arith.addf %o, %r : f32
      linalg.yield %s : f32
  }
  return
}

// A matrix times a vector adds up along its terms in no order of a loop: it stays one.

// CHECK-LABEL: func.func private @rows.nest0
// CHECK-NOT: vector.
// CHECK: arith.addf
func.func @rows(%a: memref<64x100xf32>, %x: memref<100xf32>, %y: memref<64xf32>) attributes {kern.program} {
  linalg.generic {indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (k)>, affine_map<(m, k) -> (m)>],
      iterator_types = ["parallel", "reduction"]} ins(%a, %x : memref<64x100xf32>, memref<100xf32>) outs(%y : memref<64xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %r = arith.mulf %p, %q : f32
      %s = arith.addf %o, %r : f32
      linalg.yield %s : f32
  }
  return
}
