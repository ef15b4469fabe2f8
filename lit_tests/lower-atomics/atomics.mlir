// RUN: %pykern-opt %s --kern-lower-atomics | FileCheck %s

// CHECK-LABEL: func.func @global
func.func @global(%x: memref<?xf32>, %n: memref<?xi32>, %i: index, %v: f32, %k: i32) attributes {kern.kernel} {
  // CHECK: memref.extract_aligned_pointer_as_index %arg0
  // CHECK: llvm.inttoptr
  // CHECK: llvm.atomicrmw fadd %{{.*}}, %arg3 acq_rel : !llvm.ptr, f32
  %0 = "kern.atomic_rmw"(%v, %x, %i) {kind = "add"} : (f32, memref<?xf32>, index) -> f32
  // CHECK: llvm.atomicrmw umin %{{.*}}, %arg4 acq_rel : !llvm.ptr, i32
  %1 = "kern.atomic_rmw"(%k, %n, %i) {kind = "umin"} : (i32, memref<?xi32>, index) -> i32
  // CHECK: llvm.cmpxchg {{.*}} acq_rel acquire : !llvm.ptr, i32
  %2 = "kern.atomic_cas"(%k, %k, %n, %i) : (i32, i32, memref<?xi32>, index) -> i32
  return
}

// Memory of one thread needs no atomics.

// CHECK-LABEL: func.func @local
func.func @local(%i: index, %v: i32) attributes {kern.kernel} {
  %t = memref.alloca() : memref<8xi32>
  // CHECK: %[[OLD:.*]] = memref.load
  // CHECK: %[[NEW:.*]] = arith.addi %[[OLD]], %arg1
  // CHECK: memref.store %[[NEW]]
  // CHECK-NOT: llvm.atomicrmw
  %0 = "kern.atomic_rmw"(%v, %t, %i) {kind = "add"} : (i32, memref<8xi32>, index) -> i32
  return
}
