// RUN: %pykern-opt %s --pass-pipeline="builtin.module(kern-make-kernels{matrix-unit=gfx942 aligned=true},canonicalize,cse)" | FileCheck %s
// RUN: %pykern-opt %s --pass-pipeline="builtin.module(kern-make-kernels{matrix-unit=gfx11},canonicalize,cse)" | FileCheck %s --check-prefix=UNALIGNED

#left = affine_map<(i, j, k) -> (i, k)>
#right = affine_map<(i, j, k) -> (k, j)>
#out = affine_map<(i, j, k) -> (i, j)>

// Four subgroups of 64 lanes have 16 x 16 cells each of a tile of 32 x 32. A work-item loads two words of the left
// factor, whose terms lie side by side, and two of the right one, of two terms and two lines, which it transposes. They
// are stored when the terms before have been multiplied. Each lane reads four words of a line, which are those of two
// instructions.
// CHECK: func.func private @product_0
// CHECK-SAME: kern.workgroup = array<i64: 1, 1, 256>
// CHECK-COUNT-2: "kern.shared"() : () -> memref<1024xi32, #gpu.address_space<workgroup>>
// CHECK: scf.for {{.*}} -> (index, f32, f32, f32, f32)
// CHECK-NEXT: "kern.barrier"
// CHECK: "kern.load_words"({{.*}}) : (memref<32x64xf16>, index, index) -> (i32, i32)
// CHECK-COUNT-2: "kern.load_words"({{.*}}) : (memref<64x32xf16>, index, index) -> i32
// CHECK-COUNT-2: "kern.load_words"({{.*}}) : (memref<1024xi32, #gpu.address_space<workgroup>>, index) -> (i32, i32, i32, i32)
// CHECK-COUNT-2: "kern.multiply_matrices"({{.*}}) {left = "f16", operandSegmentSizes = array<i32: 4, 4>, right = "f16", unit = "gfx942"}
// CHECK-NOT: "kern.multiply_matrices"
// CHECK: "kern.store_words"({{.*}}) : (memref<1024xi32, #gpu.address_space<workgroup>>, index, i32, i32) -> ()
// CHECK-COUNT-2: "kern.store_words"({{.*}}) : (memref<1024xi32, #gpu.address_space<workgroup>>, index, i32) -> ()
// CHECK: scf.yield

// Where arrays begin anywhere, elements are loaded one by one. Subgroups have 32 lanes, of which each holds all terms of
// an instruction, and eight sums.
// UNALIGNED: func.func private @product_0
// UNALIGNED-SAME: kern.workgroup = array<i64: 1, 1, 128>
// UNALIGNED: scf.for {{.*}} -> (index, f32, f32, f32, f32, f32, f32, f32, f32)
// UNALIGNED: memref.load %{{.*}} : memref<32x64xf16>
// UNALIGNED-COUNT-4: "kern.load_words"({{.*}}) : (memref<1024xi32, #gpu.address_space<workgroup>>, index) -> (i32, i32, i32, i32)
// UNALIGNED: "kern.multiply_matrices"({{.*}}) {left = "f16", operandSegmentSizes = array<i32: 16, 8>, right = "f16", unit = "gfx11"}
func.func @program.product(%a: memref<32x64xf16>, %b: memref<64x32xf16>, %y: memref<32x32xf32>) attributes {kern.program} {
  linalg.generic {indexing_maps = [#left, #right, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<32x64xf16>, memref<64x32xf16>) outs(%y : memref<32x32xf32>) {
  ^bb0(%l: f16, %r: f16, %o: f32):
    %left = arith.extf %l : f16 to f32
    %right = arith.extf %r : f16 to f32
    %product = arith.mulf %left, %right : f32
    %sum = arith.addf %o, %product : f32
    linalg.yield %sum : f32
  }
  return
}
