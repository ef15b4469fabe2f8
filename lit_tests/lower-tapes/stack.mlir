// RUN: %pykern-opt %s --kern-lower-tapes | FileCheck %s

// Three words a work-item: address, words used, words there. A push that finds it full lets it grow.

// CHECK: func.func @kern.tape_grow
// CHECK: call @realloc
// CHECK-LABEL: func.func @twice
// CHECK: %[[T:.*]] = "kern.private"() : () -> memref<3xi64
// CHECK: %[[FULL:.*]] = arith.cmpi eq
// CHECK: scf.if %[[FULL]] {
// CHECK: func.call @kern.tape_grow
// CHECK: llvm.store
// CHECK: %[[BITS:.*]] = llvm.load
// CHECK: arith.bitcast %[[BITS]] : i64 to f64
// CHECK: call @free
// CHECK-NEXT: return
func.func @twice(%x: memref<?xf64>)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %i = "kern.global_id"() {dim = 0} : () -> index
  %v = memref.load %x[%i] : memref<?xf64>
  "kern.push"(%v) : (f64) -> ()
  %w = "kern.pop"() : () -> f64
  memref.store %w, %x[%i] : memref<?xf64>
  return
}
