// RUN: %pykern-opt %s --kern-place-work-items --canonicalize --cse | FileCheck %s
// RUN: %pykern-opt %s --kern-place-work-items=small=true --canonicalize --cse | FileCheck %s --check-prefix=SMALL
// RUN: %pykern-opt %s '--kern-place-work-items=small=true whole-x=true' --canonicalize --cse | FileCheck %s --check-prefix=LONG
// RUN: %pykern-opt %s '--kern-place-work-items=whole=true' --canonicalize --cse | FileCheck %s --check-prefix=WHOLE

// The last dimension runs along x; the words of the launch follow the arguments: counts, then first groups.

// SMALL-LABEL: func.func @open
// SMALL: %[[BX:.*]] = gpu.block_id x {kern.range = array<i64: 0, 33554431>}
// SMALL: arith.addi %[[BX]], %{{.*}} {kern.range = array<i64: 0, 33554431>}
// Along x such a device is never given a part of a launch.
// LONG-LABEL: func.func @open
// LONG: %[[BX:.*]] = gpu.block_id x
// LONG-NOT: arith.addi %[[BX]], %arg
// Where the launch is short along y, it is one grid there.
// WHOLE-LABEL: func.func @open
// WHOLE: %[[BX:.*]] = gpu.block_id x
// WHOLE: arith.addi %[[BX]], %arg
// WHOLE: %[[BY:.*]] = gpu.block_id y
// WHOLE-NOT: arith.addi %[[BY]], %arg
// WHOLE-LABEL: func.func @known
// CHECK-LABEL: func.func @open
// CHECK-SAME: (%[[X:.*]]: memref<?x?xf32>, %[[N:.*]]: index, %[[M:.*]]: index, %[[FX:.*]]: index, %[[FY:.*]]: index)
// CHECK-SAME: kern.workgroup = array<i64: 4, 64>
// CHECK: %[[TX:.*]] = gpu.thread_id x {kern.range = array<i64: 0, 63>}
// CHECK: %[[BX:.*]] = gpu.block_id x
// CHECK: %[[GX:.*]] = arith.addi %[[BX]], %[[FX]]
// CHECK: %[[TY:.*]] = gpu.thread_id y
// CHECK: %[[BY:.*]] = gpu.block_id y
// CHECK: %[[GY:.*]] = arith.addi %[[BY]], %[[FY]]
// CHECK: %[[I0:.*]] = arith.muli %[[GY]], %c4
// CHECK: %[[I:.*]] = arith.addi %[[I0]], %[[TY]]
// CHECK: %[[J0:.*]] = arith.muli %[[GX]], %c64
// CHECK: %[[J:.*]] = arith.addi %[[J0]], %[[TX]]
// CHECK: %[[IN:.*]] = arith.cmpi slt, %[[I]], %[[N]]
// CHECK: %[[JN:.*]] = arith.cmpi slt, %[[J]], %[[M]]
// CHECK: %[[BOTH:.*]] = arith.andi %[[IN]], %[[JN]]
// CHECK: scf.if %[[BOTH]]
// CHECK-NEXT: "kern.guard"
// CHECK: memref.store %{{.*}}, %[[X]][%[[I]], %[[J]]]
func.func @open(%x: memref<?x?xf32>) attributes {kern.kernel, kern.plain, kern.rank = 2 : i64} {
  %c = arith.constant 1.0 : f32
  %i = "kern.global_id"() {dim = 0} : () -> index
  %j = "kern.global_id"() {dim = 1} : () -> index
  memref.store %c, %x[%i, %j] : memref<?x?xf32>
  return
}

// Whole groups of a known count need no guard, and few groups no number of a first one; ranges have a start and a step.

// CHECK-LABEL: func.func @known
// CHECK-SAME: (%{{.*}}: memref<?xf32>, %{{.*}}: index, %[[START:.*]]: index, %[[STEP:.*]]: index, %{{.*}}: index)
// CHECK: gpu.block_id x {kern.range = array<i64: 0, 1>}
// CHECK-NOT: scf.if
// CHECK: %[[SCALED:.*]] = arith.muli %{{.*}}, %[[STEP]]
// CHECK: %[[AT:.*]] = arith.addi %{{.*}}, %[[SCALED]]
// CHECK: memref.store %{{.*}}, %{{.*}}[%[[AT]]]
func.func @known(%x: memref<?xf32>) attributes {kern.kernel, kern.ndrange = array<i64: 512>, kern.rank = 1 : i64} {
  %c = arith.constant 1.0 : f32
  %i = "kern.global_id"() {dim = 0} : () -> index
  memref.store %c, %x[%i] : memref<?xf32>
  return
}

// Outer dimensions share the axis z.

// CHECK-LABEL: func.func @four
// CHECK: %[[TZ:.*]] = gpu.thread_id z
// CHECK-DAG: arith.remui %[[TZ]], %c2
// CHECK-DAG: arith.divui %[[TZ]], %c2
func.func @four(%x: memref<?xindex>) attributes {kern.kernel, kern.plain, kern.rank = 4 : i64, kern.workgroup = array<i64: 3, 2, 4, 8>} {
  %c0 = arith.constant 0 : index
  %i = "kern.local_id"() {dim = 0} : () -> index
  %j = "kern.local_id"() {dim = 1} : () -> index
  %s = arith.muli %i, %j : index
  memref.store %s, %x[%c0] : memref<?xindex>
  return
}

// A group that is left open is long along the last dimension, whatever stands before.

// CHECK-LABEL: func.func @three
// CHECK-SAME: kern.workgroup = array<i64: 1, 4, 64>
func.func @three(%x: memref<?xindex>) attributes {kern.kernel, kern.plain, kern.rank = 3 : i64} {
  %i = "kern.global_id"() {dim = 2 : i64} : () -> index
  memref.store %i, %x[%i] : memref<?xindex>
  return
}
