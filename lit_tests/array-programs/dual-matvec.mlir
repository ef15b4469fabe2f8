// RUN: %pykern-opt %s --pass-pipeline="builtin.module(kern-make-nests{machine=avx2 cache-bytes=2000000},canonicalize,cse)" | FileCheck %s

#id = affine_map<(d0) -> (d0)>
#matrix = affine_map<(d0, d1) -> (d0, d1)>
#turned = affine_map<(d0, d1) -> (d1, d0)>
#result = affine_map<(d0, d1) -> (d0)>
#vector = affine_map<(d0, d1) -> (d1)>

// A matrix times vectors from both sides goes by once: one function for both, and the parts' sums added up behind it.

// CHECK-LABEL: func.func @both(
// CHECK-SAME: %[[A:arg0]]: memref<1002x509xf32>
// CHECK: %[[PARTS:.*]] = memref.alloc() : memref<8x509xf32>
// CHECK: call @both.nest0.team(%arg1, %arg0, %arg3, %arg2, %[[PARTS]], %c0, %c8)
// CHECK-NEXT: call @both.nest1(%[[PARTS]], %arg4, %c0, %c1)
// CHECK-NEXT: return
func.func @both(%a: memref<1002x509xf32>, %x: memref<509xf32>, %w: memref<1002xf32>,
                %sums: memref<1002xf32>, %along: memref<509xf32>) attributes {kern.program} {
  linalg.generic {indexing_maps = [#matrix, #vector, #result], iterator_types = ["parallel", "reduction"]}
      ins(%a, %x : memref<1002x509xf32>, memref<509xf32>) outs(%sums : memref<1002xf32>) {
  ^bb0(%u: f32, %v: f32, %o: f32):
    %p = arith.mulf %u, %v : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#vector, #turned, #result], iterator_types = ["parallel", "reduction"]}
      ins(%w, %a : memref<1002xf32>, memref<1002x509xf32>) outs(%along : memref<509xf32>) {
  ^bb0(%u: f32, %v: f32, %o: f32):
    %p = arith.mulf %u, %v : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  return
}

// The factors of the rows follow from their sums: what lies between is computed a row at a time.

// CHECK-LABEL: func.func @residual(
// CHECK: call @residual.nest0.team(%arg1, %arg0, %arg3, %arg4, %{{.*}}, %arg2, %c0, %c8)
// CHECK-NEXT: call @residual.nest1(
// CHECK-NEXT: return
func.func @residual(%a: memref<1002x509xf32>, %x: memref<509xf32>, %b: memref<1002xf32>,
                    %sums: memref<1002xf32>, %rest: memref<1002xf32>, %along: memref<509xf32>) attributes {kern.program} {
  linalg.generic {indexing_maps = [#matrix, #vector, #result], iterator_types = ["parallel", "reduction"]}
      ins(%a, %x : memref<1002x509xf32>, memref<509xf32>) outs(%sums : memref<1002xf32>) {
  ^bb0(%u: f32, %v: f32, %o: f32):
    %p = arith.mulf %u, %v : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%sums, %b : memref<1002xf32>, memref<1002xf32>) outs(%rest : memref<1002xf32>) {
  ^bb0(%u: f32, %v: f32, %o: f32):
    %d = arith.subf %u, %v : f32
    linalg.yield %d : f32
  }
  linalg.generic {indexing_maps = [#vector, #turned, #result], iterator_types = ["parallel", "reduction"]}
      ins(%rest, %a : memref<1002xf32>, memref<1002x509xf32>) outs(%along : memref<509xf32>) {
  ^bb0(%u: f32, %v: f32, %o: f32):
    %p = arith.mulf %u, %v : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  return
}

// The second vector is what the first product gives: two passes.

// CHECK-LABEL: func.func @one_after_the_other(
// CHECK: call @one_after_the_other.nest
// CHECK: call @one_after_the_other.nest
// CHECK: memref<1002x509xf32>, memref<1002xf32>, index, index) -> ()
// CHECK-NEXT: return
func.func @one_after_the_other(%a: memref<1002x509xf32>, %w: memref<1002xf32>,
                               %along: memref<509xf32>, %sums: memref<1002xf32>) attributes {kern.program} {
  linalg.generic {indexing_maps = [#vector, #turned, #result], iterator_types = ["parallel", "reduction"]}
      ins(%w, %a : memref<1002xf32>, memref<1002x509xf32>) outs(%along : memref<509xf32>) {
  ^bb0(%u: f32, %v: f32, %o: f32):
    %p = arith.mulf %u, %v : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#matrix, #vector, #result], iterator_types = ["parallel", "reduction"]}
      ins(%a, %along : memref<1002x509xf32>, memref<509xf32>) outs(%sums : memref<1002xf32>) {
  ^bb0(%u: f32, %v: f32, %o: f32):
    %p = arith.mulf %u, %v : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  return
}

// Something in between changes the matrix.

// CHECK-LABEL: func.func @changed(
// CHECK: call @changed.nest
// CHECK: call @changed.nest
// CHECK: call @changed.nest
func.func @changed(%a: memref<1002x509xf32>, %x: memref<509xf32>, %w: memref<1002xf32>,
                   %sums: memref<1002xf32>, %along: memref<509xf32>) attributes {kern.program} {
  linalg.generic {indexing_maps = [#matrix, #vector, #result], iterator_types = ["parallel", "reduction"]}
      ins(%a, %x : memref<1002x509xf32>, memref<509xf32>) outs(%sums : memref<1002xf32>) {
  ^bb0(%u: f32, %v: f32, %o: f32):
    %p = arith.mulf %u, %v : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#matrix], iterator_types = ["parallel", "parallel"]} outs(%a : memref<1002x509xf32>) {
  ^bb0(%o: f32):
    %n = arith.negf %o : f32
    linalg.yield %n : f32
  }
  linalg.generic {indexing_maps = [#vector, #turned, #result], iterator_types = ["parallel", "reduction"]}
      ins(%w, %a : memref<1002xf32>, memref<1002x509xf32>) outs(%along : memref<509xf32>) {
  ^bb0(%u: f32, %v: f32, %o: f32):
    %p = arith.mulf %u, %v : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  return
}

// Four rows at a time; a vector of each is loaded once, for the row's sum and for those along the rows.

// CHECK-LABEL: func.func private @both.nest0(
// CHECK: scf.for
// CHECK: scf.for %[[ROW:.*]] = %{{.*}} to %{{.*}} step %c4 {
// CHECK: scf.for %[[COLUMN:.*]] = %c0 to %c496 step %c16 iter_args(
// CHECK: %[[X:.*]] = vector.load %arg0[%[[COLUMN]]]
// CHECK: %[[E:.*]] = vector.load %arg1[%[[ROW]], %[[COLUMN]]]
// CHECK: vector.fma %[[E]], %[[X]], %{{.*}}
// CHECK: %[[HELD:.*]] = vector.load %[[PART:.*]][%[[COLUMN]]]
// CHECK: vector.fma %[[E]], %{{.*}}, %[[HELD]]
// CHECK: vector.store %{{.*}}, %[[PART]][%[[COLUMN]]]
// CHECK: vector.reduction <add>
// CHECK: memref.store %{{.*}}, %arg2[%[[ROW]]]

// The rows before are added up while these are summed.

// CHECK-LABEL: func.func private @residual.nest0(
// CHECK: scf.if
// CHECK: %[[TOTAL:.*]] = memref.load %arg2[
// CHECK: arith.subf
// CHECK: scf.for %[[ROW:.*]] = %{{.*}} to %{{.*}} step %c4 iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) -> (f32, f32, f32, f32) {
// CHECK: %[[BEFORE:.*]] = arith.addi %[[ROW]], %c-4
// CHECK: scf.for %[[COLUMN:.*]] = %c0 to %c496 step %c16 iter_args(
// CHECK: vector.load %arg1[%[[ROW]], %[[COLUMN]]]
// CHECK: vector.load %arg1[%[[BEFORE]], %[[COLUMN]]]
