// RUN: %pykern-opt %s --kern-poll-signals | FileCheck %s
// RUN: %pykern-opt %s --kern-poll-signals="often=4 seldom=8" | FileCheck %s --check-prefix=TIMES

// Loops of programs ask, but not those of the functions they call.

// CHECK: func.func private @kern.poll()
// CHECK-LABEL: func.func @conditional
// CHECK: %[[COUNT:.*]] = memref.alloca() : memref<i32>
// CHECK: memref.store %{{.*}}, %[[COUNT]][]
// CHECK: scf.while
// CHECK: scf.condition
// CHECK: %[[LEFT:.*]] = memref.load %[[COUNT]][]
// CHECK: %[[FEWER:.*]] = arith.subi %[[LEFT]]
// CHECK: memref.store %[[FEWER]], %[[COUNT]][]
// CHECK: %[[DUE:.*]] = arith.cmpi eq, %[[FEWER]]
// CHECK: scf.if %[[DUE]] {
// CHECK: func.call @kern.poll() : () -> ()
// TIMES-LABEL: func.func @conditional
// TIMES: arith.constant 8 : i32
func.func @conditional(%n: i64) -> i64 attributes {kern.program} {
  %one = arith.constant 1 : i64
  %r = scf.while (%i = %n) : (i64) -> i64 {
    %more = arith.cmpi sgt, %i, %one : i64
    scf.condition(%more) %i : i64
  } do {
  ^bb0(%i: i64):
    %half = arith.shrsi %i, %one : i64
    scf.yield %half : i64
  }
  return %r : i64
}

// CHECK-LABEL: func.func @nested
// CHECK: scf.for
// CHECK: func.call @kern.poll
// CHECK: scf.for
// CHECK: func.call @kern.poll
// CHECK: return
// TIMES-LABEL: func.func @nested
// TIMES: arith.constant 4 : i32
func.func @nested(%n: index, %x: memref<?xf64>) attributes {kern.program} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %f = arith.constant 1.0 : f64
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      memref.store %f, %x[%j] : memref<?xf64>
    }
  }
  return
}

// CHECK-LABEL: func.func @nobodys
// CHECK-NOT: kern.poll
// CHECK-LABEL: func.func @program
// CHECK: scf.for
// CHECK: func.call @kern.poll
func.func @nobodys(%n: index, %x: memref<?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %f = arith.constant 1.0 : f64
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      memref.store %f, %x[%j] : memref<?xf64>
    }
  }
  return
}
func.func @program(%n: index, %x: memref<?xf64>) attributes {kern.program} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    func.call @nobodys(%n, %x) : (index, memref<?xf64>) -> ()
  }
  return
}

// A kernel's loop is there twice: where there are few work-items in stretches, between which it asks.

// CHECK-LABEL: func.func @kernel
// CHECK: %[[ITEMS:.*]] = arith.subi %[[HI:.*]], %[[LO:.*]] : index
// CHECK: %[[FEW:.*]] = arith.cmpi slt, %[[ITEMS]]
// CHECK: scf.if %[[FEW]]
// CHECK: scf.while
// CHECK: scf.while
// CHECK: arith.cmpi ult
// CHECK: func.call @kern.poll
// CHECK: } else {
// CHECK: scf.while
// CHECK-NOT: kern.poll
// CHECK: return
func.func @kernel(%n: i64, %lo: index, %hi: index, %report: index) attributes {kern.kernel} {
  %one = arith.constant 1 : i64
  %r = scf.while (%i = %n) : (i64) -> i64 {
    %more = arith.cmpi sgt, %i, %one : i64
    scf.condition(%more) %i : i64
  } do {
  ^bb0(%i: i64):
    %half = arith.shrsi %i, %one : i64
    scf.yield %half : i64
  }
  %s = arith.index_cast %r : i64 to index
  scf.for %i = %lo to %hi step %s {
  }
  return
}
