// RUN: %pykern-opt %s --kern-unroll-items --canonicalize --cse | FileCheck %s

// Where all work-items pass the guard, each step is done for all of them; the others go one after the other.

// CHECK-LABEL: func.func @guarded
// CHECK-SAME: (%{{.*}}, %{{.*}}, %[[I0:.*]]: index, %{{.*}}: index)
// CHECK: %[[I1:.*]] = arith.addi %[[I0]], %c256
// CHECK: %[[IN0:.*]] = arith.cmpi slt, %[[I0]]
// CHECK: %[[IN1:.*]] = arith.cmpi slt, %[[I1]]
// CHECK: %[[ALL:.*]] = arith.andi %[[IN0]], %[[IN1]]
// CHECK: scf.if %[[ALL]] {
// CHECK-NEXT: %[[A:.*]] = memref.load %arg0[%[[I0]]]
// CHECK-NEXT: %[[B:.*]] = memref.load %arg0[%[[I1]]]
// CHECK-NEXT: memref.store %[[A]], %arg1[%[[I0]]]
// CHECK-NEXT: memref.store %[[B]], %arg1[%[[I1]]]
// CHECK-NEXT: } else {
// CHECK: scf.for
// CHECK: scf.if
// CHECK: memref.store
// CHECK: {kern.each}
func.func @guarded(%x: memref<?xf32>, %y: memref<?xf32>, %t: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c256 = arith.constant 256 : index
  scf.for %k = %c0 to %c2 step %c1 {
    %first = arith.muli %k, %c256 : index
    %i = arith.addi %first, %t : index
    %in = arith.cmpi slt, %i, %n : index
    scf.if %in {
      %v = memref.load %x[%i] : memref<?xf32>
      memref.store %v, %y[%i] : memref<?xf32>
    }
  } {kern.each}
  return
}

// Without a guard there is one version; a loop without the mark stays.

// CHECK-LABEL: func.func @whole
// CHECK-NOT: scf.if
// CHECK: memref.load %arg0[%c0
// CHECK-NEXT: memref.load %arg0[%c1
// CHECK: memref.store
// CHECK-NEXT: memref.store
// CHECK: scf.for
// CHECK-NOT: scf.for
func.func @whole(%x: memref<?xf32>, %y: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  scf.for %k = %c0 to %c2 step %c1 {
    %v = memref.load %x[%k] : memref<?xf32>
    memref.store %v, %y[%k] : memref<?xf32>
  } {kern.each}
  scf.for %k = %c0 to %c2 step %c1 {
    %v = memref.load %x[%k] : memref<?xf32>
    memref.store %v, %y[%k] : memref<?xf32>
  }
  return
}
