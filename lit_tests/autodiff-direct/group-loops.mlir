// RUN: %pykern-opt %s --pass-pipeline="builtin.module(kern-reverse-kernel{active=0})" | FileCheck %s

// Work-items meet in the inner loop: how often it ran is on each one's tape, and decided by the group in reverse.
// CHECK-LABEL: func.func @halving
// CHECK:       scf.while
// CHECK:         kern.barrier
// CHECK:         kern.push
// CHECK:       kern.pop
// CHECK:       %[[N:.*]] = arith.index_cast %{{.*}} : index to i32
// CHECK:       %[[ALL:.*]] = "kern.group_reduce"(%[[N]]) {kind = "max"}
// CHECK:       %[[TRIPS:.*]] = arith.index_cast %[[ALL]] : i32 to index
// CHECK:       scf.for
// CHECK:         kern.barrier
func.func @halving(%x: memref<?xf64> {kern.name = "x"}, %n: index {kern.name = "n"}) attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %i = "kern.global_id"() {dim = 0 : i64} : () -> index
  scf.for %k = %c1 to %n step %c1 {
    %end = scf.while (%j = %k) : (index) -> index {
      %more = arith.cmpi sgt, %j, %c0 : index
      scf.condition(%more) %j : index
    } do {
    ^bb0(%j: index):
      %v = memref.load %x[%i] : memref<?xf64>
      %w = arith.mulf %v, %v : f64
      "kern.barrier"() : () -> ()
      memref.store %w, %x[%i] : memref<?xf64>
      %half = arith.divsi %j, %c2 : index
      scf.yield %half : index
    }
  }
  return
}
