// RUN: %pykern-opt %s --pass-pipeline="builtin.module(kern-make-nests{machine=avx2},canonicalize,cse)" | FileCheck %s

// 11 tiles of rows would be 6 and 5 for two threads. They are one block, which each of the 512 panels goes by alone:
// threads share 11 tiles in each of 512 panels, numbered panel by panel. A thread's first and last panel may be another
// thread's, too: of those it has some rows.

// CHECK: call @few_rows.nest2.team({{.*}}, %c5632)
// CHECK: call @more_blocks.nest2.team({{.*}}, %c86)
// CHECK-LABEL: func.func private @few_rows.nest2(
// CHECK-SAME: %[[LO:[a-z0-9]+]]: index, %[[HI:[a-z0-9]+]]: index)
// CHECK-DAG: %[[FIRST:.*]] = arith.divui %[[LO]], %c11
// CHECK-DAG: %[[ROUND:.*]] = arith.addi %[[HI]], %c10
// CHECK-DAG: %[[END:.*]] = arith.divui %[[ROUND]], %c11
// CHECK: scf.for %[[PANEL:.*]] = %[[FIRST]] to %[[END]] step %c1
// CHECK: %[[BEFORE:.*]] = arith.muli %[[PANEL]], %c11
// CHECK: %[[BEGIN0:.*]] = arith.subi %[[LO]], %[[BEFORE]]
// CHECK: %[[BEGIN:.*]] = arith.maxsi %[[BEGIN0]], %c0
// CHECK: %[[LEFT:.*]] = arith.subi %[[HI]], %[[BEFORE]]
// CHECK: %[[STOP:.*]] = arith.minsi %[[LEFT]], %c11
// CHECK: %[[MANY0:.*]] = arith.subi %[[STOP]], %[[BEGIN]]
// CHECK: %[[MANY:.*]] = arith.maxsi %[[MANY0]], %c0
// CHECK: memref.subview %{{.*}}[%[[BEGIN]], 0, 0] [%[[MANY]], 64, 6]
// CHECK: memref.subview %{{.*}}[%[[PANEL]], 0, 0] [1, 64, 8]
// CHECK: linalg.generic
// CHECK-SAME: clip = 1
func.func @few_rows(%a: memref<64x64xf64>, %b: memref<64x4096xf64>, %c: memref<64x4096xf64>)
    attributes {kern.program} {
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
      affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<64x64xf64>, memref<64x4096xf64>) outs(%c : memref<64x4096xf64>) {
    ^bb0(%x: f64, %y: f64, %o: f64):
      %p = arith.mulf %x, %y : f64
      %s = arith.addf %o, %p : f64
      linalg.yield %s : f64
  }
  return
}

// 43 tiles are two blocks and a rest, so each part of the panels costs a way through the left factor: two parts, of 50
// and 51 panels, the last of which is not full.

// CHECK-LABEL: func.func private @more_blocks.nest2(
// CHECK: scf.for %[[PART:.*]] =
// CHECK-DAG: %[[P:.*]] = arith.muli %[[PART]], %c101
// CHECK-DAG: %[[FROM:.*]] = arith.divui %[[P]], %c2
// CHECK-DAG: %[[NEXT:.*]] = arith.addi %[[PART]], %c1
// CHECK-DAG: %[[Q:.*]] = arith.muli %[[NEXT]], %c101
// CHECK-DAG: %[[TO:.*]] = arith.divui %[[Q]], %c2
// CHECK: %[[WIDE:.*]] = arith.subi %[[TO]], %[[FROM]]
// CHECK: memref.subview %{{.*}}[%[[FROM]], 0, 0] [%[[WIDE]], 256, 8]
// CHECK: linalg.generic
// CHECK-SAME: clip = 3
func.func @more_blocks(%a: memref<256x256xf64>, %b: memref<256x803xf64>, %c: memref<256x803xf64>)
    attributes {kern.program} {
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
      affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<256x256xf64>, memref<256x803xf64>) outs(%c : memref<256x803xf64>) {
    ^bb0(%x: f64, %y: f64, %o: f64):
      %p = arith.mulf %x, %y : f64
      %s = arith.addf %o, %p : f64
      linalg.yield %s : f64
  }
  return
}
