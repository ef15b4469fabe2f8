// RUN: %pykern-opt %s --kern-raise-to-linalg --canonicalize --cse | FileCheck %s

// A vector under all rows is a map without the row.

// CHECK: #[[ALL:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK: #[[COLUMN:.*]] = affine_map<(d0, d1) -> (d1)>
// CHECK-LABEL: func.func @bias
// CHECK: linalg.generic {indexing_maps = [#[[ALL]], #[[COLUMN]], #[[ALL]]]
func.func @bias(%arg0: memref<?x?xf32> {kern.name = "y"},
                %arg1: memref<?x?xf32> {kern.name = "x"},
                %arg2: memref<?xf32> {kern.name = "b"})
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 2 : i64} {
  %0 = "kern.global_id"() {dim = 1 : i64} : () -> index
  %1 = "kern.global_id"() {dim = 0 : i64} : () -> index
  %2 = memref.load %arg1[%1, %0] : memref<?x?xf32>
  %3 = memref.load %arg2[%0] : memref<?xf32>
  %4 = arith.addf %2, %3 fastmath<contract> : f32
  memref.store %4, %arg0[%1, %0] : memref<?x?xf32>
  return
}
