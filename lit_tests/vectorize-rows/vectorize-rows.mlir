// RUN: %pykern-opt %s --pass-pipeline="builtin.module(kern-vectorize-rows{rows=2},canonicalize,cse)" | FileCheck %s

// Two passes over a row: a maximum, then a sum of what is written. The maximum is found row by row and waits; the sum goes
// over squares of two rows and two columns: what is written lies along the rows, what is added is transposed, and one
// column after the other is added. The columns behind the squares, and the rows behind the groups, go as before, but for
// additions, none of which is joined with a multiplication.

// CHECK-LABEL: func.func @passes
// CHECK-DAG: %[[MAXIMA:.*]] = memref.alloca() {alignment = 64 : i64} : memref<2xf32>
// CHECK-DAG: %[[SUMS:.*]] = memref.alloca() {alignment = 64 : i64} : memref<2xf32>
// CHECK: %[[SHORT:.*]] = arith.cmpi slt, %{{.*}}, %c2
// CHECK: %[[MIDDLE:.*]] = arith.select %[[SHORT]], %arg2, %{{.*}}
// CHECK: scf.for %[[I:.*]] = %arg2 to %[[MIDDLE]] step %c2
// CHECK: scf.for %[[R:.*]] = %c0 to %c2 step %c1
// CHECK: %[[ROW:.*]] = arith.addi %[[I]], %[[R]]
// CHECK: %[[M:.*]] = scf.for {{.*}} -> (f32)
// CHECK: arith.maximumf
// CHECK: memref.store %[[M]], %{{.*}}[%[[R]]] : memref<2xf32>
// CHECK: %[[LANES:.*]] = scf.for %[[J:.*]] = %c0 to %[[WHOLE:.*]] step %c2 iter_args(%[[HELD:.*]] = %cst{{.*}}) -> (vector<2xf32>)
// CHECK: %[[A:.*]] = vector.load %arg1[%[[I]], %[[J]]]
// CHECK: %[[EA:.*]] = arith.subf
// CHECK: vector.store %[[EA]], %arg0[%[[I]], %[[J]]]
// CHECK: vector.load %arg1[%[[NEXT:.*]], %[[J]]]
// CHECK: %[[EB:.*]] = arith.subf
// CHECK: vector.store %[[EB]], %arg0[%[[NEXT]], %[[J]]]
// CHECK: %[[FIRST:.*]] = vector.shuffle %[[EA]], %[[EB]] [0, 2]
// CHECK: %[[SECOND:.*]] = vector.shuffle %[[EA]], %[[EB]] [1, 3]
// CHECK: %[[ONE:.*]] = arith.addf %[[HELD]], %[[FIRST]] : vector<2xf32>
// CHECK: %[[TWO:.*]] = arith.addf %[[ONE]], %[[SECOND]] : vector<2xf32>
// CHECK: scf.yield %[[TWO]]
// CHECK: vector.store %[[LANES]]
// CHECK: scf.for %[[R2:.*]] = %c0 to %c2 step %c1
// CHECK: memref.load %[[MAXIMA]][%[[R2]]] : memref<2xf32>
// CHECK: %[[START:.*]] = memref.load %[[SUMS]][%[[R2]]] : memref<2xf32>
// CHECK-NEXT: scf.for {{.*}} = %[[WHOLE]] to %arg4 step %c1 iter_args(%{{.*}} = %[[START]])
// CHECK: arith.addf %{{.*}} : f32
// CHECK: scf.for
// CHECK: arith.divf
// CHECK: scf.for %{{.*}} = %[[MIDDLE]] to %arg3 step %c1
// CHECK-NOT: vector
// CHECK: return
func.func @passes(%o: memref<?x?xf32>, %x: memref<?x?xf32>, %lo: index, %hi: index, %n: index)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  scf.for %i = %lo to %hi step %c1 {
    %m = scf.for %j = %c0 to %n step %c1 iter_args(%held = %low) -> (f32) {
      %u = memref.load %x[%i, %j] : memref<?x?xf32>
      %t = arith.maximumf %held, %u : f32
      scf.yield %t : f32
    }
    %s = scf.for %j = %c0 to %n step %c1 iter_args(%held = %zero) -> (f32) {
      %u = memref.load %x[%i, %j] : memref<?x?xf32>
      %e = arith.subf %u, %m : f32
      memref.store %e, %o[%i, %j] : memref<?x?xf32>
      %t = arith.addf %held, %e fastmath<contract> : f32
      scf.yield %t : f32
    }
    scf.for %j = %c0 to %n step %c1 {
      %e = memref.load %o[%i, %j] : memref<?x?xf32>
      %q = arith.divf %e, %s : f32
      memref.store %q, %o[%i, %j] : memref<?x?xf32>
    }
  } {kern.items}
  return
}

// A count that the loop carries beside the sum is a vector of indices.

// CHECK-LABEL: func.func @counted
// CHECK: scf.for {{.*}} -> (vector<2xf32>, vector<2xindex>)
// CHECK: arith.addi %{{.*}} : vector<2xindex>
func.func @counted(%o: memref<?xf32>, %x: memref<?x?xf32>, %lo: index, %hi: index, %n: index)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %lo to %hi step %c1 {
    %s, %count = scf.for %j = %c0 to %n step %c1 iter_args(%held = %zero, %k = %c0) -> (f32, index) {
      %u = memref.load %x[%i, %j] : memref<?x?xf32>
      %is = arith.cmpf ogt, %u, %zero : f32
      %more = arith.addi %k, %c1 : index
      %next = arith.select %is, %more, %k : index
      %t = arith.addf %held, %u : f32
      scf.yield %t, %next : f32, index
    }
    %m = arith.index_cast %count : index to i32
    %f = arith.sitofp %m : i32 to f32
    %r = arith.divf %s, %f : f32
    memref.store %r, %o[%i] : memref<?xf32>
  } {kern.items}
  return
}

// A sum that may be reordered is a reduction; a row that all work-items read is read in lanes; a loop of the kernel's own
// is not over work-items.

// CHECK-LABEL: func.func @stay
// CHECK-NOT: vector
// CHECK: return
func.func @stay(%o: memref<?xf32>, %x: memref<?x?xf32>, %lo: index, %hi: index, %n: index)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %lo to %hi step %c1 {
    %s = scf.for %j = %c0 to %n step %c1 iter_args(%held = %zero) -> (f32) {
      %u = memref.load %x[%i, %j] : memref<?x?xf32>
      %t = arith.addf %held, %u fastmath<reassoc> : f32
      scf.yield %t : f32
    }
    %r = scf.for %j = %c0 to %n step %c1 iter_args(%held = %s) -> (f32) {
      %u = memref.load %x[%c1, %j] : memref<?x?xf32>
      %t = arith.addf %held, %u : f32
      scf.yield %t : f32
    }
    memref.store %r, %o[%i] : memref<?xf32>
  } {kern.items}
  scf.for %i = %lo to %hi step %c1 {
    %s = scf.for %j = %c0 to %n step %c1 iter_args(%held = %zero) -> (f32) {
      %u = memref.load %x[%i, %j] : memref<?x?xf32>
      %t = arith.addf %held, %u : f32
      scf.yield %t : f32
    }
    memref.store %s, %o[%i] : memref<?xf32>
  }
  return
}
