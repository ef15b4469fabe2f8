// RUN: %pykern-opt %s --kern-lower-spirv-memory --mlir-print-debuginfo | FileCheck %s

// Buffers stand in storage classes; memory sized at launch takes what 32 KiB leave of it.

// CHECK-LABEL: func.func @buffers
// CHECK-SAME: kern.shared_bytes = 1024 : i64
// CHECK: memref.alloc() : memref<256xf32, #spirv.storage_class<Workgroup>>
// CHECK: memref.alloca() : memref<4xf32, #spirv.storage_class<Function>>
// CHECK: memref.alloc() : memref<7936xf32, #spirv.storage_class<Workgroup>>
func.func @buffers(%bytes: index) attributes {kern.kernel} {
  %s = "kern.shared"() : () -> memref<256xf32, #gpu.address_space<workgroup>>
  %p = "kern.private"() : () -> memref<4xf32, #gpu.address_space<private>>
  %d = "kern.dynamic_shared"(%bytes) : (index) -> memref<?xf32, #gpu.address_space<workgroup>>
  return
}

// An atomic is a load and stores that say what they are part of.

// CHECK-LABEL: func.func @atomics
// CHECK: memref.load %arg0[%arg1] : {{.*}} loc(#[[OLD:.*]])
// CHECK: memref.store %arg2, %arg0[%arg1] : {{.*}} loc(#[[VALUE:.*]])
// CHECK: memref.load
// CHECK: memref.store %arg2, %arg0[%arg1] : {{.*}} loc(#[[EXPECTED:.*]])
// CHECK-DAG: #[[OLD]] = loc("kern.atomic.old.umax.0"
// CHECK-DAG: #[[VALUE]] = loc("kern.atomic.value.umax.0"
// CHECK-DAG: #[[EXPECTED]] = loc("kern.atomic.expected.cas.1"
func.func @atomics(%x: memref<?xi32>, %i: index, %v: i32) attributes {kern.kernel} {
  %0 = "kern.atomic_rmw"(%v, %x, %i) {kind = "umax"} : (i32, memref<?xi32>, index) -> i32
  %1 = "kern.atomic_cas"(%v, %v, %x, %i) : (i32, i32, memref<?xi32>, index) -> i32
  return
}
