// RUN: %pykern-opt %s --kern-merge-guards | FileCheck %s

// The launch's guard and the kernel's become one; what is compared is computed in front.

// CHECK-LABEL: func.func @nested
// CHECK: %[[INNER:.*]] = arith.cmpi sgt
// CHECK: %[[NEVER:.*]] = arith.constant false
// CHECK: %[[BOTH:.*]] = arith.select %arg1, %[[INNER]], %[[NEVER]] : i1
// CHECK: scf.if %[[BOTH]]
// CHECK-NEXT: memref.store
// CHECK-NEXT: }
// CHECK-NEXT: return
func.func @nested(%x: memref<?xindex>, %here: i1, %i: index, %zero: index) {
  scf.if %here {
    %positive = arith.cmpi sgt, %i, %zero : index
    scf.if %positive {
      memref.store %i, %x[%i] : memref<?xindex>
    }
  }
  return
}

// A load, a division and a second side stay where they are guarded.

// CHECK-LABEL: func.func @guarded
// CHECK-COUNT-6: scf.if
func.func @guarded(%x: memref<?xindex>, %here: i1, %i: index, %zero: index) {
  scf.if %here {
    %loaded = memref.load %x[%i] : memref<?xindex>
    %positive = arith.cmpi sgt, %loaded, %zero : index
    scf.if %positive {
      memref.store %i, %x[%i] : memref<?xindex>
    }
  }
  scf.if %here {
    %quotient = arith.divsi %i, %zero : index
    %positive = arith.cmpi sgt, %quotient, %zero : index
    scf.if %positive {
      memref.store %i, %x[%i] : memref<?xindex>
    }
  }
  scf.if %here {
    %positive = arith.cmpi sgt, %i, %zero : index
    scf.if %positive {
      memref.store %i, %x[%i] : memref<?xindex>
    } else {
      memref.store %zero, %x[%i] : memref<?xindex>
    }
  }
  return
}

// What is asked is asked in a row: each comparison takes the answer of the one before. A condition that two branches
// share stays one value.

// CHECK-LABEL: func.func @asked
// CHECK-SAME: (%[[X:.*]]: memref<?xindex>, %[[A:.*]]: i1, %[[B:.*]]: i1, %[[C:.*]]: i1, %[[D:.*]]: i1, %{{.*}}: index)
// CHECK: %[[BOTH:.*]] = arith.select %[[A]], %[[B]], %{{.*}} : i1
// CHECK: %[[THREE:.*]] = arith.select %[[BOTH]], %[[C]], %{{.*}} : i1
// CHECK: %[[ALL:.*]] = arith.select %[[THREE]], %[[D]], %{{.*}} : i1
// CHECK: scf.if %[[ALL]]
// CHECK: scf.if %[[SHARED:.*]] {
// CHECK: scf.if %[[SHARED]] {
func.func @asked(%x: memref<?xindex>, %a: i1, %b: i1, %c: i1, %d: i1, %i: index) {
  %ab = arith.andi %a, %b : i1
  %cd = arith.andi %c, %d : i1
  %all = arith.andi %ab, %cd : i1
  scf.if %all {
    memref.store %i, %x[%i] : memref<?xindex>
  }
  %ac = arith.andi %a, %c : i1
  %shared = arith.andi %ac, %d : i1
  scf.if %shared {
    memref.store %i, %x[%i] : memref<?xindex>
  }
  scf.if %shared {
    memref.store %i, %x[%i] : memref<?xindex>
  }
  return
}
