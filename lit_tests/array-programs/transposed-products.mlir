// RUN: %pykern-opt %s --pass-pipeline="builtin.module(kern-make-nests,kern-apply-schedules,kern-emit-register-tiles,canonicalize)" | FileCheck %s

// The cotangent of a product's second factor, a.T @ cotangent: the factors change places, so that rows of the result
// are columns of `a`, and vectors run along the cotangent's rows.

// CHECK-LABEL: func.func @weights
// CHECK-NOT: linalg.generic
// CHECK: call @weights.nest0
// CHECK-LABEL: func.func private @weights.nest0
// CHECK: vector.load
// CHECK: vector.fma
// CHECK: vector.store
#mn = affine_map<(m, k, n) -> (m, n)>
#mk = affine_map<(m, k, n) -> (m, k)>
#kn = affine_map<(m, k, n) -> (k, n)>
func.func @weights(%bar: memref<24x32xf64>, %a: memref<24x16xf64>, %out: memref<16x32xf64>) attributes {kern.program} {
  linalg.generic {indexing_maps = [#mn, #mk, #kn], iterator_types = ["reduction", "parallel", "parallel"]}
      ins(%bar, %a : memref<24x32xf64>, memref<24x16xf64>) outs(%out : memref<16x32xf64>) {
  ^bb0(%x: f64, %y: f64, %o: f64):
    %p = arith.mulf %x, %y : f64
    %s = arith.addf %o, %p : f64
    linalg.yield %s : f64
  }
  return
}
