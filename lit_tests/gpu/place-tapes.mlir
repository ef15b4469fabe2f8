// RUN: %pykern-opt %s --split-input-file --kern-place-tapes --cse | FileCheck %s
// RUN: %pykern-opt %s --split-input-file --kern-place-tapes --kern-lower-device-tapes --canonicalize --cse | FileCheck %s --check-prefix=LOWERED

// A short loop of constant length: the tape is private memory, nothing is asked.

// CHECK-LABEL: func.func @short
// CHECK-SAME: (%{{.*}}: memref<?xf64>)
// CHECK: "kern.private"() {kern.tape_state} : () -> memref<2xindex
// CHECK: "kern.private"() {kern.tape_slots} : () -> memref<5xi64
// CHECK-NOT: scf.if
// CHECK: return

// LOWERED-LABEL: func.func @short
// LOWERED: %[[STATE:.*]] = "kern.private"() {kern.tape_state}
// LOWERED: %[[SLOTS:.*]] = "kern.private"() {kern.tape_slots}
// LOWERED: scf.for
// LOWERED: %[[USED:.*]] = memref.load %[[STATE]][%c0]
// LOWERED: %[[BITS:.*]] = arith.bitcast %{{.*}} : f64 to i64
// LOWERED: memref.store %[[BITS]], %[[SLOTS]][%[[USED]]]
// LOWERED: %[[AFTER:.*]] = arith.addi %[[USED]], %c1
// LOWERED: memref.store %[[AFTER]], %[[STATE]][%c0]
// LOWERED: scf.for
// LOWERED: %[[USED2:.*]] = memref.load %[[STATE]][%c0]
// LOWERED: %[[LAST:.*]] = arith.subi %[[USED2]], %c1
// LOWERED: memref.store %[[LAST]], %[[STATE]][%c0]
// LOWERED: %[[WORD:.*]] = memref.load %[[SLOTS]][%[[LAST]]]
// LOWERED: arith.bitcast %[[WORD]] : i64 to f64
func.func @short(%x: memref<?xf64>) attributes {kern.kernel, kern.plain, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  scf.for %j = %c0 to %c5 step %c1 {
    %v = memref.load %x[%j] : memref<?xf64>
    "kern.push"(%v) : (f64) -> ()
  }
  scf.for %j = %c0 to %c5 step %c1 {
    %v = "kern.pop"() : () -> f64
    memref.store %v, %x[%j] : memref<?xf64>
  }
  return
}

// -----

// A long one: memory of the launch, known to be large enough.

// CHECK-LABEL: func.func @long
// CHECK-SAME: (%{{.*}}: memref<?xf64>, %{{.*}}: memref<?x?xi64>, %[[BEGIN:.*]]: index)
// CHECK-SAME: kern.tape = array<i64: 500, 1>, kern.tape_slots = 1 : i64
// CHECK: %[[NUMBER:.*]] = arith.addi %{{.*}}, %{{.*}} : index
// CHECK: %[[ITEM:.*]] = arith.subi %[[NUMBER]], %[[BEGIN]]
// CHECK: memref.store %[[ITEM]], %{{.*}}[%c1]
// CHECK-NOT: scf.if
// CHECK: return

// LOWERED-LABEL: func.func @long
// LOWERED-SAME: %[[TAPE:[a-z0-9]+]]: memref<?x?xi64>
// LOWERED-NOT: scf.if
// LOWERED: memref.store %{{.*}}, %[[TAPE]][%{{.*}}, %{{.*}}]
// LOWERED: memref.load %[[TAPE]][%{{.*}}, %{{.*}}]
func.func @long(%x: memref<?xf64>) attributes {kern.kernel, kern.plain, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c500 = arith.constant 500 : index
  scf.for %j = %c0 to %c500 step %c1 {
    %v = memref.load %x[%j] : memref<?xf64>
    "kern.push"(%v) : (f64) -> ()
  }
  scf.for %j = %c0 to %c500 step %c1 {
    %v = "kern.pop"() : () -> f64
    memref.store %v, %x[%j] : memref<?xf64>
  }
  return
}

// -----

// A length of the launch: words are counted, once for each length. Who has no room tells it and does not pop.

// CHECK-LABEL: func.func @given
// CHECK-SAME: %[[TAPE:[a-z0-9]+]]: memref<?x?xi64>, %{{[a-z0-9]+}}: index, %[[NEED:[a-z0-9]+]]: memref<1xi32>
// CHECK-SAME: kern.tape = array<i64: 0, 1>
// CHECK: scf.for
// CHECK: kern.push
// CHECK: %[[USED:.*]] = memref.load
// CHECK: %[[CAPACITY:.*]] = memref.dim %[[TAPE]], %c0
// CHECK: %[[FITS:.*]] = arith.cmpi ule, %[[USED]], %[[CAPACITY]]
// CHECK: "kern.atomic_rmw"(%{{.*}}, %[[NEED]], %c0) {kind = "max"}
// CHECK: scf.if %[[FITS]] {
// CHECK: kern.pop

// LOWERED-LABEL: func.func @given
// LOWERED-SAME: %[[TAPE:[a-z0-9]+]]: memref<?x?xi64>
// LOWERED: %[[FREE:.*]] = arith.cmpi ult
// LOWERED: scf.if %[[FREE]] {
// LOWERED: memref.store %{{.*}}, %[[TAPE]]
func.func @given(%x: memref<?xf64>, %n: index) attributes {kern.kernel, kern.plain, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %j = %c0 to %n step %c1 {
    %v = memref.load %x[%j] : memref<?xf64>
    "kern.push"(%v) : (f64) -> ()
  }
  scf.for %j = %c0 to %n step %c1 {
    %v = "kern.pop"() : () -> f64
    memref.store %v, %x[%j] : memref<?xf64>
  }
  return
}

// -----

// A length that is data, in groups: all of a group go back, or none. A branch that goes forward and back at
// once has its own test, and what it hands on is zero where nobody went back.

// CHECK-LABEL: func.func @met
// CHECK-SAME: kern.tape = array<i64: 0, 0>
// CHECK: scf.if %{{.*}} -> (f64) {
// CHECK: kern.push
// CHECK: %[[MINE:.*]] = arith.extui %{{.*}} : i1 to i32
// CHECK: %[[ALL:.*]] = "kern.group_reduce"(%[[MINE]]) {kind = "and"}
// CHECK: %[[GO:.*]] = arith.cmpi ne, %[[ALL]], %c0_i32
// CHECK: scf.if %[[GO]] -> (f64) {
// CHECK: kern.pop
// CHECK: kern.barrier
// CHECK: } else {
// CHECK: scf.yield %cst
func.func @met(%x: memref<?xf64>, %k: memref<?xindex>, %c: i1) attributes {kern.kernel, kern.plain, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %r = scf.if %c -> (f64) {
    %n = memref.load %k[%c0] : memref<?xindex>
    scf.for %j = %c0 to %n step %c1 {
      %v = memref.load %x[%j] : memref<?xf64>
      "kern.push"(%v) : (f64) -> ()
    }
    %s = scf.for %j = %c0 to %n step %c1 iter_args(%a = %zero) -> (f64) {
      %v = "kern.pop"() : () -> f64
      "kern.barrier"() : () -> ()
      %b = arith.addf %a, %v : f64
      scf.yield %b : f64
    }
    scf.yield %s : f64
  } else {
    scf.yield %zero : f64
  }
  memref.store %r, %x[%c0] : memref<?xf64>
  return
}
