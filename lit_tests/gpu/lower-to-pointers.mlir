// RUN: %pykern-opt %s --kern-lower-to-pointers=aligned=16 | FileCheck %s
// RUN: %pykern-opt %s --kern-lower-to-pointers="private-space=5 device-scope=agent group-scope=workgroup" | FileCheck %s --check-prefix=AMD

// CHECK-DAG: llvm.mlir.global internal @kern_shared_0() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<8 x i32>
// CHECK-DAG: llvm.mlir.global external @kern_dynamic_shared() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<0 x i8>

// Arguments say what the kernel does with them.

// CHECK-LABEL: func.func @accesses
// CHECK-SAME: (%[[X:.*]]: !llvm.ptr<1> {llvm.align = 16 : i64, llvm.noalias, llvm.readonly}, %[[Y:.*]]: !llvm.ptr<1> {llvm.align = 16 : i64, llvm.noalias})
// CHECK-SAME: kern.shared_bytes = 32
// CHECK-DAG: llvm.mlir.addressof @kern_shared_0 : !llvm.ptr<3>
// CHECK-DAG: llvm.mlir.addressof @kern_dynamic_shared : !llvm.ptr<3>
// CHECK-DAG: llvm.alloca %{{.*}} x !llvm.array<4 x f32> {alignment = 16 : i64} : (i64) -> !llvm.ptr{{$}}
// CHECK: %[[P:.*]] = llvm.getelementptr inbounds %[[X]][%{{.*}}] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
// CHECK: llvm.load %[[P]] : !llvm.ptr<1> -> f32
// CHECK: llvm.atomicrmw fadd %{{.*}}, %{{.*}} syncscope("device") monotonic : !llvm.ptr<1>, f32
// CHECK: llvm.atomicrmw umax %{{.*}}, %{{.*}} syncscope("block") monotonic : !llvm.ptr<3>, i32
// CHECK: %[[EXPECTED:.*]] = arith.bitcast %{{.*}} : f32 to i32
// CHECK: %[[DESIRED:.*]] = arith.bitcast %{{.*}} : f32 to i32
// CHECK: llvm.cmpxchg %{{.*}}, %[[EXPECTED]], %[[DESIRED]] syncscope("device") monotonic monotonic : !llvm.ptr<1>, i32
// AMD-LABEL: func.func @accesses
// AMD: llvm.alloca %{{.*}} x !llvm.array<4 x f32> {{.*}} -> !llvm.ptr<5>
// AMD: syncscope("agent")
// AMD: syncscope("workgroup")
func.func @accesses(%x: memref<?xf32>, %y: memref<?xf32>) attributes {kern.kernel, kern.noalias, kern.rank = 1 : i64, kern.workgroup = array<i64: 8>} {
  %i = gpu.thread_id x
  %k = arith.constant 7 : i32
  %bytes = arith.constant 64 : index
  %s = "kern.shared"() : () -> memref<8xi32, #gpu.address_space<workgroup>>
  %p = "kern.private"() : () -> memref<4xf32, #gpu.address_space<private>>
  %d = "kern.dynamic_shared"(%bytes) : (index) -> memref<?xf32, #gpu.address_space<workgroup>>
  %v = memref.load %x[%i] : memref<?xf32>
  memref.store %v, %p[%i] : memref<4xf32, #gpu.address_space<private>>
  memref.store %v, %d[%i] : memref<?xf32, #gpu.address_space<workgroup>>
  %0 = "kern.atomic_rmw"(%v, %y, %i) {kind = "add"} : (f32, memref<?xf32>, index) -> f32
  %1 = "kern.atomic_rmw"(%k, %s, %i) {kind = "umax"} : (i32, memref<8xi32, #gpu.address_space<workgroup>>, index) -> i32
  %2 = "kern.atomic_cas"(%v, %v, %y, %i) : (f32, f32, memref<?xf32>, index) -> f32
  return
}

// Elements of i64 lie at multiples of 8, which LLVM learns from the target only after it has chosen 4.

// CHECK-LABEL: func.func @natural
// CHECK: llvm.load %{{.*}} {alignment = 8 : i64} : !llvm.ptr<1> -> i64
// CHECK: llvm.store %{{.*}}, %{{.*}} {alignment = 8 : i64} : i64, !llvm.ptr<1>
// AMD-LABEL: func.func @natural
func.func @natural(%x: memref<?xi64>) attributes {kern.kernel, kern.rank = 1 : i64, kern.workgroup = array<i64: 8>} {
  %i = gpu.thread_id x
  %v = memref.load %x[%i] : memref<?xi64>
  memref.store %v, %x[%i] : memref<?xi64>
  return
}
