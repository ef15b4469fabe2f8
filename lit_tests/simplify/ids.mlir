// RUN: %pykern-opt %s --kern-simplify | FileCheck %s

// Each id once, at the top; unused ones are gone.

// CHECK-LABEL: func.func @ids
// CHECK-NEXT: %[[I:.*]] = "kern.global_id"() {dim = 0 : i64}
// CHECK-NOT: kern.global_id
// CHECK-NOT: kern.local_id
// CHECK: memref.load %arg0[%[[I]]]
// CHECK: memref.store %{{.*}}, %arg0[%[[I]]]
func.func @ids(%x: memref<?xf32>, %c: i1) attributes {kern.kernel, kern.plain, kern.rank = 1 : i64} {
  %unused = "kern.local_id"() {dim = 0} : () -> index
  %i = "kern.global_id"() {dim = 0} : () -> index
  %v = memref.load %x[%i] : memref<?xf32>
  scf.if %c {
    %j = "kern.global_id"() {dim = 0} : () -> index
    memref.store %v, %x[%j] : memref<?xf32>
  }
  return
}

// Facts of a static launch are constants.

// CHECK-LABEL: func.func @static
// CHECK: arith.constant 128 : index
// CHECK: arith.constant 64 : index
// CHECK-NOT: kern.
// CHECK: return
func.func @static(%x: memref<?xindex>) attributes {kern.kernel, kern.plain, kern.rank = 1 : i64,
    kern.ndrange = array<i64: 128>, kern.workgroup = array<i64: 64>} {
  %n = "kern.ndrange"() {dim = 0} : () -> index
  %w = "kern.group_size"() {dim = 0} : () -> index
  %t = "kern.shared"() : () -> memref<4xf32, #gpu.address_space<workgroup>>
  memref.store %w, %x[%n] : memref<?xindex>
  return
}

// CHECK-LABEL: func.func @barriers
// CHECK: "kern.barrier"
// CHECK-NOT: "kern.barrier"
// CHECK: return
func.func @barriers() attributes {kern.kernel, kern.plain, kern.rank = 1 : i64} {
  "kern.barrier"() : () -> ()
  "kern.barrier"() : () -> ()
  return
}
