// RUN: %pykern-opt %s --split-input-file --pass-pipeline="builtin.module(kern-make-kernels{matrix-unit=m16n8k16 aligned=true warpgroup-unit=m64k16},canonicalize,cse)" | FileCheck %s
// RUN: %pykern-opt %s --split-input-file --pass-pipeline="builtin.module(kern-make-kernels{matrix-unit=m16n8k16 warpgroup-unit=m64k16},canonicalize,cse)" | FileCheck %s --check-prefix=ANYWHERE

#left = affine_map<(i, j, k) -> (i, k)>
#right = affine_map<(i, j, k) -> (k, j)>
#out = affine_map<(i, j, k) -> (i, j)>
#all = affine_map<(i, j) -> (i, j)>

// One warpgroup has a tile of 64 x 64. Boxes of 64 x 64 elements of both factors come through tensor maps into three
// slots, for as many steps of 64 terms; the first work-item asks for two steps ahead. Rows of the right factor are its
// terms.
// CHECK-LABEL: func.func @program.product(
// CHECK: workgroup = array<i64: 1, 1, 128>
// CHECK: func.func private @product_0
// CHECK: %[[A:.*]] = "kern.tensor_map"(%{{.*}}) {form = "tensor_map -1 f16 136,72 272 64,64"}
// CHECK: %[[B:.*]] = "kern.tensor_map"(%{{.*}}) {form = "tensor_map -1 f16 80,136 160 64,64"}
// CHECK: %[[MEMORY:.*]] = "kern.shared"() {kern.at_launch} : () -> memref<12288xi32
// CHECK: %[[PHASES:.*]] = "kern.shared"() : () -> memref<3xi64
// CHECK: scf.if
// CHECK: "kern.begin_phases"(%[[PHASES]]) {count = 3 : i32}
// CHECK: "kern.expect_bytes"(%[[PHASES]], %{{.*}}) {bytes = 16384 : i32}
// CHECK: "kern.copy_box"(%[[A]], %[[MEMORY]], %{{.*}}, %[[PHASES]]
// CHECK: "kern.copy_box"(%[[B]], %[[MEMORY]], %{{.*}}, %[[PHASES]]
// CHECK: "kern.expect_bytes"
// CHECK: "kern.barrier"
// CHECK: scf.for
// CHECK-NEXT: "kern.wait_phase"(%[[PHASES]]
// CHECK-NEXT: "kern.barrier"
// CHECK: scf.if
// CHECK: "kern.copy_box"(%[[A]]
// CHECK: "kern.multiply_panels"({{.*}}columns = 64 : i32, left_by_terms = true, right_by_terms = false, type = "f16"
// CHECK: scf.yield
// CHECK: memref.store {{.*}} : memref<72x80xf32>
// CHECK-NOT: kern.multiply_matrices

// Arrays that may begin anywhere have no maps.
// ANYWHERE-NOT: kern.tensor_map
// ANYWHERE: "kern.multiply_matrices"
func.func @program.product(%a: memref<72x136xf16>, %b: memref<136x80xf16>, %sums: memref<72x80xf32>) attributes {kern.program} {
  %zero = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [#all], iterator_types = ["parallel", "parallel"]} outs(%sums : memref<72x80xf32>) {
  ^bb0(%o: f32):
    linalg.yield %zero : f32
  }
  linalg.generic {indexing_maps = [#left, #right, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<72x136xf16>, memref<136x80xf16>) outs(%sums : memref<72x80xf32>) {
  ^bb0(%l: f16, %r: f16, %o: f32):
    %left = arith.extf %l : f16 to f32
    %right = arith.extf %r : f16 to f32
    %product = arith.mulf %left, %right : f32
    %sum = arith.addf %o, %product : f32
    linalg.yield %sum : f32
  }
  return
}

// -----

#left = affine_map<(i, j, k) -> (i, k)>
#right = affine_map<(i, j, k) -> (k, j)>
#out = affine_map<(i, j, k) -> (i, j)>

// Rows of 41 elements do not begin at multiples of 16 bytes.
// CHECK-LABEL: func.func @program.odd(
// CHECK-NOT: kern.tensor_map
// CHECK: "kern.multiply_matrices"
func.func @program.odd(%a: memref<72x41xf16>, %b: memref<41x80xf16>, %sums: memref<72x80xf32>) attributes {kern.program} {
  linalg.generic {indexing_maps = [#left, #right, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<72x41xf16>, memref<41x80xf16>) outs(%sums : memref<72x80xf32>) {
  ^bb0(%l: f16, %r: f16, %o: f32):
    %left = arith.extf %l : f16 to f32
    %right = arith.extf %r : f16 to f32
    %product = arith.mulf %left, %right : f32
    %sum = arith.addf %o, %product : f32
    linalg.yield %sum : f32
  }
  return
}
