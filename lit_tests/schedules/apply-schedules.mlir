// RUN: %pykern-opt %s --kern-apply-schedules | FileCheck %s

// The script of a function tiles its contraction, in the order of its lines; then the script is gone.

// CHECK-NOT: transform.
// CHECK-LABEL: func.func @product
// CHECK: scf.for %{{.*}} to %{{.*}} step %c8
// CHECK: scf.for %{{.*}} to %{{.*}} step %c4
// CHECK: linalg.generic
// CHECK-SAME: memref<8x32xf32, {{.*}}>, memref<32x4xf32
// CHECK-NOT: transform.
module attributes {transform.with_named_sequence} {
  func.func @product(%a: memref<16x32xf32>, %b: memref<32x12xf32>, %c: memref<16x12xf32>) {
    linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
        affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b : memref<16x32xf32>, memref<32x12xf32>) outs(%c : memref<16x12xf32>) attrs = {kern.part = 0 : i64} {
      ^bb0(%x: f32, %y: f32, %o: f32):
        %p = arith.mulf %x, %y : f32
        %s = arith.addf %o, %p : f32
        linalg.yield %s : f32
    }
    return
  }
  transform.named_sequence @product.schedule(%root: !transform.any_op {transform.readonly}) {
    %product = transform.structured.match ops{["linalg.generic"]} attributes {kern.part = 0 : i64} in %root
        : (!transform.any_op) -> !transform.any_op
    %rows, %l0 = transform.structured.tile_using_for %product tile_sizes [8, 0, 0]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    %tile, %l1 = transform.structured.tile_using_for %rows tile_sizes [0, 4, 0]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}
