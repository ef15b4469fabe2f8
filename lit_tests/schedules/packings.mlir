// RUN: %pykern-opt %s --pass-pipeline="builtin.module(kern-make-nests{machine=avx2},canonicalize,cse)" | FileCheck %s

// Both factors lie along the terms: squares of 8 terms are read from 8 rows and transposed in registers. Tiles have 5 rows
// (the others are zeros), panels 16 columns; the last square of 100 terms begins at the 92nd, and has 4 once more. Of a
// square's lines all but the last are stored as whole vectors: what is too much is the next one's. A panel has two squares,
// and code for one.

// CHECK-LABEL: func.func private @along_terms.nest0(
// CHECK: scf.for %{{.*}} = %arg2 to %arg3
// CHECK: scf.for %[[T:.*]] = %c0{{.*}} to %c100{{.*}} step %c8
// CHECK: arith.minsi %[[T]], %c92
// CHECK-COUNT-5: vector.load {{.*}} : memref<50x100xf32>, vector<8xf32>
// CHECK-NOT: vector.load
// CHECK: vector.shuffle {{.*}} [0, 8, 1, 9, 4, 12, 5, 13] : vector<8xf32>, vector<8xf32>
// CHECK: vector.shuffle {{.*}} [2, 10, 3, 11, 6, 14, 7, 15] : vector<8xf32>, vector<8xf32>
// CHECK: vector.shuffle {{.*}} [0, 1, 8, 9, 4, 5, 12, 13] : vector<8xf32>, vector<8xf32>
// CHECK: vector.shuffle {{.*}} [0, 1, 2, 3, 8, 9, 10, 11] : vector<8xf32>, vector<8xf32>
// CHECK: vector.shuffle {{.*}} [4, 5, 6, 7, 12, 13, 14, 15] : vector<8xf32>, vector<8xf32>
// CHECK-COUNT-7: vector.store {{.*}} : memref<10x500xf32>, vector<8xf32>
// CHECK: vector.store {{.*}} : memref<10x500xf32>, vector<5xf32>
// CHECK-NOT: memref.store
// CHECK-LABEL: func.func private @along_terms.nest1(
// CHECK: scf.for %[[ROW:.*]] = %c0{{.*}} to %c16{{.*}} step %c8
// CHECK-COUNT-8: vector.load {{.*}} : memref<1024x100xf32>, vector<8xf32>
// CHECK-NOT: vector.load
// CHECK-COUNT-8: vector.store {{.*}} : memref<64x1600xf32>, vector<8xf32>
// CHECK-NOT: vector.store
func.func @along_terms(%a: memref<50x100xf32>, %b: memref<1024x100xf32>, %c: memref<50x1024xf32>) attributes {kern.program} {
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>,
      affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<50x100xf32>, memref<1024x100xf32>) outs(%c : memref<50x1024xf32>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %o, %p : f32
      linalg.yield %s : f32
  }
  return
}

// Rows and columns lie side by side: eight terms of all tiles, then the next eight, so that lines are read to their
// end. The last of two slices has a term less: tiles stop there. The last panel has ten columns, its result as well.

// CHECK-LABEL: func.func private @along_rows.nest0(%arg0: memref<601x96xf32> {{{.*}}}, %arg1: memref<16x301x6xf32>
// CHECK: %[[BOUND:.*]] = arith.minsi
// CHECK: scf.for %[[FIRST:.*]] = %c0{{.*}} to %[[BOUND]] step %c8
// CHECK: %[[NEXT:.*]] = arith.addi %[[FIRST]], %c8
// CHECK: %[[LAST:.*]] = arith.minsi %[[NEXT]], %[[BOUND]]
// CHECK: scf.for %{{.*}} = %arg3 to %arg4
// CHECK: scf.for %{{.*}} = %[[FIRST]] to %[[LAST]]
// CHECK: vector.load {{.*}} : memref<601x96xf32>, vector<6xf32>
// CHECK-NEXT: vector.store {{.*}} : memref<16x301x6xf32>, vector<6xf32>
// CHECK-NOT: vector.store
// CHECK-LABEL: func.func private @along_rows.nest1(
// CHECK: scf.for %[[BEGIN:.*]] = %c0{{.*}} to %{{.*}} step %c8
// CHECK: scf.for %{{.*}} = %arg3 to %arg4
// CHECK: vector.load {{.*}} : memref<601x250xf32>, vector<16xf32>
// CHECK: vector.maskedload {{.*}} : memref<601x250xf32>, vector<16xi1>, vector<16xf32> into vector<16xf32>
// CHECK-LABEL: func.func private @along_rows.nest2(
// CHECK: %[[LEFT:.*]] = arith.subi %c601
// CHECK: %[[TERMS:.*]] = arith.minsi %[[LEFT]], %c301
// CHECK: linalg.generic
// CHECK-SAME: clip = 6
// CHECK: %[[COLUMN:.*]] = arith.cmpi slt, %{{.*}}, %c250
// CHECK: %[[TERM:.*]] = arith.cmpi slt, %{{.*}}, %[[TERMS]]
// CHECK: %[[THERE:.*]] = arith.andi %[[COLUMN]], %[[TERM]]
// CHECK: arith.select %[[THERE]]
func.func @along_rows(%a: memref<601x96xf32>, %b: memref<601x250xf32>, %c: memref<96x250xf32>) attributes {kern.program} {
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>,
      affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<601x96xf32>, memref<601x250xf32>) outs(%c : memref<96x250xf32>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %o, %p : f32
      linalg.yield %s : f32
  }
  return
}
