// RUN: %pykern-opt %s --kern-place-uniform-loops | FileCheck %s

// CHECK-LABEL: func.func @alone
// CHECK: %[[ID:.*]] = "kern.global_id"() {dim = 0 : i64}
// CHECK: %[[COUNT:.*]] = "kern.ndrange"() {dim = 0 : i64}
// CHECK: %[[ZERO:.*]] = arith.divui %[[ID]], %[[COUNT]]
// CHECK: %[[BEGIN:.*]] = arith.addi %{{.*}}, %[[ZERO]]
// CHECK: scf.for %{{.*}} = %[[BEGIN]] to
// CHECK: scf.for %{{.*}} = %c0 to
func.func @alone(%x: memref<?xf64>, %n: index) attributes {kern.kernel, kern.plain, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %i step %c1 {
      %v = memref.load %x[%i] : memref<?xf64>
      memref.store %v, %x[%j] : memref<?xf64>
    }
  }
  return
}

// CHECK-LABEL: func.func @placed
// CHECK-NOT: arith.divui
func.func @placed(%x: memref<?xf64>, %n: index) attributes {kern.kernel, kern.plain, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %id = "kern.global_id"() {dim = 0 : i64} : () -> index
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf64>
    memref.store %v, %x[%id] : memref<?xf64>
  }
  return
}
