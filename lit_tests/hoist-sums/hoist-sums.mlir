// RUN: %pykern-opt %s --split-input-file --kern-hoist-sums | FileCheck %s

// Each element is divided by the sum of its row: one sum for the row, and rows are work-items, if they have elements.

// CHECK-LABEL: func.func @normalised
// CHECK: %[[RUNS:.*]] = arith.cmpi slt, %arg4, %arg5 : index
// CHECK: scf.if %[[RUNS]] {
// CHECK:   scf.for %[[I:.*]] = %arg2 to %arg3
// CHECK:     %[[SUM:.*]] = scf.for {{.*}} -> (f32)
// CHECK:     scf.for %[[J:.*]] = %arg4 to %arg5
// CHECK-NOT:   scf.for
// CHECK:       arith.divf %{{.*}}, %[[SUM]]
// CHECK:       memref.store
// CHECK-NEXT: }
// CHECK-NEXT: } {kern.items}
func.func @normalised(%o: memref<?x?xf32>, %x: memref<?x?xf32>, %a: index, %b: index, %c: index, %d: index, %n: index)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 2 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %a to %b step %c1 {
    scf.for %j = %c to %d step %c1 {
      %sum = scf.for %k = %c0 to %n step %c1 iter_args(%held = %zero) -> (f32) {
        %v = memref.load %x[%i, %k] : memref<?x?xf32>
        %next = arith.addf %held, %v : f32
        scf.yield %next : f32
      }
      %u = memref.load %x[%i, %j] : memref<?x?xf32>
      %q = arith.divf %u, %sum : f32
      memref.store %q, %o[%i, %j] : memref<?x?xf32>
    } {kern.items}
  }
  return
}


// -----

// The columns of a row are its own: rows stay rows, and there is a sum where there is an element. What the second sum
// needs of the first one goes with it.

// CHECK-LABEL: func.func @triangle
// CHECK: scf.for %[[I:.*]] = %arg2 to %arg3
// CHECK:   %[[RUNS:.*]] = arith.cmpi slt, %[[I]], %arg4 : index
// CHECK:   %[[SUM:.*]] = scf.if %[[RUNS]] -> (f32) {
// CHECK:     %[[S:.*]] = scf.for {{.*}} -> (f32)
// CHECK:     %[[HALF:.*]] = arith.mulf %[[S]]
// CHECK:     %[[T:.*]] = scf.for {{.*}} iter_args({{.*}} = %[[HALF]]) -> (f32)
// CHECK:     scf.yield %[[T]]
// CHECK:   } else {
// CHECK:   scf.for %[[J:.*]] = %[[I]] to %arg4
// CHECK-NOT: scf.for
// CHECK:     arith.divf %{{.*}}, %[[SUM]]
// CHECK:   } {kern.items}
func.func @triangle(%o: memref<?x?xf32>, %x: memref<?x?xf32>, %a: index, %b: index, %d: index, %n: index)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 2 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  scf.for %i = %a to %b step %c1 {
    scf.for %j = %i to %d step %c1 {
      %sum = scf.for %k = %c0 to %n step %c1 iter_args(%held = %zero) -> (f32) {
        %v = memref.load %x[%i, %k] : memref<?x?xf32>
        %next = arith.addf %held, %v : f32
        scf.yield %next : f32
      }
      %start = arith.mulf %sum, %half : f32
      %second = scf.for %k = %c0 to %n step %c1 iter_args(%held = %start) -> (f32) {
        %v = memref.load %x[%i, %k] : memref<?x?xf32>
        %w = arith.mulf %v, %sum : f32
        %next = arith.addf %held, %w : f32
        scf.yield %next : f32
      }
      %u = memref.load %x[%i, %j] : memref<?x?xf32>
      %q = arith.divf %u, %second : f32
      memref.store %q, %o[%i, %j] : memref<?x?xf32>
    } {kern.items}
  }
  return
}

// -----

// Not a sum over what the kernel writes, and not one that depends on the work-item.

// CHECK-LABEL: func.func @stay
// CHECK-NOT: scf.if
// CHECK: return
func.func @stay(%o: memref<?xf32>, %x: memref<?x?xf32>, %a: index, %b: index, %n: index)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  scf.for %j = %a to %b step %c1 {
    %sum = scf.for %k = %c0 to %n step %c1 iter_args(%held = %zero) -> (f32) {
      %v = memref.load %o[%k] : memref<?xf32>
      %next = arith.addf %held, %v : f32
      scf.yield %next : f32
    }
    %other = scf.for %k = %c0 to %n step %c1 iter_args(%held = %sum) -> (f32) {
      %v = memref.load %x[%j, %k] : memref<?x?xf32>
      %next = arith.addf %held, %v : f32
      scf.yield %next : f32
    }
    memref.store %other, %o[%j] : memref<?xf32>
  } {kern.items}
  return
}
