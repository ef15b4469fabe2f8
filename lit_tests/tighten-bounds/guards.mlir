// RUN: %pykern-opt %s --kern-tighten-bounds | FileCheck %s

// The interior of a two-dimensional array: chained comparisons, dimension by dimension, leave no test.

// CHECK-LABEL: func.func @interior
// CHECK-SAME: (%[[A:[a-z0-9]+]]: memref<?x?xf32>, %[[B:[a-z0-9]+]]: memref<?x?xf32>, %[[N:[a-z0-9]+]]: index, %[[M:[a-z0-9]+]]: index)
// CHECK: %[[D0:.*]] = memref.dim %[[A]], %c0
// CHECK: %[[E0:.*]] = arith.addi %[[D0]], %c-1
// CHECK: %[[U0:.*]] = arith.minsi %[[N]], %[[E0]]
// CHECK: %[[L0:.*]] = arith.constant 1 : index
// CHECK: scf.for %[[I:.*]] = %[[L0]] to %[[U0]]
// CHECK: %[[D1:.*]] = memref.dim %[[A]], %c1
// CHECK: %[[E1:.*]] = arith.addi %[[D1]], %c-1
// CHECK: %[[U1:.*]] = arith.minsi %[[M]], %[[E1]]
// CHECK: %[[L1:.*]] = arith.constant 1 : index
// CHECK: scf.for %[[J:.*]] = %[[L1]] to %[[U1]]
// CHECK-NEXT: memref.load %[[A]][%[[I]], %[[J]]]
// CHECK-NEXT: memref.store
// CHECK-NOT: scf.if
func.func @interior(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %n: index, %m: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %false = arith.constant false
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %m step %c1 {
      %0 = arith.cmpi sgt, %i, %c0 : index
      %1 = scf.if %0 -> (i1) {
        %d = memref.dim %a, %c0 : memref<?x?xf32>
        %e = arith.subi %d, %c1 : index
        %in = arith.cmpi slt, %i, %e : index
        scf.yield %in : i1
      } else {
        scf.yield %false : i1
      }
      %2 = arith.cmpi sgt, %j, %c0 : index
      %d = memref.dim %a, %c1 : memref<?x?xf32>
      %e = arith.subi %d, %c1 : index
      %3 = arith.cmpi slt, %j, %e : index
      %4 = arith.select %2, %3, %false : i1
      %5 = arith.andi %1, %4 : i1
      scf.if %5 {
        %v = memref.load %a[%i, %j] : memref<?x?xf32>
        memref.store %v, %b[%i, %j] : memref<?x?xf32>
      }
    }
  }
  return
}

// An early return is a guard the other way round.

// CHECK-LABEL: func.func @early_return
// CHECK-SAME: %[[N:[a-z0-9]+]]: index, %[[M:[a-z0-9]+]]: index)
// CHECK: %[[U:.*]] = arith.minsi %[[N]], %[[M]]
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %[[U]]
// CHECK-NEXT: memref.store
// CHECK-NOT: scf.if
func.func @early_return(%b: memref<?xf32>, %f: f32, %n: index, %m: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %0 = arith.cmpi sge, %i, %m : index
    scf.if %0 {
    } else {
      memref.store %f, %b[%i] : memref<?xf32>
    }
  }
  return
}

// A wider step: the new lower bound is one of the old iterations.

// CHECK-LABEL: func.func @step
// CHECK-SAME: %[[LO:[a-z0-9]+]]: index, %[[HI:[a-z0-9]+]]: index, %[[M:[a-z0-9]+]]: index, %[[S:[a-z0-9]+]]: index)
// CHECK: %[[T:.*]] = arith.minsi %[[M]], %[[HI]]
// CHECK: %[[R:.*]] = arith.maxsi %[[LO]], %[[T]]
// CHECK: %[[D:.*]] = arith.subi %[[R]], %[[LO]]
// CHECK: %[[K:.*]] = arith.divui %{{.*}}, %[[S]]
// CHECK: %[[KS:.*]] = arith.muli %[[K]], %[[S]]
// CHECK: %[[L:.*]] = arith.addi %[[LO]], %[[KS]]
// CHECK: scf.for %{{.*}} = %[[L]] to %[[HI]] step %[[S]]
// CHECK-NEXT: memref.store
func.func @step(%b: memref<?xf32>, %f: f32, %lo: index, %hi: index, %m: index, %s: index) {
  scf.for %i = %lo to %hi step %s {
    %0 = arith.cmpi sge, %i, %m : index
    scf.if %0 {
      memref.store %f, %b[%i] : memref<?xf32>
    }
  }
  return
}

// A condition that does not know the loop stands around it; what is not affine stays inside.

// CHECK-LABEL: func.func @invariant
// CHECK-SAME: %[[N:[a-z0-9]+]]: index, %[[X:[a-z0-9]+]]: f32)
// CHECK: %[[P:.*]] = arith.cmpf ogt, %[[X]]
// CHECK: scf.if %[[P]]
// CHECK: scf.for %[[I:.*]] = %c0{{.*}} to %[[N]]
// CHECK: %[[V:.*]] = memref.load %{{.*}}[%[[I]]]
// CHECK: %[[Q:.*]] = arith.cmpf ogt, %[[V]]
// CHECK: scf.if %[[Q]]
// CHECK-NEXT: memref.store
func.func @invariant(%a: memref<?xf32>, %b: memref<?xf32>, %n: index, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0.0 : f32
  scf.for %i = %c0 to %n step %c1 {
    %p = arith.cmpf ogt, %x, %z : f32
    %v = memref.load %a[%i] : memref<?xf32>
    %q = arith.cmpf ogt, %v, %z : f32
    %c = arith.andi %p, %q : i1
    scf.if %c {
      memref.store %v, %b[%i] : memref<?xf32>
    }
  }
  return
}

// A load that the bounds test protects runs bare once the test is in the bounds.

// CHECK-LABEL: func.func @protected_load
// CHECK-SAME: %[[N:[a-z0-9]+]]: index, %[[M:[a-z0-9]+]]: index)
// CHECK: %[[U:.*]] = arith.minsi %[[N]], %[[M]]
// CHECK: scf.for %[[I:.*]] = %c0{{.*}} to %[[U]]
// CHECK-NEXT: %[[V:.*]] = memref.load %{{.*}}[%[[I]]]
// CHECK-NEXT: %[[Q:.*]] = arith.cmpf
// CHECK-NEXT: scf.if %[[Q]]
func.func @protected_load(%a: memref<?xf32>, %b: memref<?xf32>, %n: index, %m: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0.0 : f32
  %false = arith.constant false
  scf.for %i = %c0 to %n step %c1 {
    %p = arith.cmpi slt, %i, %m : index
    %c = scf.if %p -> (i1) {
      %v = memref.load %a[%i] : memref<?xf32>
      %q = arith.cmpf ogt, %v, %z : f32
      scf.yield %q : i1
    } else {
      scf.yield %false : i1
    }
    scf.if %c {
      memref.store %z, %b[%i] : memref<?xf32>
    }
  }
  return
}

// A store outside of the guard happens in every iteration: the loop stays as it is.

// CHECK-LABEL: func.func @other_store
// CHECK-SAME: %[[N:[a-z0-9]+]]: index, %{{.*}}: index)
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %[[N]]
// CHECK: scf.if
func.func @other_store(%a: memref<?xf32>, %b: memref<?xf32>, %f: f32, %n: index, %m: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    memref.store %f, %a[%i] : memref<?xf32>
    %0 = arith.cmpi slt, %i, %m : index
    scf.if %0 {
      memref.store %f, %b[%i] : memref<?xf32>
    }
  }
  return
}

// Indices of the frontend are 64-bit integers; one that may be as large as it likes is clamped before sums.

// CHECK-LABEL: func.func @wide_integers
// CHECK-SAME: %[[N:[a-z0-9]+]]: index, %[[P:[a-z0-9]+]]: i64)
// CHECK: %[[Q:.*]] = arith.index_cast %[[P]] : i64 to index
// CHECK: arith.minsi %[[Q]], %c2305843009213693952
// CHECK: arith.maxsi
// CHECK: %[[E:.*]] = arith.addi %{{.*}}, %c-1
// CHECK: %[[U:.*]] = arith.minsi %[[N]], %[[E]]
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %[[U]]
// CHECK-NEXT: memref.store
func.func @wide_integers(%b: memref<?xf32>, %f: f32, %n: index, %p: i64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i64
  scf.for %i = %c0 to %n step %c1 {
    %w = arith.index_cast %i : index to i64
    %next = arith.addi %w, %one : i64
    %0 = arith.cmpi slt, %next, %p : i64
    scf.if %0 {
      memref.store %f, %b[%i] : memref<?xf32>
    }
  }
  return
}
