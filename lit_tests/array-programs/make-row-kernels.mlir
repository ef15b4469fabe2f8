// RUN: %pykern-opt %s --split-input-file --pass-pipeline="builtin.module(kern-make-kernels,canonicalize,cse)" | FileCheck %s

#row = affine_map<(i, j) -> (i)>
#all = affine_map<(i, j) -> (i, j)>
#one = affine_map<(i) -> (i)>

// A sum of each row and what is done with it: one kernel, a group a row; elements stay in registers, what nobody else
// sees is not stored. The last of two turns goes beyond the row: its element counts for nothing.
// CHECK-LABEL: func.func @program.parts(
// CHECK-SAME: %[[X:.*]]: memref<40x300xf32>, %[[Y:.*]]: memref<40x300xf32>)
// CHECK-NOT: linalg
// CHECK: func.call @parts_0(%[[X]], %[[Y]])
// CHECK: ndrange = array<i64: 40, 256>, workgroup = array<i64: 1, 256>
// CHECK-NOT: kern.launch
// CHECK: func.func private @parts_0(%[[A:.*]]: memref<40x300xf32>, %[[B:.*]]: memref<40x300xf32>)
// CHECK: %[[AT:.*]] = "kern.local_id"() {dim = 1 : i64}
// CHECK: %[[THERE:.*]] = arith.cmpi ult
// CHECK: %[[FIRST:.*]] = memref.load %[[A]]
// CHECK: %[[LAST:.*]] = memref.load %[[A]]
// CHECK-NOT: memref.load
// CHECK: arith.select %[[THERE]]
// CHECK: "kern.group_reduce"
// CHECK-SAME: kind = "add"
// CHECK: memref.store %{{.*}}, %[[B]][%{{.*}}, %[[AT]]]
// CHECK: scf.if %[[THERE]]
// CHECK: memref.store %{{.*}}, %[[B]]
// CHECK-NOT: memref.store
// CHECK: return
func.func @program.parts(%x: memref<40x300xf32>, %y: memref<40x300xf32>) attributes {kern.program} {
  %zero = arith.constant 0.0 : f32
  %s = memref.alloc() : memref<40xf32>
  linalg.generic {indexing_maps = [#one], iterator_types = ["parallel"]} outs(%s : memref<40xf32>) {
  ^bb0(%out: f32):
    linalg.yield %zero : f32
  }
  %wide = memref.expand_shape %s [[0, 1]] output_shape [40, 1] : memref<40xf32> into memref<40x1xf32>
  linalg.generic {indexing_maps = [#all, affine_map<(i, j) -> (i, 0)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<40x300xf32>) outs(%wide : memref<40x1xf32>) {
  ^bb0(%in: f32, %out: f32):
    %sum = arith.addf %out, %in : f32
    linalg.yield %sum : f32
  }
  linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : memref<40x300xf32>, memref<40xf32>) outs(%y : memref<40x300xf32>) {
  ^bb0(%in: f32, %sum: f32, %out: f32):
    %part = arith.divf %in, %sum : f32
    linalg.yield %part : f32
  }
  return
}

// -----

#row = affine_map<(i, j) -> (i)>
#all = affine_map<(i, j) -> (i, j)>

// A long row: a loop for the sum, one for the elements. The sum is kept for others; one work-item stores it.
// CHECK-LABEL: func.func private @long_0(
// CHECK: scf.for
// CHECK: "kern.group_reduce"
// CHECK: scf.for
// CHECK: memref.store
// CHECK: arith.cmpi eq
// CHECK: scf.if
// CHECK: memref.store
func.func @program.long(%x: memref<4x9000xf32>, %s: memref<4xf32>, %y: memref<4x9000xf32>) attributes {kern.program} {
  linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<4x9000xf32>) outs(%s : memref<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %sum = arith.addf %out, %in : f32
    linalg.yield %sum : f32
  }
  linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : memref<4x9000xf32>, memref<4xf32>) outs(%y : memref<4x9000xf32>) {
  ^bb0(%in: f32, %sum: f32, %out: f32):
    %part = arith.divf %in, %sum : f32
    linalg.yield %part : f32
  }
  return
}

// -----

#row = affine_map<(i, j) -> (i)>
#all = affine_map<(i, j) -> (i, j)>

// What is read of another row has to wait for all groups.
// CHECK-LABEL: func.func @program.turned(
// CHECK: func.call @turned_0
// CHECK: func.call @turned_1
func.func @program.turned(%x: memref<40x300xf32>, %s: memref<40xf32>, %y: memref<40x300xf32>) attributes {kern.program} {
  linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<40x300xf32>) outs(%s : memref<40xf32>) {
  ^bb0(%in: f32, %out: f32):
    %sum = arith.addf %out, %in : f32
    linalg.yield %sum : f32
  }
  linalg.generic {indexing_maps = [#all, affine_map<(i, j) -> (39 - i)>, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : memref<40x300xf32>, memref<40xf32>) outs(%y : memref<40x300xf32>) {
  ^bb0(%in: f32, %sum: f32, %out: f32):
    %part = arith.divf %in, %sum : f32
    linalg.yield %part : f32
  }
  return
}
