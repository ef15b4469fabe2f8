// RUN: %pykern-opt %s --kern-join-stores | FileCheck %s

// Two cells, of which both sides store to each last; what one side alone stores stays.

// CHECK-LABEL: func.func @both
// CHECK: %[[R:.*]]:2 = scf.if %arg2 -> (f32, f32) {
// CHECK-NEXT: memref.store %arg3, %arg1[%arg5]
// CHECK-NEXT: scf.yield %arg3, %arg4
// CHECK-NEXT: } else {
// CHECK-NEXT: scf.yield %arg4, %arg3
// CHECK: memref.store %[[R]]#1, %arg0[%arg6]
// CHECK: memref.store %[[R]]#0, %arg0[%arg5]
func.func @both(%o: memref<?xf32>, %p: memref<?xf32>, %c: i1, %a: f32, %b: f32, %i: index, %j: index)
    attributes {kern.kernel} {
  scf.if %c {
    memref.store %a, %p[%i] : memref<?xf32>
    memref.store %b, %o[%j] : memref<?xf32>
    memref.store %a, %o[%i] : memref<?xf32>
  } else {
    memref.store %a, %o[%j] : memref<?xf32>
    memref.store %b, %o[%i] : memref<?xf32>
  }
  return
}

// What is read behind the store, and another place.

// CHECK-LABEL: func.func @kept
// CHECK: scf.if
// CHECK-COUNT-2: memref.store
// CHECK: } else {
// CHECK: memref.store
// CHECK: memref.load
// CHECK: memref.store
func.func @kept(%o: memref<?xf32>, %p: memref<?xf32>, %c: i1, %a: f32, %i: index, %j: index)
    attributes {kern.kernel} {
  scf.if %c {
    memref.store %a, %o[%i] : memref<?xf32>
    memref.store %a, %p[%i] : memref<?xf32>
  } else {
    memref.store %a, %o[%i] : memref<?xf32>
    %v = memref.load %o[%j] : memref<?xf32>
    memref.store %v, %p[%j] : memref<?xf32>
  }
  return
}
