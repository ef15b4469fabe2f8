// RUN: pykern-opt %s --kern-type-words | FileCheck %s
// RUN: pykern-opt %s --pass-pipeline='kern-type-words{plain=true}' | FileCheck %s --check-prefix=PLAIN

// A word that is a float of 64 bits, only used rounded; one that is an index; one that nobody uses; a work-item's place.

// CHECK-LABEL: func.func @words(
// CHECK-SAME: %{{.*}}: memref<?xf32>, %[[RATE:.*]]: f32, %[[LENGTH:.*]]: i32, %{{.*}}: i32)
// CHECK-NOT: arith.truncf
// CHECK: arith.index_cast %[[LENGTH]] {kern.range = array<i64: 0, 1073741823>} : i32 to index
// CHECK: gpu.thread_id x {kern.range = array<i64: 0, 63>}
// CHECK: memref.store %[[RATE]]

// PLAIN-LABEL: func.func @words(
// PLAIN-SAME: memref<?xf32>, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i64)
// PLAIN: gpu.thread_id x {kern.range = array<i64: 0, 63>}
func.func @words(%memory: memref<?xf32>, %rate: i64, %length: i64, %unused: i64)
    attributes {kern.kernel, kern.rank = 1 : i64, kern.workgroup = array<i64: 64>} {
  %wide = arith.bitcast %rate : i64 to f64
  %n = arith.index_cast %length {kern.range = array<i64: 0, 2147483647>} : i64 to index
  %i = gpu.thread_id x
  %inside = arith.cmpi slt, %i, %n : index
  scf.if %inside {
    %narrow = arith.truncf %wide : f64 to f32
    memref.store %narrow, %memory[%i] : memref<?xf32>
  }
  return
}
