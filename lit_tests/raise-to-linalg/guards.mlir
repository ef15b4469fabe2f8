// RUN: %pykern-opt %s --kern-raise-to-linalg --canonicalize --cse | FileCheck %s

// The guard of a stencil is a slice; nothing is left of it in the body.

// CHECK-LABEL: func.func @inner
// CHECK: %[[N:.*]] = memref.dim %arg1, %c0
// CHECK: %[[E:.*]] = arith.addi %[[N]], %c-1
// CHECK: %[[U:.*]] = arith.minsi %arg2, %[[E]]
// CHECK: %[[D:.*]] = arith.subi %[[U]], %c1
// CHECK: %[[C:.*]] = arith.maxsi %[[D]], %c0
// CHECK: tensor.extract_slice %{{.*}}[1] [%[[C]]] [1]
// CHECK: tensor.extract_slice %{{.*}}[0] [%[[C]]] [1]
// CHECK: tensor.extract_slice %{{.*}}[2] [%[[C]]] [1]
// CHECK-NOT: arith.select
func.func @inner(%y: memref<?xf32>, %x: memref<?xf32>)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %i = "kern.global_id"() {dim = 0 : i64} : () -> index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %e = arith.subi %n, %c1 : index
  %above = arith.cmpi sgt, %i, %c0 : index
  %below = arith.cmpi slt, %i, %e : index
  %in = arith.andi %above, %below : i1
  scf.if %in {
    %l = arith.subi %i, %c1 : index
    %r = arith.addi %i, %c1 : index
    %0 = memref.load %x[%l] : memref<?xf32>
    %1 = memref.load %x[%r] : memref<?xf32>
    %2 = arith.addf %0, %1 : f32
    memref.store %2, %y[%i] : memref<?xf32>
  }
  return
}

// A condition on data is a select between the new value and the old one. What only runs where it holds
// stays within its array: no position is left where the load would be outside.

// CHECK-LABEL: func.func @masked
// CHECK: %[[DY:.*]] = memref.dim %arg0, %c0
// CHECK: %[[M:.*]] = arith.minsi %arg3, %[[DY]]
// CHECK: %[[DZ:.*]] = memref.dim %arg2, %c0
// CHECK: arith.minsi %[[M]], %[[DZ]]
// CHECK: linalg.generic
// CHECK-NEXT: ^bb0(%[[X:.*]]: f32, %[[Z:.*]]: f32, %[[OLD:.*]]: f32):
// CHECK: %[[C:.*]] = arith.cmpf ogt
// CHECK: arith.select %[[C]], %{{.*}}, %[[OLD]]
func.func @masked(%y: memref<?xf32>, %x: memref<?xf32>, %z: memref<?xf32>)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  %i = "kern.global_id"() {dim = 0 : i64} : () -> index
  %0 = memref.load %x[%i] : memref<?xf32>
  %1 = arith.cmpf ogt, %0, %zero : f32
  scf.if %1 {
    %2 = memref.load %z[%i] : memref<?xf32>
    memref.store %2, %y[%i] : memref<?xf32>
  }
  return
}

// A sum of two positions is no range: the array is padded as far as it is read.

// CHECK-LABEL: func.func @over_the_edge
// CHECK: tensor.pad
// CHECK: linalg.generic {{.*}}["parallel", "reduction"]
// CHECK: arith.select
func.func @over_the_edge(%y: memref<?xf32>, %x: memref<?xf32>)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %cm2 = arith.constant -2 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %i = "kern.global_id"() {dim = 0 : i64} : () -> index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %s = scf.for %k = %cm2 to %c3 step %c1 iter_args(%acc = %zero) -> (f32) {
    %at = arith.addi %i, %k : index
    %a = arith.cmpi sge, %at, %c0 : index
    %b = arith.cmpi slt, %at, %n : index
    %in = arith.andi %a, %b : i1
    %new = scf.if %in -> (f32) {
      %0 = memref.load %x[%at] : memref<?xf32>
      %1 = arith.addf %acc, %0 : f32
      scf.yield %1 : f32
    } else {
      scf.yield %acc : f32
    }
    scf.yield %new : f32
  }
  memref.store %s, %y[%i] : memref<?xf32>
  return
}
