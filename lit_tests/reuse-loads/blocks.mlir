// RUN: %pykern-opt %s --kern-reuse-loads="fewest=2" | FileCheck %s
// RUN: %pykern-opt %s --kern-reuse-loads | FileCheck %s --check-prefix=FEW

// The first load serves all of its place, however its index is written; what was stored need not be loaded.
// CHECK-LABEL: func.func @straight
// CHECK-COUNT-3: memref.load
// CHECK-NOT: memref.load
// CHECK: %[[SUM:.*]] = arith.addf %[[X:.*]], %[[X]]
// CHECK: %[[ALL:.*]] = arith.addf %[[SUM]], %{{.*}} :
// CHECK: %[[Y:.*]] = arith.addf %[[ALL]], %{{.*}} :
// CHECK-NOT: memref.load
// CHECK: memref.store %[[Y]]
// CHECK: memref.store %[[Y]]
// CHECK: return

// FEW-LABEL: func.func @straight
// FEW-COUNT-5: memref.load
func.func @straight(%x: memref<?xf32>, %y: memref<?xf32>) attributes {kern.kernel, kern.rank = 1 : i64} {
  %i = "kern.global_id"() {dim = 0 : i64} : () -> index
  %c1 = arith.constant 1 : index
  %d1 = arith.constant 1 : index
  %k = arith.addi %i, %c1 : index
  %m = arith.addi %i, %d1 : index
  %a = memref.load %x[%k] : memref<?xf32>
  %b = memref.load %x[%m] : memref<?xf32>
  %c = memref.load %x[%i] : memref<?xf32>
  %d = memref.load %y[%i] : memref<?xf32>
  %s = arith.addf %a, %b : f32
  %t = arith.addf %s, %c : f32
  %u = arith.addf %t, %d : f32
  memref.store %u, %y[%i] : memref<?xf32>
  %e = memref.load %y[%i] : memref<?xf32>
  memref.store %e, %x[%i] : memref<?xf32>
  return
}

// What has regions may write; a block that may not be run says nothing about others.
// CHECK-LABEL: func.func @branches
// CHECK: memref.load
// CHECK: scf.if
// CHECK-NEXT: memref.load
// CHECK-NEXT: arith.addf
// CHECK-NEXT: memref.store
// CHECK-NEXT: } else {
// CHECK-NEXT: memref.load
// CHECK-NEXT: memref.store
// CHECK-NEXT: }
// CHECK-NEXT: memref.load
// CHECK-NEXT: arith.addf
func.func @branches(%x: memref<?xf32>, %y: memref<?xf32>) attributes {kern.kernel, kern.rank = 1 : i64} {
  %i = "kern.global_id"() {dim = 0 : i64} : () -> index
  %zero = arith.constant 0.0 : f32
  %a = memref.load %x[%i] : memref<?xf32>
  %p = arith.cmpf olt, %a, %zero : f32
  scf.if %p {
    %b = memref.load %y[%i] : memref<?xf32>
    %c = memref.load %y[%i] : memref<?xf32>
    %s = arith.addf %b, %c : f32
    memref.store %s, %x[%i] : memref<?xf32>
  } else {
    %b = memref.load %y[%i] : memref<?xf32>
    memref.store %b, %x[%i] : memref<?xf32>
  }
  %d = memref.load %x[%i] : memref<?xf32>
  %e = memref.load %x[%i] : memref<?xf32>
  %f = arith.addf %d, %e : f32
  memref.store %f, %x[%i] : memref<?xf32>
  return
}
