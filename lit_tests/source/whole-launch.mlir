// RUN: pykern-opt %s --kern-whole-launch | FileCheck %s

// The part of the launch and the report's address are no arguments any more; each round of the outermost loop has its
// own buffer; functions that are asked before a launch are gone.

// CHECK-LABEL: func.func @scaled(
// CHECK-SAME: %[[X:.*]]: memref<?xf32>, %[[COUNT:.*]]: index)
// CHECK: %[[FIRST:.*]] = arith.constant 0 : index
// CHECK: scf.for %[[I:.*]] = %[[FIRST]] to %[[COUNT]]
// CHECK-NEXT: %[[OWN:.*]] = "kern.private"() : () -> memref<3xf32, #gpu.address_space<private>>
// CHECK: memref.store %{{.*}}, %[[OWN]]
// CHECK: {kern.concurrent}
// CHECK-NOT: func.func @scaled.extent
func.func @scaled(%x: memref<?xf32>, %count: index, %lo: index, %hi: index, %report: index)
    attributes {kern.kernel, kern.plain, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %own = memref.alloca() : memref<3xf32>
  scf.for %i = %lo to %hi step %c1 {
    %value = memref.load %x[%i] : memref<?xf32>
    memref.store %value, %own[%c0] : memref<3xf32>
    %again = memref.load %own[%c0] : memref<3xf32>
    memref.store %again, %x[%i] : memref<?xf32>
  }
  return
}
func.func @scaled.extent(%x: memref<?xf32>, %count: index, %lo: index, %hi: index, %report: index) -> index {
  return %count : index
}
