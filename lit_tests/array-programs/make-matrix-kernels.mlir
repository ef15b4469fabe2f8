// RUN: %pykern-opt %s --split-input-file --pass-pipeline="builtin.module(kern-make-kernels{matrix-unit=m16n8k16},canonicalize,cse)" | FileCheck %s
// RUN: %pykern-opt %s --split-input-file --pass-pipeline="builtin.module(kern-make-kernels{matrix-unit=m16n8k16 aligned=true},canonicalize,cse)" | FileCheck %s --check-prefix=ALIGNED

#left = affine_map<(i, j, k) -> (i, k)>
#right = affine_map<(i, j, k) -> (k, j)>
#out = affine_map<(i, j, k) -> (i, j)>
#all = affine_map<(i, j) -> (i, j)>

// Four subgroups have 16 x 16 cells each of a tile of 32 x 32: for 32 terms two times two instructions. Both factors are
// words of two elements in shared memory, zeros beyond the last term, in two slots: the next one is loaded before this
// one is multiplied, and stored behind it. Sums stay in registers until what reads them is stored.
// CHECK-LABEL: func.func @program.product(
// CHECK: workgroup = array<i64: 1, 1, 128>
// CHECK: func.func private @product_0
// CHECK-COUNT-2: "kern.shared"() : () -> memref<1024xi32, #gpu.address_space<workgroup>>
// CHECK: memref.store {{.*}} : memref<1024xi32
// CHECK: scf.for {{.*}} step {{.*}} -> (index, f32, f32, f32, f32, f32, f32, f32, f32)
// CHECK: "kern.barrier"
// CHECK: arith.select {{.*}} : f16
// CHECK: arith.shli
// CHECK: "kern.load_matrices"({{.*}}) {transposed = false}
// CHECK: "kern.load_matrices"({{.*}}) {transposed = true}
// CHECK-COUNT-2: "kern.multiply_matrices"({{.*}}) {left = "f16", operandSegmentSizes = array<i32: 6, 4>, right = "f16", unit = "m16n8k16"}
// CHECK: "kern.load_matrices"
// CHECK-COUNT-2: "kern.multiply_matrices"
// CHECK-NOT: "kern.multiply_matrices"
// CHECK: memref.store {{.*}} : memref<1024xi32
// CHECK: scf.yield
// CHECK: arith.truncf %{{.*}} : f32 to f16
// CHECK: memref.store {{.*}} : memref<33x40xf16>

// Lines of the right factor are whole chunks of 16 bytes: where arrays begin at multiples of 16 bytes it is copied, past
// the registers. Those of the left one are not.
// ALIGNED: func.func private @product_0
// ALIGNED-COUNT-2: "kern.shared"() : () -> memref<1024xi32, #gpu.address_space<workgroup>>
// ALIGNED: "kern.commit_copies"
// ALIGNED: scf.for
// ALIGNED-NEXT: "kern.wait_copies"() {pending = 0 : i32}
// ALIGNED-NEXT: "kern.barrier"
// ALIGNED: memref.load %{{.*}} : memref<33x50xf16>
// ALIGNED: "kern.copy_async"({{.*}}) : (i32, memref<1024xi32, #gpu.address_space<workgroup>>, index, memref<50x40xf16>, index, index) -> ()
// ALIGNED-NEXT: "kern.commit_copies"
// ALIGNED: "kern.multiply_matrices"
// ALIGNED: scf.yield
// ALIGNED: "kern.wait_copies"() {pending = 0 : i32}
func.func @program.product(%a: memref<33x50xf16>, %b: memref<50x40xf16>, %y: memref<33x40xf16>) attributes {kern.program} {
  %zero = arith.constant 0.0 : f32
  %sums = memref.alloc() : memref<33x40xf32>
  linalg.generic {indexing_maps = [#all], iterator_types = ["parallel", "parallel"]} outs(%sums : memref<33x40xf32>) {
  ^bb0(%o: f32):
    linalg.yield %zero : f32
  }
  linalg.generic {indexing_maps = [#left, #right, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<33x50xf16>, memref<50x40xf16>) outs(%sums : memref<33x40xf32>) {
  ^bb0(%l: f16, %r: f16, %o: f32):
    %left = arith.extf %l : f16 to f32
    %right = arith.extf %r : f16 to f32
    %product = arith.mulf %left, %right : f32
    %sum = arith.addf %o, %product : f32
    linalg.yield %sum : f32
  }
  linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%sums : memref<33x40xf32>) outs(%y : memref<33x40xf16>) {
  ^bb0(%in: f32, %o: f16):
    %narrow = arith.truncf %in : f32 to f16
    linalg.yield %narrow : f16
  }
  return
}

// -----

#left = affine_map<(i, j, k) -> (i, k)>
#right = affine_map<(i, j, k) -> (k, j)>
#out = affine_map<(i, j, k) -> (i, j)>

// Factors of f32 would be rounded, and sums of f16 are not those of f32.
// CHECK-LABEL: func.func @program.others(
// CHECK-NOT: "kern.multiply_matrices"
func.func @program.others(%a: memref<33x20xf32>, %b: memref<20x40xf32>, %y: memref<33x40xf32>,
    %c: memref<33x20xf16>, %d: memref<20x40xf16>, %z: memref<33x40xf16>) attributes {kern.program} {
  linalg.generic {indexing_maps = [#left, #right, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<33x20xf32>, memref<20x40xf32>) outs(%y : memref<33x40xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %product = arith.mulf %l, %r : f32
    %sum = arith.addf %o, %product : f32
    linalg.yield %sum : f32
  }
  linalg.generic {indexing_maps = [#left, #right, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%c, %d : memref<33x20xf16>, memref<20x40xf16>) outs(%z : memref<33x40xf16>) {
  ^bb0(%l: f16, %r: f16, %o: f16):
    %product = arith.mulf %l, %r : f16
    %sum = arith.addf %o, %product : f16
    linalg.yield %sum : f16
  }
  return
}

// -----

#left = affine_map<(i, j, k) -> (i, k)>
#right = affine_map<(i, j, k) -> (k, j)>
#out = affine_map<(i, j, k) -> (i, j)>

// Four tiles, and 64 times terms to fetch: eight groups have the same cells, each an eighth of the terms. Another kernel
// loads their sums, and adds them up in order.
// CHECK-LABEL: func.func @program.parts(
// CHECK: %[[PARTS:.*]] = memref.alloc() : memref<8x4096xf32>
// CHECK: kern.launch
// CHECK: kern.launch
// CHECK: func.func private @parts_0
// CHECK-SAME: kern.ndrange = array<i64: 8, 2, 256>
// CHECK: scf.for
// CHECK: "kern.multiply_matrices"
// CHECK: memref.store %{{.*}} : memref<8x4096xf32>
// CHECK: func.func private @parts_1
// CHECK-SAME: kern.ndrange = array<i64: 64, 64>
// CHECK-COUNT-8: memref.load %{{.*}} : memref<8x4096xf32>
// CHECK-NOT: memref.load
// CHECK-COUNT-8: arith.addf
// CHECK: memref.store %{{.*}} : memref<64x64xf32>
func.func @program.parts(%a: memref<64x2048xf16>, %b: memref<2048x64xf16>, %c: memref<64x64xf32>) attributes {kern.program} {
  %zero = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%c : memref<64x64xf32>) {
  ^bb0(%o: f32):
    linalg.yield %zero : f32
  }
  linalg.generic {indexing_maps = [#left, #right, #out], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : memref<64x2048xf16>, memref<2048x64xf16>) outs(%c : memref<64x64xf32>) {
  ^bb0(%x: f16, %y: f16, %o: f32):
    %u = arith.extf %x : f16 to f32
    %v = arith.extf %y : f16 to f32
    %p = arith.mulf %u, %v : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  return
}
