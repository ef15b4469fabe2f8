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

// The number in the group plus the group's number times its size, as CUDA C++ has it, is the number in the launch.

// CHECK-LABEL: func.func @added_up
// CHECK-DAG: %[[I:.*]] = "kern.global_id"() {dim = 0 : i64}
// CHECK-DAG: %[[J:.*]] = "kern.global_id"() {dim = 1 : i64}
// CHECK-NOT: kern.local_id
// CHECK-NOT: kern.group_id
// CHECK: memref.store %{{.*}}, %{{.*}}[%[[I]], %[[J]]]
func.func @added_up(%x: memref<?x?xf32>, %v: f32)
    attributes {kern.kernel, kern.plain, kern.rank = 2 : i64, kern.workgroup = array<i64: 16, 8>} {
  %c16 = arith.constant 16 : index
  %size = "kern.group_size"() {dim = 1 : i64} : () -> index
  %a = "kern.local_id"() {dim = 0 : i64} : () -> index
  %b = "kern.local_id"() {dim = 1 : i64} : () -> index
  %g = "kern.group_id"() {dim = 0 : i64} : () -> index
  %h = "kern.group_id"() {dim = 1 : i64} : () -> index
  %0 = arith.muli %g, %c16 : index
  %1 = arith.addi %0, %a : index
  %2 = arith.muli %size, %h : index
  %3 = arith.addi %b, %2 : index
  memref.store %v, %x[%1, %3] : memref<?x?xf32>
  return
}

// Other sizes and dimensions are something else, and so are launches that begin elsewhere.

// CHECK-LABEL: func.func @something_else
// CHECK-NOT: kern.global_id
// CHECK: return
func.func @something_else(%x: memref<?x?xf32>, %v: f32)
    attributes {kern.kernel, kern.plain, kern.rank = 2 : i64, kern.workgroup = array<i64: 16, 8>} {
  %c16 = arith.constant 16 : index
  %a = "kern.local_id"() {dim = 0 : i64} : () -> index
  %b = "kern.local_id"() {dim = 1 : i64} : () -> index
  %g = "kern.group_id"() {dim = 0 : i64} : () -> index
  %h = "kern.group_id"() {dim = 1 : i64} : () -> index
  %0 = arith.muli %h, %c16 : index
  %1 = arith.addi %0, %b : index
  %2 = arith.muli %g, %c16 : index
  %3 = arith.addi %2, %b : index
  memref.store %v, %x[%1, %3] : memref<?x?xf32>
  memref.store %v, %x[%a, %3] : memref<?x?xf32>
  return
}

// CHECK-LABEL: func.func @begins_elsewhere
// CHECK-NOT: kern.global_id
// CHECK: return
func.func @begins_elsewhere(%x: memref<?xf32>, %v: f32)
    attributes {kern.kernel, kern.rank = 1 : i64, kern.workgroup = array<i64: 16>} {
  %c16 = arith.constant 16 : index
  %a = "kern.local_id"() {dim = 0 : i64} : () -> index
  %g = "kern.group_id"() {dim = 0 : i64} : () -> index
  %0 = arith.muli %g, %c16 : index
  %1 = arith.addi %0, %a : index
  memref.store %v, %x[%1] : memref<?xf32>
  return
}
