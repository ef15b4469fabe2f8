// RUN: %pykern-opt %s --split-input-file --pass-pipeline="builtin.module(kern-make-kernels,canonicalize,cse)" | FileCheck %s
// RUN: %pykern-opt %s --split-input-file --pass-pipeline="builtin.module(kern-make-kernels{aligned=true},canonicalize,cse)" | FileCheck %s --check-prefix=ALIGNED

#all = affine_map<(i, j) -> (i, j)>
#column = affine_map<(i, j) -> (j)>
#left = affine_map<(i, j, k) -> (i, k)>
#right = affine_map<(i, j, k) -> (k, j)>
#out = affine_map<(i, j, k) -> (i, j)>

// A factor that is scaled, and a sum that is shifted and cut off: one kernel. The scale is read where the factor is
// fetched, and what reads the sums is stored in their place.
// CHECK-LABEL: func.func @program.both(
// CHECK-NOT: memref.alloc
// CHECK-COUNT-1: "kern.launch"
// CHECK-NOT: kern.launch
// CHECK: func.func private @both_0(%[[B:.*]]: memref<20x40xf32>, %[[Y:.*]]: memref<33x40xf32>, %[[A:.*]]: memref<33x20xf32>, %[[S:.*]]: memref<20xf32>, %[[C:.*]]: memref<40xf32>)
// CHECK: %[[LEFT:.*]] = memref.load %[[A]]
// CHECK: %[[SCALE:.*]] = memref.load %[[S]]
// CHECK: %[[MADE:.*]] = arith.mulf %[[LEFT]], %[[SCALE]]
// CHECK: %[[FACTOR:.*]] = arith.select %{{.*}}, %[[MADE]]
// CHECK: memref.load %[[B]]
// CHECK: memref.store %[[FACTOR]]
// CHECK: "kern.barrier"
// CHECK: %[[SHIFT:.*]] = memref.load %[[C]]
// CHECK: %[[SHIFTED:.*]] = arith.addf %{{.*}}, %[[SHIFT]]
// CHECK: %[[CUT:.*]] = arith.maximumf %[[SHIFTED]]
// CHECK: memref.store %[[CUT]], %[[Y]]
func.func @program.both(%a: memref<33x20xf32>, %s: memref<20xf32>, %b: memref<20x40xf32>, %c: memref<40xf32>, %y: memref<33x40xf32>)
    attributes {kern.program} {
  %zero = arith.constant 0.0 : f32
  %scaled = memref.alloc() : memref<33x20xf32>
  linalg.generic {indexing_maps = [#all, #column, #all], iterator_types = ["parallel", "parallel"]}
      ins(%a, %s : memref<33x20xf32>, memref<20xf32>) outs(%scaled : memref<33x20xf32>) {
  ^bb0(%in: f32, %by: f32, %o: f32):
    %product = arith.mulf %in, %by : f32
    linalg.yield %product : f32
  }
  %sums = memref.alloc() : memref<33x40xf32>
  linalg.generic {indexing_maps = [#all], iterator_types = ["parallel", "parallel"]} outs(%sums : memref<33x40xf32>) {
  ^bb0(%o: f32):
    linalg.yield %zero : f32
  }
  linalg.generic {indexing_maps = [#left, #right, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%scaled, %b : memref<33x20xf32>, memref<20x40xf32>) outs(%sums : memref<33x40xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %product = arith.mulf %l, %r : f32
    %sum = arith.addf %o, %product : f32
    linalg.yield %sum : f32
  }
  linalg.generic {indexing_maps = [#all, #column, #all], iterator_types = ["parallel", "parallel"]}
      ins(%sums, %c : memref<33x40xf32>, memref<40xf32>) outs(%y : memref<33x40xf32>) {
  ^bb0(%in: f32, %by: f32, %o: f32):
    %shifted = arith.addf %in, %by : f32
    %cut = arith.maximumf %shifted, %zero : f32
    linalg.yield %cut : f32
  }
  return
}

// -----

#all = affine_map<(i, j) -> (i, j)>
#left = affine_map<(i, j, k) -> (i, k)>
#right = affine_map<(i, j, k) -> (k, j)>
#out = affine_map<(i, j, k) -> (i, j)>

// A function is computed before: several tiles read each element. Sums that somebody else reads too are stored.
// CHECK-LABEL: func.func @program.apart(
// CHECK-COUNT-3: "kern.launch"
// CHECK-NOT: kern.launch
// CHECK: func.func private @apart_
func.func @program.apart(%a: memref<33x20xf32>, %b: memref<20x40xf32>, %sums: memref<33x40xf32>, %y: memref<33x40xf32>)
    attributes {kern.program} {
  %made = memref.alloc() : memref<33x20xf32>
  linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%a : memref<33x20xf32>) outs(%made : memref<33x20xf32>) {
  ^bb0(%in: f32, %o: f32):
    %e = math.exp %in : f32
    linalg.yield %e : f32
  }
  linalg.generic {indexing_maps = [#left, #right, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%made, %b : memref<33x20xf32>, memref<20x40xf32>) outs(%sums : memref<33x40xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %product = arith.mulf %l, %r : f32
    %sum = arith.addf %o, %product : f32
    linalg.yield %sum : f32
  }
  linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%sums : memref<33x40xf32>) outs(%y : memref<33x40xf32>) {
  ^bb0(%in: f32, %o: f32):
    %twice = arith.addf %in, %in : f32
    linalg.yield %twice : f32
  }
  return
}

// -----

#left = affine_map<(i, j, k) -> (i, k)>
#right = affine_map<(i, j, k) -> (k, j)>
#out = affine_map<(i, j, k) -> (i, j)>

// Factors that the product widens lie in shared memory as wide numbers: each is widened once, where it is fetched.
// CHECK-LABEL: func.func private @widened_0(
// CHECK: "kern.shared"() {{.*}}memref<{{[0-9]+}}xf32
// CHECK: "kern.shared"() {{.*}}memref<{{[0-9]+}}xf32
// CHECK: scf.for
// CHECK-COUNT-2: arith.extf {{.*}} : bf16 to f32
// CHECK-COUNT-2: memref.store
// CHECK: "kern.barrier"
// CHECK-NOT: arith.extf
// CHECK: arith.mulf
// CHECK-NOT: arith.extf
// CHECK: return
func.func @program.widened(%a: memref<33x20xbf16>, %b: memref<20x40xbf16>, %y: memref<33x40xf32>) attributes {kern.program} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%y : memref<33x40xf32>)
  linalg.generic {indexing_maps = [#left, #right, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<33x20xbf16>, memref<20x40xbf16>) outs(%y : memref<33x40xf32>) {
  ^bb0(%l: bf16, %r: bf16, %o: f32):
    %wl = arith.extf %l : bf16 to f32
    %wr = arith.extf %r : bf16 to f32
    %product = arith.mulf %wl, %wr : f32
    %sum = arith.addf %o, %product : f32
    linalg.yield %sum : f32
  }
  return
}

// -----

#left = affine_map<(i, j, k) -> (i, k)>
#right = affine_map<(i, j, k) -> (k, j)>
#out = affine_map<(i, j, k) -> (i, j)>

// Where the device reads 16 bytes at once and there are many tiles, a work-item has 8 x 8 cells. Its next 16 elements of
// both factors are loaded before these are multiplied, and stored after that. Tiles that divide the result have no guards.
// ALIGNED-LABEL: func.func private @wide_0(
// ALIGNED-COUNT-16: memref.load %arg{{[01]}}
// ALIGNED: scf.for
// ALIGNED-COUNT-16: memref.store {{.*}} : memref<2112xf32, #gpu.address_space<workgroup>>
// ALIGNED: "kern.barrier"
// ALIGNED-COUNT-16: memref.load %arg{{[01]}}
// ALIGNED: scf.for
// ALIGNED-COUNT-64: arith.mulf
// ALIGNED: "kern.barrier"
// ALIGNED-NOT: scf.if
// ALIGNED-COUNT-64: memref.store {{.*}} : memref<2048x2048xf32>
func.func @program.wide(%a: memref<2048x64xf32>, %b: memref<64x2048xf32>, %y: memref<2048x2048xf32>) attributes {kern.program} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%y : memref<2048x2048xf32>)
  linalg.generic {indexing_maps = [#left, #right, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<2048x64xf32>, memref<64x2048xf32>) outs(%y : memref<2048x2048xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %product = arith.mulf %l, %r : f32
    %sum = arith.addf %o, %product : f32
    linalg.yield %sum : f32
  }
  return
}
