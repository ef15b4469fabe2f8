// RUN: %pykern-opt %s --split-input-file --kern-hoist-column-sums | FileCheck %s

// Each element is divided by the root of the sum of its column: one for each column, in front of the rows.

// CHECK-LABEL: func.func @normalised
// CHECK: %[[TABLE:.*]] = memref.alloc(%{{.*}}) {{.*}}: memref<?xf32>
// CHECK: %[[RUNS:.*]] = arith.cmpi slt, %arg2, %arg3 : index
// CHECK: scf.if %[[RUNS]] {
// CHECK:   scf.for %[[C:.*]] = %arg4 to %arg5
// CHECK:     %[[SUM:.*]] = scf.for {{.*}} -> (f32)
// CHECK:     %[[ROOT:.*]] = math.sqrt %[[SUM]]
// CHECK:     %[[AT:.*]] = arith.subi %[[C]], %arg4
// CHECK:     memref.store %[[ROOT]], %[[TABLE]][%[[AT]]]
// CHECK:   } {kern.items}
// CHECK: scf.for %[[I:.*]] = %arg2 to %arg3
// CHECK:   scf.for %[[J:.*]] = %arg4 to %arg5
// CHECK:     %[[HERE:.*]] = arith.subi %[[J]], %arg4
// CHECK:     %[[READ:.*]] = memref.load %[[TABLE]][%[[HERE]]]
// CHECK-NOT: scf.for
// CHECK:     arith.divf %{{.*}}, %[[READ]]
// CHECK:   } {kern.items}
// CHECK: memref.dealloc %[[TABLE]]
func.func @normalised(%o: memref<?x?xf32>, %x: memref<?x?xf32>, %a: index, %b: index, %c: index, %d: index, %n: index)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 2 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %a to %b step %c1 {
    scf.for %j = %c to %d step %c1 {
      %sum = scf.for %k = %c0 to %n step %c1 iter_args(%held = %zero) -> (f32) {
        %v = memref.load %x[%k, %j] : memref<?x?xf32>
        %next = arith.addf %held, %v : f32
        scf.yield %next : f32
      }
      %root = math.sqrt %sum : f32
      %u = memref.load %x[%i, %j] : memref<?x?xf32>
      %q = arith.divf %u, %root : f32
      memref.store %q, %o[%i, %j] : memref<?x?xf32>
    } {kern.items}
  }
  return
}

// -----

// Not a sum that begins with something of the row, not one over what the kernel writes, and not in columns of a row's own.

// CHECK-LABEL: func.func @stay
// CHECK-NOT: memref.alloc
// CHECK: return
func.func @stay(%o: memref<?x?xf32>, %x: memref<?x?xf32>, %a: index, %b: index, %d: index, %n: index)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 2 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %a to %b step %c1 {
    %start = memref.load %x[%i, %c0] : memref<?x?xf32>
    scf.for %j = %c0 to %d step %c1 {
      %sum = scf.for %k = %c0 to %n step %c1 iter_args(%held = %start) -> (f32) {
        %v = memref.load %x[%k, %j] : memref<?x?xf32>
        %next = arith.addf %held, %v : f32
        scf.yield %next : f32
      }
      %other = scf.for %k = %c0 to %n step %c1 iter_args(%held = %sum) -> (f32) {
        %v = memref.load %o[%k, %j] : memref<?x?xf32>
        %next = arith.addf %held, %v : f32
        scf.yield %next : f32
      }
      memref.store %other, %o[%i, %j] : memref<?x?xf32>
    } {kern.items}
    scf.for %j = %i to %d step %c1 {
      %sum = scf.for %k = %c0 to %n step %c1 iter_args(%held = %zero) -> (f32) {
        %v = memref.load %x[%k, %j] : memref<?x?xf32>
        %next = arith.addf %held, %v : f32
        scf.yield %next : f32
      }
      memref.store %sum, %o[%i, %j] : memref<?x?xf32>
    } {kern.items}
  }
  return
}
