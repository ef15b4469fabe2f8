// RUN: %pykern-opt %s --kern-report-cut-loops | FileCheck %s

// CHECK-LABEL: func.func @counted
// CHECK: %[[FLAGS:.*]] = "kern.private"() : () -> memref<2xi32
// CHECK: %[[FAILED:.*]] = "kern.failures"() : () -> i32
// CHECK: %[[PLACE:.*]] = arith.index_castui
// CHECK: memref.store %{{.*}}, %[[FLAGS]][%[[PLACE]]]
// CHECK: %[[LOOP:.*]]:2 = scf.while (%[[I:.*]] = %c0, %[[S:.*]] = %{{.*}}) : (index, f64) -> (index, f64)
// CHECK: %[[MORE:.*]] = arith.cmpi slt, %[[I]], %arg1
// CHECK: %[[LEFT:.*]] = arith.xori %[[MORE]]
// CHECK: scf.if %[[LEFT]] {
// CHECK: memref.store %c1_i32, %[[FLAGS]][%[[PLACE]]]
// CHECK: scf.condition(%[[MORE]]) %[[I]], %[[S]]
// CHECK: } do {
// CHECK: %[[NEXT:.*]] = arith.addi %{{.*}}, %c2
// CHECK: scf.yield %[[NEXT]], %{{.*}} : index, f64
// CHECK: %[[FLAG:.*]] = memref.load %[[FLAGS]][%[[PLACE]]]
// CHECK: %[[SET:.*]] = arith.cmpi ne, %[[FLAG]], %c0_i32
// CHECK: "kern.assert"(%[[SET]])
// CHECK: memref.store %[[LOOP]]#1, %arg0
func.func @counted(%x: memref<?xf64>, %n: index) attributes {kern.kernel, kern.plain, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f64
  %sum = scf.for %i = %c0 to %n step %c2 iter_args(%s = %zero) -> f64 {
    %v = memref.load %x[%i] : memref<?xf64>
    %t = arith.addf %s, %v : f64
    scf.yield %t : f64
  }
  memref.store %sum, %x[%c0] : memref<?xf64>
  return
}

// Loops whose turns are known to be few stay as they are.
// CHECK-LABEL: func.func @few
// CHECK-NOT: kern.private
// CHECK-COUNT-2: scf.for
// CHECK-NOT: kern.assert
func.func @few(%x: memref<?xf64>) attributes {kern.kernel, kern.plain, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c200 = arith.constant 200 : index
  %v = arith.constant 0.0 : f64
  scf.for %i = %c0 to %c200 step %c1 {
    scf.for %j = %c0 to %c200 step %c1 {
      memref.store %v, %x[%j] : memref<?xf64>
    }
  }
  return
}

// 300 times 300 turns are too many for the driver, although either loop alone is not.
// CHECK-LABEL: func.func @many
// CHECK-COUNT-2: scf.while
// CHECK-COUNT-2: "kern.assert"
func.func @many(%x: memref<?xf64>) attributes {kern.kernel, kern.plain, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c300 = arith.constant 300 : index
  %v = arith.constant 0.0 : f64
  scf.for %i = %c0 to %c300 step %c1 {
    scf.for %j = %c0 to %c300 step %c1 {
      memref.store %v, %x[%j] : memref<?xf64>
    }
  }
  return
}
