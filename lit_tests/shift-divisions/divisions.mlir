// RUN: %pykern-opt %s --pass-pipeline="builtin.module(kern-shift-divisions,canonicalize,cse)" | FileCheck %s

// By 8, as Python rounds; by 6 and by what is not known divisions stay, and so does the remainder that C rounds.

// CHECK-LABEL: func.func @divisions
// CHECK-SAME: (%[[OUT:.*]]: memref<?xindex>, %[[X:.*]]: index, %[[Y:.*]]: index)
// CHECK-DAG: %[[C3:.*]] = arith.constant 3 : index
// CHECK-DAG: %[[C7:.*]] = arith.constant 7 : index
// CHECK: %[[QUOTIENT:.*]] = arith.shrsi %[[X]], %[[C3]]
// CHECK: %[[REST:.*]] = arith.andi %[[X]], %[[C7]]
// CHECK: %[[SIX:.*]] = arith.floordivsi %[[X]], %c6
// CHECK: %[[ANY:.*]] = arith.floordivsi %[[X]], %[[Y]]
// CHECK: %[[AS_C:.*]] = arith.remsi %[[X]], %c8
// CHECK: memref.store %[[QUOTIENT]]
// CHECK: memref.store %[[REST]]
// CHECK: memref.store %[[SIX]]
// CHECK: memref.store %[[ANY]]
// CHECK: memref.store %[[AS_C]]
func.func @divisions(%out: memref<?xindex>, %x: index, %y: index)
    attributes {kern.kernel, kern.plain, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c6 = arith.constant 6 : index
  %c8 = arith.constant 8 : index
  %quotient = arith.floordivsi %x, %c8 : index
  %r = arith.remsi %x, %c8 : index
  %differs = arith.cmpi ne, %r, %c0 : index
  %mixed = arith.xori %r, %c8 : index
  %signs = arith.cmpi slt, %mixed, %c0 : index
  %moved = arith.addi %r, %c8 : index
  %both = arith.andi %differs, %signs : i1
  %rest = arith.select %both, %moved, %r : index
  %six = arith.floordivsi %x, %c6 : index
  %any = arith.floordivsi %x, %y : index
  %as_c = arith.remsi %x, %c8 : index
  memref.store %quotient, %out[%c0] : memref<?xindex>
  memref.store %rest, %out[%c1] : memref<?xindex>
  memref.store %six, %out[%c2] : memref<?xindex>
  memref.store %any, %out[%c3] : memref<?xindex>
  memref.store %as_c, %out[%c4] : memref<?xindex>
  return
}

// The loops of array programs divide in the same way.

// CHECK-LABEL: func.func @program
// CHECK: arith.shrsi %{{.*}}, %c1
func.func @program(%x: index) -> index attributes {kern.program} {
  %c2 = arith.constant 2 : index
  %half = arith.floordivsi %x, %c2 : index
  return %half : index
}
