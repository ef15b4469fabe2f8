// RUN: %pykern-opt %s --kern-vectorize-streams --canonicalize --cse | FileCheck %s

// Slices of arrays that are larger than the cache are looked through: a stencil of a program is streamed.

// CHECK-LABEL: func.func @stencil(
// CHECK-SAME: %[[X:.*]]: memref<3000x3000xf64>, %[[Y:.*]]: memref<3000x3000xf64>,
// CHECK-NOT: memref.subview
// CHECK: scf.for %[[I:.*]] = %
// CHECK: %[[ROW:.*]] = arith.addi %[[I]], %c1
// CHECK: scf.for %[[J:.*]] = %
// CHECK: %[[LEFT:.*]] = vector.load %[[X]][%[[ROW]], %[[J]]]
// CHECK: %[[FAR:.*]] = arith.addi %[[J]], %c2
// CHECK: vector.load %[[X]][%[[ROW]], %[[FAR]]]
// CHECK: %[[NEXT:.*]] = arith.addi %[[J]], %c1
// CHECK: vector.store %{{.*}}, %[[Y]][%[[ROW]], %[[NEXT]]] {alignment = 64 : i64, nontemporal = true}
func.func @stencil(%x: memref<3000x3000xf64>, %y: memref<3000x3000xf64>, %lo: index, %hi: index) attributes {kern.noalias} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 2998 : index
  %left = memref.subview %x[1, 0] [2998, 2998] [1, 1] : memref<3000x3000xf64> to memref<2998x2998xf64, strided<[3000, 1], offset: 3000>>
  %right = memref.subview %x[1, 2] [2998, 2998] [1, 1] : memref<3000x3000xf64> to memref<2998x2998xf64, strided<[3000, 1], offset: 3002>>
  %inner = memref.subview %y[1, 1] [2998, 2998] [1, 1] : memref<3000x3000xf64> to memref<2998x2998xf64, strided<[3000, 1], offset: 3001>>
  scf.for %i = %lo to %hi step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %a = memref.load %left[%i, %j] : memref<2998x2998xf64, strided<[3000, 1], offset: 3000>>
      %b = memref.load %right[%i, %j] : memref<2998x2998xf64, strided<[3000, 1], offset: 3002>>
      %s = arith.addf %a, %b : f64
      memref.store %s, %inner[%i, %j] : memref<2998x2998xf64, strided<[3000, 1], offset: 3001>>
    }
  }
  return
}

// Every second column is no array's own line; small arrays stay as they are.

// CHECK-LABEL: func.func @strided(
// CHECK: memref.subview
// CHECK-NOT: vector.store
// CHECK-LABEL: func.func @small(
// CHECK: memref.subview
// CHECK-NOT: vector.store
func.func @strided(%x: memref<9000000xf64>, %lo: index, %hi: index) attributes {kern.noalias} {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %even = memref.subview %x[0] [4500000] [2] : memref<9000000xf64> to memref<4500000xf64, strided<[2]>>
  scf.for %i = %lo to %hi step %c1 {
    memref.store %zero, %even[%i] : memref<4500000xf64, strided<[2]>>
  }
  return
}

func.func @small(%x: memref<900xf64>, %lo: index, %hi: index) attributes {kern.noalias} {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %part = memref.subview %x[5] [450] [1] : memref<900xf64> to memref<450xf64, strided<[1], offset: 5>>
  scf.for %i = %lo to %hi step %c1 {
    memref.store %zero, %part[%i] : memref<450xf64, strided<[1], offset: 5>>
  }
  return
}
