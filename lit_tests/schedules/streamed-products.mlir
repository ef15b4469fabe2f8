// RUN: %pykern-opt %s --pass-pipeline="builtin.module(kern-make-nests{machine=avx2},kern-apply-schedules,kern-emit-register-tiles,canonicalize,cse)" | FileCheck %s

// A row times a large matrix: eight lines of it at a time, sums in the first cache; no element of it is read twice.
// Threads share eight parts of the terms, each with sums of its own, which are added up in order.

// CHECK-LABEL: func.func @row(
// CHECK: %[[SUMS:.*]] = memref.alloc() : memref<8x1x2048xf32>
// CHECK-NEXT: call @row.nest0.team(%arg0, %arg1, %arg2, %[[SUMS]], %c0{{.*}}, %c8{{.*}})
// CHECK-NEXT: call @row.nest1(%[[SUMS]], %arg2, %c0{{.*}}, %c1{{.*}})
// CHECK-NEXT: return
// CHECK-LABEL: func.func @long(
// CHECK: call @long.nest0.team(%arg0, %arg1, %arg2, %c0{{.*}}, %c4{{.*}})
// CHECK-NEXT: return
// CHECK-LABEL: func.func private @row.nest0
// CHECK-SAME: kern.schedule = {block = 64 : i64, depth = 8 : i64, form = "direct", rows = 1 : i64
// CHECK: scf.for %[[PART:.*]] = %arg4 to
// CHECK: memref.subview %arg3[%[[PART]], 0, 0] [1, 1, 2048] [1, 1, 1]
// CHECK: memref.store
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c256{{.*}} step %c8
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c2048{{.*}} step %c32
// CHECK-COUNT-32: vector.fma
// CHECK-NOT: vector.fma
// CHECK: vector.load
// CHECK: arith.addf
// CHECK: vector.store
// CHECK-LABEL: func.func private @row.nest1
// CHECK: memref.load %arg0[%c0
// CHECK: memref.load %arg0[%c1
// CHECK: memref.load %arg0[%c7
// CHECK: memref.store
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

// Three rows of lines that are too long: threads share pieces alike, four rather than three of them, and
// all terms go by for each.

// CHECK-LABEL: func.func private @long.nest0
// CHECK-SAME: kern.schedule = {block = 64 : i64, depth = 8 : i64, form = "direct", rows = 3 : i64
// CHECK: arith.muli %{{.*}}, %c768
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c400{{.*}} step %c8
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c768{{.*}} step %c16
// CHECK-COUNT-48: vector.fma
func.func @long(%a: memref<3x400xf32>, %b: memref<400x3072xf32>, %c: memref<3x3072xf32>) attributes {kern.program} {
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
      affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<3x400xf32>, memref<400x3072xf32>) outs(%c : memref<3x3072xf32>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %o, %p : f32
      linalg.yield %s : f32
  }
  return
}

// Twelve rows: a tile of rows after the other would ask for lines that are gone. Tiles of four rows take eight lines each.

// CHECK-LABEL: func.func private @few.nest0
// CHECK-SAME: kern.schedule = {block = 64 : i64, depth = 8 : i64, form = "direct", rows = 4 : i64
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c512{{.*}} step %c8
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c12{{.*}} step %c4
// CHECK-COUNT-64: vector.fma
// CHECK-NOT: vector.fma
func.func @few(%a: memref<12x512xf32>, %b: memref<512x2048xf32>, %c: memref<12x2048xf32>) attributes {kern.program} {
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
      affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<12x512xf32>, memref<512x2048xf32>) outs(%c : memref<12x2048xf32>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %o, %p : f32
      linalg.yield %s : f32
  }
  return
}
