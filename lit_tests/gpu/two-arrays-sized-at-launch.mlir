// RUN: %pykern-opt %s --kern-lower-to-pointers | FileCheck %s
// RUN: %pykern-opt %s --kern-lower-spirv-memory | FileCheck %s --check-prefix=SPIRV

// The second begins behind the first, at a multiple of 16 bytes. Where memory cannot be sized at launch, each has half.
// CHECK-LABEL: func.func @twice
// CHECK: %[[BASE:.*]] = llvm.mlir.addressof @kern_dynamic_shared
// CHECK: %[[EACH:.*]] = arith.index_cast %arg1 : index to i64
// CHECK: %[[MORE:.*]] = arith.addi %[[EACH]], %c15_i64
// CHECK: %[[WHOLE:.*]] = arith.andi %[[MORE]], %c-16_i64
// CHECK: %[[BEGIN:.*]] = arith.muli %[[WHOLE]], %c1_i64
// CHECK: llvm.getelementptr %[[BASE]][%[[BEGIN]]] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, i8
// SPIRV-LABEL: func.func @twice
// SPIRV: memref.alloc() : memref<4096xf32, #spirv.storage_class<Workgroup>>
// SPIRV: memref.alloc() : memref<4096xi32, #spirv.storage_class<Workgroup>>
func.func @twice(%x: memref<?xf32>, %bytes: index)
    attributes {kern.kernel, kern.plain, kern.rank = 1 : i64, kern.workgroup = array<i64: 8>} {
  %c0 = arith.constant 0 : index
  %a = "kern.dynamic_shared"(%bytes) : (index) -> memref<?xf32, #gpu.address_space<workgroup>>
  %b = "kern.dynamic_shared"(%bytes) : (index) -> memref<?xi32, #gpu.address_space<workgroup>>
  %f = memref.load %a[%c0] : memref<?xf32, #gpu.address_space<workgroup>>
  %i = arith.constant 1 : i32
  memref.store %i, %b[%c0] : memref<?xi32, #gpu.address_space<workgroup>>
  memref.store %f, %x[%c0] : memref<?xf32>
  return
}
