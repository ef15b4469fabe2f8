// RUN: %pykern-opt %s --kern-expand-ndrange --canonicalize --cse | FileCheck %s

// A loop over a length counts as often as it runs: 8 ops outside of it and 3 inside, times the work-items.

// CHECK-LABEL: func.func @rows.work
// CHECK-SAME: (%[[A:.*]]: memref<?x?xf32>, %arg1: index,
// CHECK: %[[M:.*]] = memref.dim %[[A]], %c1
// CHECK: %[[TRIPS:.*]] = arith.maxsi %[[M]], %c0
// CHECK: %[[LOOP:.*]] = arith.muli %[[TRIPS]], %c3
// CHECK: %[[ITEM:.*]] = arith.addi %[[LOOP]], %c8
// CHECK: arith.muli %arg1, %[[ITEM]]
func.func @rows(%a: memref<?x?xf32>) attributes {kern.kernel, kern.plain, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %i = "kern.global_id"() {dim = 0} : () -> index
  %zero = arith.constant 0.0 : f32
  %m = memref.dim %a, %c1 : memref<?x?xf32>
  %sum = scf.for %j = %c0 to %m step %c1 iter_args(%acc = %zero) -> (f32) {
    %v = memref.load %a[%i, %j] : memref<?x?xf32>
    %s = arith.addf %acc, %v : f32
    scf.yield %s : f32
  }
  memref.store %sum, %a[%i, %c0] : memref<?x?xf32>
  return
}

// Up to a work-item's own index: the one in the middle, here of a launch of 100. Inside of another loop
// its index is the one halfway.

// CHECK-LABEL: func.func @triangle.work
// CHECK: %[[WORK:.*]] = arith.constant 16400 : index
// CHECK: return %[[WORK]]
func.func @triangle(%a: memref<?xf32>) attributes {kern.kernel, kern.plain, kern.rank = 1 : i64, kern.ndrange = array<i64: 100>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %i = "kern.global_id"() {dim = 0} : () -> index
  scf.for %j = %c0 to %i step %c1 {
    %v = memref.load %a[%j] : memref<?xf32>
    memref.store %v, %a[%i] : memref<?xf32>
  }
  %c2 = arith.constant 2 : index
  scf.for %k = %c0 to %c2 step %c1 {
    scf.for %l = %k to %c2 step %c1 {
    }
  }
  return
}

// Bounds that are data, or a division that might fail: 16 times.

// CHECK-LABEL: func.func @data.work
// CHECK-NOT: memref.load
// CHECK-NOT: divsi
// CHECK: arith.muli %arg{{.*}}, %c40
func.func @data(%starts: memref<?xindex>, %n: index, %m: index) attributes {kern.kernel, kern.plain, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %i = "kern.global_id"() {dim = 0} : () -> index
  %last = memref.load %starts[%i] : memref<?xindex>
  scf.for %j = %c0 to %last step %c1 {
  }
  %q = arith.divsi %n, %m : index
  scf.for %j = %c0 to %q step %c1 {
  }
  return
}

// Steps, and ranges of work-items.

// CHECK-LABEL: func.func @steps.work
// CHECK: arith.ceildivui %{{.*}}, %c3
func.func @steps(%n: index) attributes {kern.kernel, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %i = "kern.global_id"() {dim = 0} : () -> index
  scf.for %j = %i to %n step %c3 {
  }
  return
}

// Work is counted where the order matters, too: the launcher gives such kernels one thread.

// CHECK-LABEL: func.func @ordered.work
// CHECK: return %arg1 : index
func.func @ordered(%n: index) attributes {kern.kernel, kern.plain, kern.sequential, kern.rank = 1 : i64} {
  return
}
