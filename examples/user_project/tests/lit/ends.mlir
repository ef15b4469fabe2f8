// Written by hand: the work-item's index is asked for once.
// RUN: %pykern-opt %s --kern-simplify | FileCheck %s
// CHECK-LABEL: func.func @ends
// CHECK-COUNT-1: kern.global_id
// CHECK-NOT: kern.global_id
func.func @ends(%x: memref<?xindex>) attributes {kern.kernel, kern.plain, kern.rank = 1 : i64} {
  %i = "kern.global_id"() {dim = 0} : () -> index
  %j = "kern.global_id"() {dim = 0} : () -> index
  memref.store %i, %x[%j] : memref<?xindex>
  return
}
