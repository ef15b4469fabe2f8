// RUN: %pykern-opt %s --pass-pipeline="builtin.module(kern-vectorize-items{masks=true},canonicalize,cse)" | FileCheck %s
// RUN: %pykern-opt %s --pass-pipeline="builtin.module(kern-vectorize-items,canonicalize,cse)" | FileCheck %s --check-prefix=NARROW

// With masks all work-items are in vectors, but for one to three at the end: neighbours are loaded and stored under a mask; what is written lane by lane is
// written by lanes that are there, at indices of lanes that are there. Without masks the loop for the rest stays, behind one
// of narrower vectors.

// CHECK-LABEL: func.func @rests
// CHECK: scf.for {{.*}} step %c32
// CHECK: vector.load {{.*}} vector<32xf32>
// CHECK: %[[LAST:.*]] = arith.remui
// CHECK: %[[EMPTY:.*]] = arith.cmpi slt, %[[LAST]], %c4
// CHECK: %[[END:.*]] = arith.select %[[EMPTY]], %{{.*}}, %arg4
// CHECK: scf.for %[[I:.*]] = %[[MIDDLE:.*]] to %[[END]] step %c16
// CHECK-NEXT: %[[LEFT:.*]] = arith.subi %arg4, %[[I]]
// CHECK: %[[FEW:.*]] = arith.minsi %[[LEFT]], %c16
// CHECK: %[[MASK:.*]] = arith.cmpi sgt, %{{.*}} : vector<16xi32>
// CHECK: scf.for
// CHECK: vector.maskedload %arg1[%{{.*}}, %[[I]]], %[[MASK]]
// CHECK: vector.maskedstore %arg0[%[[I]]], %[[MASK]]
// CHECK: %[[THERE:.*]] = arith.cmpi sgt, %[[LEFT]], %c1
// CHECK: arith.select %[[THERE]]
// CHECK: scf.if %[[THERE]]
// CHECK-NEXT: memref.store
// CHECK: scf.for %{{.*}} = %[[END]] to %arg4 step %c1
// CHECK: return

// NARROW-LABEL: func.func @rests
// NARROW: scf.for {{.*}} step %c32
// NARROW: scf.for {{.*}} step %c8
// NARROW: vector.load {{.*}} vector<8xf32>
// NARROW: scf.for %{{.*}} = %{{.*}} to %arg4 step %c1
// NARROW-NOT: vector
// NARROW: return
func.func @rests(%o: memref<?xf32>, %x: memref<?x?xf32>, %p: memref<?x?xf32>, %lo: index, %hi: index, %n: index)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %lo to %hi step %c1 {
    %s = scf.for %k = %c0 to %n step %c1 iter_args(%held = %zero) -> (f32) {
      %v = memref.load %x[%k, %i] : memref<?x?xf32>
      %t = arith.addf %held, %v : f32
      scf.yield %t : f32
    }
    memref.store %s, %o[%i] : memref<?xf32>
    memref.store %s, %p[%i, %c0] : memref<?x?xf32>
  } {kern.items}
  return
}
