// RUN: %pykern-opt %s --split-input-file --pass-pipeline="builtin.module(kern-make-kernels,canonicalize,cse)" | FileCheck %s

#row = affine_map<(i, j) -> (i)>
#all = affine_map<(i, j) -> (i, j)>
#one = affine_map<(i) -> (i)>

// Rows that are summed: a group a row. What follows works along columns: a work-item an element. The fill is where the
// sum starts.
// CHECK-LABEL: func.func @program.sums(
// CHECK-NOT: linalg
// CHECK: "kern.launch"() ({
// CHECK-NEXT: func.call @sums_0(
// CHECK: ndrange = array<i64: 40, 256>, workgroup = array<i64: 1, 256>
// CHECK: "kern.launch"() ({
// CHECK-NEXT: func.call @sums_1(
// CHECK: ndrange = array<i64: 12000>, workgroup = array<i64: 256>
// CHECK: memref.copy
func.func @program.sums(%x: memref<40x300xf32>, %s: memref<40xf32>, %y: memref<300x40xf32>, %z: memref<300x40xf32>)
    attributes {kern.program} {
  %zero = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [#one], iterator_types = ["parallel"]} outs(%s : memref<40xf32>) {
  ^bb0(%out: f32):
    linalg.yield %zero : f32
  }
  linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<40x300xf32>) outs(%s : memref<40xf32>) {
  ^bb0(%in: f32, %out: f32):
    %sum = arith.addf %out, %in : f32
    linalg.yield %sum : f32
  }
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (j)>, #all], iterator_types = ["parallel", "parallel"]}
      ins(%s : memref<40xf32>) outs(%y : memref<300x40xf32>) {
  ^bb0(%sum: f32, %out: f32):
    %part = arith.divf %out, %sum : f32
    linalg.yield %part : f32
  }
  memref.copy %y, %z : memref<300x40xf32> to memref<300x40xf32>
  return
}

// CHECK: func.func private @sums_0(%[[X:.*]]: memref<40x300xf32>, %[[S:.*]]: memref<40xf32>)
// CHECK-SAME: kern.kernel
// CHECK: %[[ROW:.*]] = "kern.global_id"() {dim = 0 : i64}
// CHECK: scf.for
// CHECK: %[[SUM:.*]] = "kern.group_reduce"(%{{.*}}) {kind = "add"}
// CHECK: scf.if
// CHECK: memref.store %{{.*}}, %[[S]][%[[ROW]]]
// CHECK: func.func private @sums_1(
// CHECK: arith.divf

// -----

// A number read from an array goes into the kernel that needs it, unless somebody writes there before.
// CHECK-LABEL: func.func @program.numbers(
// CHECK-NOT: memref.load
// CHECK: call @numbers_0(
func.func @program.numbers(%x: memref<40xf32>, %n: memref<f32>, %y: memref<40xf32>) attributes {kern.program} {
  %number = memref.load %n[] : memref<f32>
  %twice = arith.addf %number, %number : f32
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : memref<40xf32>) outs(%y : memref<40xf32>) {
  ^bb0(%in: f32, %out: f32):
    %part = arith.mulf %in, %twice : f32
    linalg.yield %part : f32
  }
  return
}
// CHECK: func.func private @numbers_0(
// CHECK: memref.load
// CHECK: arith.addf

// -----

// CHECK-LABEL: func.func @program.written(
// CHECK: memref.load
// CHECK: call @written_0(
func.func @program.written(%x: memref<40xf32>) attributes {kern.program} {
  %c0 = arith.constant 0 : index
  %number = memref.load %x[%c0] : memref<40xf32>
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%x : memref<40xf32>) {
  ^bb0(%out: f32):
    %part = arith.mulf %out, %number : f32
    linalg.yield %part : f32
  }
  return
}

// -----

#one = affine_map<(i) -> (i)>

// A stencil reads three parts of one array, which is passed once: devices bind few buffers.
// CHECK-LABEL: func.func @program.parts(
// CHECK-NOT: memref.subview
// CHECK: func.call @parts_0(%{{.*}}, %arg0) : (memref<62xf32>, memref<64xf32>)
// CHECK: func.func private @parts_0(%[[OUT:.*]]: memref<62xf32>, %[[WHOLE:.*]]: memref<64xf32>)
// CHECK: %[[I:.*]] = "kern.global_id"()
// CHECK: memref.load %[[WHOLE]][%[[I]]]
// CHECK: %[[SECOND:.*]] = arith.addi %[[I]], %c1
// CHECK: memref.load %[[WHOLE]][%[[SECOND]]]
// CHECK: %[[THIRD:.*]] = arith.addi %[[I]], %c2
// CHECK: memref.load %[[WHOLE]][%[[THIRD]]]
func.func @program.parts(%x: memref<64xf32>, %y: memref<62xf32>) attributes {kern.program} {
  %a = memref.subview %x[0] [62] [1] : memref<64xf32> to memref<62xf32, strided<[1]>>
  %b = memref.subview %x[1] [62] [1] : memref<64xf32> to memref<62xf32, strided<[1], offset: 1>>
  %c = memref.subview %x[2] [62] [1] : memref<64xf32> to memref<62xf32, strided<[1], offset: 2>>
  linalg.generic {indexing_maps = [#one, #one, #one, #one], iterator_types = ["parallel"]}
      ins(%a, %b, %c : memref<62xf32, strided<[1]>>, memref<62xf32, strided<[1], offset: 1>>, memref<62xf32, strided<[1], offset: 2>>)
      outs(%y : memref<62xf32>) {
  ^bb0(%l: f32, %m: f32, %r: f32, %out: f32):
    %lm = arith.addf %l, %m : f32
    %sum = arith.addf %lm, %r : f32
    linalg.yield %sum : f32
  }
  return
}
