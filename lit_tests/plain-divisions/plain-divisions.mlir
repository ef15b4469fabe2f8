// RUN: %pykern-opt %s --kern-plain-divisions --canonicalize | FileCheck %s

// The counter of a loop from 0 is never negative: no rounding down. What may be negative keeps it.

// CHECK-LABEL: func.func @k
// CHECK: scf.for %[[I:.*]] = %c0
// CHECK: %[[Q:.*]] = arith.divsi %[[I]], %c4
// CHECK: %[[R:.*]] = arith.remsi %[[I]], %c4
// CHECK-NOT: arith.select
// CHECK: memref.store %[[R]], %arg0[%[[Q]]]
// CHECK: arith.floordivsi %arg1
func.func @k(%x: memref<?xindex>, %any: index) attributes {kern.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %c64 step %c1 {
    %q = arith.floordivsi %i, %c4 : index
    %r = arith.remsi %i, %c4 : index
    %differs = arith.cmpi ne, %r, %c0 : index
    %both = arith.xori %r, %c4 : index
    %negative = arith.cmpi slt, %both, %c0 : index
    %mixed = arith.andi %differs, %negative : i1
    %moved = arith.addi %r, %c4 : index
    %rest = arith.select %mixed, %moved, %r : index
    memref.store %rest, %x[%q] : memref<?xindex>
  }
  %down = arith.floordivsi %any, %c4 : index
  memref.store %down, %x[%c0] : memref<?xindex>
  return
}
