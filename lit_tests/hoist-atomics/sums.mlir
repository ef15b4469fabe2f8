// RUN: %pykern-opt %s --split-input-file --kern-hoist-atomics | FileCheck %s

// A 0-d cell: one addition behind both loops.

// CHECK-LABEL: func.func @sum
// CHECK: %[[S:.*]] = scf.for {{.*}} iter_args(%[[A:.*]] = %{{.*}}) -> (f64)
// CHECK: %[[T:.*]] = scf.for {{.*}} -> (f64)
// CHECK: arith.addf {{.*}} fastmath<reassoc,contract>
// CHECK-NOT: kern.atomic_rmw
// CHECK: arith.addf %[[A]], %[[T]]
// CHECK: "kern.atomic_rmw"(%[[S]], %arg0) {kind = "add"}
// CHECK-NOT: kern.atomic_rmw
func.func @sum(%s: memref<f64>, %x: memref<?x?xf64>, %n: index) attributes {kern.kernel, kern.noalias, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %v = memref.load %x[%i, %j] : memref<?x?xf64>
      %old = "kern.atomic_rmw"(%v, %s) {kind = "add"} : (f64, memref<f64>) -> f64
    }
  }
  return
}

// -----

// In a branch, and with an index: added only where some iteration did.

// CHECK-LABEL: func.func @some
// CHECK: %[[S:.*]]:2 = scf.for {{.*}} -> (i64, i1)
// CHECK: scf.if %{{.*}} -> (i64
// CHECK: arith.ori
// CHECK: scf.if %[[S]]#1 {
// CHECK: "kern.atomic_rmw"(%[[S]]#0, %arg0, %{{.*}}) {kind = "add"}
func.func @some(%s: memref<?xi64>, %x: memref<?xi64>, %n: index) attributes {kern.kernel, kern.noalias, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i64
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xi64>
    %positive = arith.cmpi sgt, %v, %zero : i64
    scf.if %positive {
      %old = "kern.atomic_rmw"(%v, %s, %c0) {kind = "add"} : (i64, memref<?xi64>, index) -> i64
    }
  }
  return
}

// -----

// What moves with the loop stays, and what the loop reads as well.

// CHECK-LABEL: func.func @histogram
// CHECK: scf.for
// CHECK: "kern.atomic_rmw"
// CHECK: }
// CHECK-LABEL: func.func @running
// CHECK: scf.for
// CHECK: "kern.atomic_rmw"
// CHECK: }
func.func @histogram(%s: memref<?xi64>, %n: index) attributes {kern.kernel, kern.noalias, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i64
  scf.for %i = %c0 to %n step %c1 {
    %old = "kern.atomic_rmw"(%one, %s, %i) {kind = "add"} : (i64, memref<?xi64>, index) -> i64
  }
  return
}
func.func @running(%s: memref<f64>, %x: memref<?xf64>, %n: index) attributes {kern.kernel, kern.noalias, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf64>
    %old = "kern.atomic_rmw"(%v, %s) {kind = "add"} : (f64, memref<f64>) -> f64
    %w = memref.load %s[] : memref<f64>
    memref.store %w, %x[%i] : memref<?xf64>
  }
  return
}

// -----

// Arguments that may overlap: %x may be what is added to. Another addition may come before or after.

// CHECK-LABEL: func.func @overlap
// CHECK: scf.for
// CHECK-NEXT: memref.load %arg1
// CHECK-NEXT: "kern.atomic_rmw"(%{{.*}}, %arg0
// CHECK: scf.for {{.*}} -> (i64, i1, i64, i1)
// CHECK-NOT: kern.atomic_rmw
// CHECK: scf.yield
// CHECK: "kern.atomic_rmw"(%{{.*}}, %arg2
// CHECK: "kern.atomic_rmw"(%{{.*}}, %arg0
func.func @overlap(%s: memref<?xi64>, %x: memref<?xi64>, %t: memref<?xi64>, %n: index)
    attributes {kern.kernel, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i64
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xi64>
    %old = "kern.atomic_rmw"(%v, %s, %c0) {kind = "add"} : (i64, memref<?xi64>, index) -> i64
  }
  scf.for %i = %c0 to %n step %c1 {
    %a = "kern.atomic_rmw"(%one, %s, %c0) {kind = "add"} : (i64, memref<?xi64>, index) -> i64
    %b = "kern.atomic_rmw"(%one, %t, %c0) {kind = "add"} : (i64, memref<?xi64>, index) -> i64
  }
  return
}
