// RUN: %pykern-opt %s --pass-pipeline="builtin.module(kern-make-nests{machine=avx2},canonicalize,cse)" | FileCheck %s

// 11 tiles of rows would be 6 and 5 for two threads. They are one block, which each of the 512 panels goes by alone:
// threads share 11 tiles in each of 512 panels, numbered panel by panel. A thread's first and last panel may be another
// thread's, too: of those it has some rows.

// Both factors are copied in one fork and join of threads: each copy is cut as if it were alone.

// CHECK: call @few_rows.nest2.team(%arg0, %[[T:.*]], %arg1, %[[P:.*]], %c0, %c720720)
// CHECK: call @few_rows.nest3.team(%[[T]], %[[P]], %arg2, %c0, %c5632)
// CHECK: call @even_rows.nest3.team({{.*}}, %c12)
// CHECK-LABEL: func.func private @few_rows.nest2(
// CHECK-SAME: %[[LO:[a-z0-9]+]]: index, %[[HI:[a-z0-9]+]]: index)
// CHECK-DAG: %[[A:.*]] = arith.muli %[[LO]], %c11
// CHECK-DAG: %[[ALO:.*]] = arith.divui %[[A]], %c720720
// CHECK-DAG: %[[B:.*]] = arith.muli %[[HI]], %c11
// CHECK-DAG: %[[AHI:.*]] = arith.divui %[[B]], %c720720
// CHECK: call @few_rows.nest0(%arg0, %arg1, %[[ALO]], %[[AHI]])
// CHECK-DAG: %[[C:.*]] = arith.muli %[[LO]], %c512
// CHECK-DAG: %[[BLO:.*]] = arith.divui %[[C]], %c720720
// CHECK-DAG: %[[D:.*]] = arith.muli %[[HI]], %c512
// CHECK-DAG: %[[BHI:.*]] = arith.divui %[[D]], %c720720
// CHECK: call @few_rows.nest1(%arg2, %arg3, %[[BLO]], %[[BHI]])
// CHECK-LABEL: func.func private @few_rows.nest3(
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

// Even numbers of tiles are shared alone: threads multiply the rows that they copied.

// CHECK-LABEL: func.func private @even_rows.nest3(
// CHECK-SAME: %[[LO:[a-z0-9]+]]: index, %[[HI:[a-z0-9]+]]: index)
// CHECK: %[[MANY:.*]] = arith.subi %[[HI]], %[[LO]]
// CHECK-NOT: scf.for
// CHECK: memref.subview %{{.*}}[%[[LO]], 0, 0] [%[[MANY]], 64, 6]
// CHECK: linalg.generic
func.func @even_rows(%a: memref<72x64xf64>, %b: memref<64x4096xf64>, %c: memref<72x4096xf64>)
    attributes {kern.program} {
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
      affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<72x64xf64>, memref<64x4096xf64>) outs(%c : memref<72x4096xf64>) {
    ^bb0(%x: f64, %y: f64, %o: f64):
      %p = arith.mulf %x, %y : f64
      %s = arith.addf %o, %p : f64
      linalg.yield %s : f64
  }
  return
}
