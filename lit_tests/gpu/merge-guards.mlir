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
