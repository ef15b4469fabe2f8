// RUN: %pykern-opt %s --kern-lower-subgroups --canonicalize --cse | FileCheck %s
// RUN: %pykern-opt %s --kern-lower-subgroups=redux=true --canonicalize --cse | FileCheck %s --check-prefix=REDUX
// RUN: %pykern-opt %s --kern-lower-subgroups="subgroup-size=64 rows=cdna" --canonicalize --cse | FileCheck %s --check-prefix=CDNA
// RUN: %pykern-opt %s --kern-lower-subgroups=rows=rdna --canonicalize --cse | FileCheck %s --check-prefix=RDNA
// RUN: %pykern-opt %s --kern-lower-subgroups=lanes=8 --canonicalize --cse | FileCheck %s --check-prefix=PARTS

// Whole subgroups: five exchanges, and every lane has the sum.

// Where eight lanes exchange values: three exchanges, then four cells of memory.

// PARTS-LABEL: func.func @whole
// PARTS-COUNT-3: gpu.shuffle xor
// PARTS-NOT: gpu.shuffle
// PARTS: gpu.barrier
// PARTS: scf.if
// PARTS: gpu.barrier
// PARTS-COUNT-4: memref.load
// PARTS-LABEL: func.func @partial

// CHECK-LABEL: func.func @whole
// CHECK-COUNT-5: gpu.shuffle xor
// CHECK-NOT: gpu.shuffle
// REDUX-LABEL: func.func @whole
// REDUX: nvvm.redux.sync add
// REDUX-NOT: gpu.shuffle

// AMD's rows of 16 lanes: neighbours first, by patterns within a row, then the row beside it, then the other half.

// CDNA-LABEL: func.func @whole
// CDNA: rocdl.update.dpp %[[V:.*]], %[[V]] with 177, 15, 15, true : i32
// CDNA: rocdl.update.dpp {{.*}} with 78, 15, 15, true
// CDNA: rocdl.update.dpp {{.*}} with 321, 15, 15, true
// CDNA: rocdl.update.dpp {{.*}} with 320, 15, 15, true
// CDNA: rocdl.ds_swizzle
// CDNA: gpu.shuffle xor
// CDNA-NOT: gpu.shuffle
// CDNA-LABEL: func.func @partial
// RDNA-LABEL: func.func @whole
// RDNA-COUNT-4: rocdl.update.dpp
// RDNA: rocdl.permlanex16
// RDNA-NOT: gpu.shuffle
// RDNA-LABEL: func.func @partial
func.func @whole(%x: memref<?xi32>, %v: i32) attributes {kern.kernel, kern.rank = 1 : i64, kern.workgroup = array<i64: 64>} {
  %c0 = arith.constant 0 : index
  %s = "kern.subgroup_reduce"(%v) {kind = "add"} : (i32) -> i32
  memref.store %s, %x[%c0] : memref<?xi32>
  return
}

// Lanes that the group does not have add nothing; the first lane hands the result out.

// CHECK-LABEL: func.func @partial
// REDUX-LABEL: func.func @partial
// CHECK: gpu.shuffle down
// CHECK: arith.select %{{.*}}, %{{.*}}, %cst
// CHECK: gpu.shuffle idx
func.func @partial(%x: memref<?xf32>, %v: f32) attributes {kern.kernel, kern.rank = 1 : i64, kern.workgroup = array<i64: 40>} {
  %c0 = arith.constant 0 : index
  %s = "kern.subgroup_reduce"(%v) {kind = "add"} : (f32) -> f32
  memref.store %s, %x[%c0] : memref<?xf32>
  return
}

// A cell a subgroup: the first lane writes, every subgroup reduces the cells.

// CHECK-LABEL: func.func @group
// CHECK: %[[CELLS:.*]] = "kern.shared"() : () -> memref<4xf32, #gpu.address_space<workgroup>>
// CHECK-COUNT-5: gpu.shuffle xor
// CHECK: gpu.barrier
// CHECK: scf.if
// CHECK: memref.store %{{.*}}, %[[CELLS]]
// CHECK: gpu.barrier
// CHECK: memref.load %[[CELLS]]
// CHECK-COUNT-2: gpu.shuffle xor
// CHECK-NOT: gpu.shuffle
func.func @group(%x: memref<?xf32>, %v: f32) attributes {kern.kernel, kern.rank = 1 : i64, kern.workgroup = array<i64: 128>} {
  %c0 = arith.constant 0 : index
  %s = "kern.group_reduce"(%v) {kind = "add"} : (f32) -> f32
  memref.store %s, %x[%c0] : memref<?xf32>
  return
}

// 64 bits travel as two words.

// CHECK-LABEL: func.func @wide
// CHECK: %[[LOW:.*]] = arith.trunci %arg1 : i64 to i32
// CHECK: %[[SHIFTED:.*]] = arith.shrui %arg1
// CHECK: %[[HIGH:.*]] = arith.trunci %[[SHIFTED]]
// CHECK-DAG: gpu.shuffle idx %[[LOW]]
// CHECK-DAG: gpu.shuffle idx %[[HIGH]]
// CHECK: arith.ori
func.func @wide(%x: memref<?xi64>, %v: i64, %lane: index) attributes {kern.kernel, kern.rank = 1 : i64, kern.workgroup = array<i64: 32>} {
  %c0 = arith.constant 0 : index
  %s = "kern.subgroup_shuffle"(%v, %lane) : (i64, index) -> i64
  memref.store %s, %x[%c0] : memref<?xi64>
  return
}

// CHECK-LABEL: func.func @scan
// CHECK-COUNT-5: gpu.shuffle up
// CHECK-NOT: gpu.shuffle
func.func @scan(%x: memref<?xf32>, %v: f32) attributes {kern.kernel, kern.rank = 1 : i64, kern.workgroup = array<i64: 32>} {
  %c0 = arith.constant 0 : index
  %s = "kern.subgroup_scan"(%v) {kind = "max"} : (f32) -> f32
  memref.store %s, %x[%c0] : memref<?xf32>
  return
}
