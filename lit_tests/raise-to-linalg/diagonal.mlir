// RUN: %pykern-opt %s --kern-raise-to-linalg --canonicalize --cse | FileCheck %s

// A diagonal is read through a map; it is written cell by cell, as no slice is one.

// CHECK: #[[TWICE:.*]] = affine_map<(d0) -> (d0, d0)>
// CHECK-LABEL: func.func @diagonal
// CHECK: linalg.generic {indexing_maps = [#[[TWICE]], #{{.*}}], iterator_types = ["parallel"]}
// CHECK: scf.for %[[I:.*]] = %c0 to
// CHECK: tensor.insert %{{.*}} into %{{.*}}[%[[I]], %[[I]]]
func.func @diagonal(%arg0: memref<?xf32> {kern.name = "d"},
                    %arg1: memref<?x?xf32> {kern.name = "s"},
                    %arg2: memref<?x?xf32> {kern.name = "x"})
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %0 = "kern.global_id"() {dim = 0 : i64} : () -> index
  %1 = memref.load %arg2[%0, %0] : memref<?x?xf32>
  memref.store %1, %arg0[%0] : memref<?xf32>
  %2 = memref.load %arg0[%0] : memref<?xf32>
  memref.store %2, %arg1[%0, %0] : memref<?x?xf32>
  return
}
