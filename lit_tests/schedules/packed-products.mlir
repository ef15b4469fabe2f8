// RUN: %pykern-opt %s --pass-pipeline="builtin.module(kern-make-nests{machine=avx2},canonicalize,cse)" | FileCheck %s
// RUN: %pykern-opt %s --pass-pipeline="builtin.module(kern-make-nests{machine=avx2},kern-apply-schedules,kern-emit-register-tiles,canonicalize,cse)" | FileCheck %s --check-prefix=TILE
// RUN: %pykern-opt %s --pass-pipeline="builtin.module(kern-make-nests{machine=avx512},canonicalize,cse)" | FileCheck %s --check-prefix=WIDE
// RUN: %pykern-opt %s --pass-pipeline="builtin.module(kern-make-nests{machine=avx512},kern-apply-schedules,kern-emit-register-tiles,canonicalize,cse)" | FileCheck %s --check-prefix=LINES

// Two slices of 400 terms: both factors are packed (86 tiles of 6 rows, 64 panels of two vectors), then multiplied.
// The product starts from zero in the first slice: nobody fills the result before.

// CHECK-LABEL: func.func @product
// CHECK-DAG: %[[T:.*]] = memref.alloc() : memref<86x400x6xf64>
// CHECK-DAG: %[[P:.*]] = memref.alloc() : memref<64x400x8xf64>
// CHECK: scf.for %[[K:.*]] = %c0{{.*}} to %c800{{.*}} step %c400
// CHECK-NEXT: call @product.nest2.team(%arg0, %[[T]], %[[K]], %arg1, %[[P]], %c0{{.*}}, %c720720{{.*}})
// CHECK-NEXT: call @product.nest3.team(%[[T]], %[[P]], %arg2, %[[K]], %c0{{.*}}, %c86{{.*}})
// CHECK-NEXT: }
// CHECK-NEXT: return

// The parameters are data, the recipe a script: blocks of row tiles, panels, tiles. The last tile has two rows: it is
// computed like the others, of a result that had room for it, and the body leaves alone what is not there.

// CHECK-LABEL: func.func private @product.nest3(
// CHECK-SAME: kern.in_vectors
// CHECK-SAME: kern.schedule = {block = {{[0-9]+}} : i64, depth = 512 : i64, form = "packed", rows = 6 : i64, threads = true, unroll = 1 : i64, vectors = 2 : i64}
// CHECK: memref.reinterpret_cast %arg2 to offset: [0], sizes: [516, 512], strides: [512, 1] : memref<512x512xf64> to
// CHECK: linalg.generic
// CHECK-SAME: memref<?x400x6xf64, strided<[2400, 6, 1], offset: ?>>, memref<64x400x8xf64>
// CHECK-SAME: kern.part = 0
// CHECK-SAME: clip = 1
// CHECK-SAME: unroll = 1
// CHECK: linalg.index 4
// CHECK: %[[SUM:.*]] = arith.addf
// CHECK: linalg.index 0
// CHECK: linalg.index 2
// CHECK: %[[THERE:.*]] = arith.cmpi slt, %{{.*}}, %c512
// CHECK-NEXT: arith.select %[[THERE]], %[[SUM]], %out
// CHECK-NOT: kern.part = 1
// CHECK-LABEL: transform.named_sequence @product.nest3.schedule
// CHECK: transform.structured.match ops{["linalg.generic"]} attributes {kern.part = 0 : i64}
// CHECK-NEXT: transform.structured.tile_using_for {{.*}} tile_sizes [{{[0-9]+}}, 0, 0, 0, 0]
// CHECK-NEXT: transform.structured.tile_using_for {{.*}} tile_sizes [0, 1, 0, 0, 0]
// CHECK-NEXT: transform.structured.tile_using_for {{.*}} tile_sizes [1, 0, 0, 0, 0]
// CHECK-NEXT: transform.yield

// A tile: sums of six rows and two vectors stay in registers; two lines and six elements a term. They are stored where
// all rows are there, and row by row from memory of the tile's own where not. Each operand is one view of its buffer,
// of one dimension, and the loop over terms counts on in elements of both factors: addresses need no products.

// TILE-NOT: transform
// TILE-LABEL: func.func private @product.nest3(
// TILE: %[[LEFT:.*]] = arith.subi %c512
// TILE: %[[ROWS:.*]] = arith.minsi %[[LEFT]], %c6
// TILE: %[[WHOLE:.*]] = arith.cmpi sge, %[[LEFT]], %c6
// TILE-NOT: memref.subview
// TILE: %[[A:.*]] = memref.reinterpret_cast %arg0 to offset: [%{{.*}}], sizes: [2400], strides: [1]
// TILE: %[[B:.*]] = memref.reinterpret_cast %arg1 to offset: [%{{.*}}], sizes: [3200], strides: [1]
// TILE: %[[C:.*]] = memref.reinterpret_cast %arg2 to offset: [%{{.*}}], sizes: [2568], strides: [1]
// TILE: scf.if %[[WHOLE]]
// TILE-NEXT: scf.for %[[ROW:.*]] = %c0{{.*}} to %c6
// TILE-NEXT: %[[LINE:.*]] = arith.muli %[[ROW]], %c512
// TILE-NEXT: memref.prefetch %[[C]][%[[LINE]]]
// TILE-NEXT: %[[END:.*]] = arith.addi %[[LINE]], %c7
// TILE-NEXT: memref.prefetch %[[C]][%[[END]]]
// TILE-NOT: memref.prefetch
// TILE: %[[SUMS:.*]]:14 = scf.for {{.*}}, %[[P:arg[0-9]+]] = %c0{{[_0-9]*}}, %[[Q:arg[0-9]+]] = %c0{{[_0-9]*}})
// TILE-NEXT: vector.load %[[B]][%[[Q]]] {{.*}}vector<4xf64>
// TILE: vector.load %[[B]]{{.*}}vector<4xf64>
// TILE-NEXT: memref.load %[[A]][%[[P]]]
// TILE-NEXT: vector.broadcast
// TILE-COUNT-12: vector.fma
// TILE-NOT: vector.fma
// TILE: %[[P6:.*]] = arith.addi %[[P]], %c6
// TILE: %[[Q8:.*]] = arith.addi %[[Q]], %c8
// TILE: scf.yield {{.*}}, %[[P6]], %[[Q8]]
// TILE: scf.if %[[WHOLE]]
// TILE: vector.load %{{.*}}vector<4xf64>
// TILE: arith.addf %{{.*}}, %[[SUMS]]#0
// TILE: } else {
// TILE-COUNT-12: vector.store %[[SUMS]]#{{.*}} : memref<6x8xf64>
// TILE: scf.for %{{.*}} = %c0{{.*}} to %[[ROWS]]
// TILE: %[[LOADED:.*]] = vector.load %{{.*}} : memref<6x8xf64>
// TILE: vector.store

// Where vectors are whole lines, tiles have up to four of them, and few beyond the result: 86 tiles of 6 rows and 16
// panels hold 516 by 512, 43 of 12 and 32 of two vectors as many, yet in twice as many rows of the result at a time.
// Every line of the result is fetched, and the one that the row ends in where it begins in the middle of one.

// WIDE-DAG: memref.alloc() : memref<86x200x6xf64>
// WIDE-DAG: memref.alloc() : memref<16x200x32xf64>
// WIDE: depth = 256 : i64, form = "packed", rows = 6 : i64, threads = true, unroll = 1 : i64, vectors = 4 : i64
// LINES-LABEL: func.func private @product.nest3(
// LINES: %[[LINE:.*]] = arith.muli %{{.*}}, %c512
// LINES-COUNT-5: memref.prefetch
// LINES-NOT: memref.prefetch
// LINES-COUNT-24: vector.fma
// LINES-NOT: vector.fma
func.func @product(%a: memref<512x800xf64>, %b: memref<800x512xf64>, %c: memref<512x512xf64>)
    attributes {kern.program} {
  %zero = arith.constant 0.0 : f64
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      outs(%c : memref<512x512xf64>) {
    ^bb0(%o: f64):
      linalg.yield %zero : f64
  }
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
      affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<512x800xf64>, memref<800x512xf64>) outs(%c : memref<512x512xf64>) {
    ^bb0(%x: f64, %y: f64, %o: f64):
      %p = arith.mulf %x, %y : f64
      %s = arith.addf %o, %p : f64
      linalg.yield %s : f64
  }
  return
}
