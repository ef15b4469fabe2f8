// RUN: %pykern-opt %s --kern-flatten-arguments | FileCheck %s

// An array is a pointer, its lengths, and its strides where they are not those of a dense array.

// CHECK-LABEL: func.func @kern.f
// CHECK-SAME: (%[[P:.*]]: !llvm.ptr {llvm.noalias}, %[[N:.*]]: index, %[[M:.*]]: index, %{{.*}}: !llvm.ptr {llvm.noalias}, %{{.*}}: index, %[[S:.*]]: index, %{{.*}}: f32)
func.func @f(%x: memref<?x?xf32>, %y: memref<?xf32, strided<[?]>>, %a: f32) attributes {kern.kernel, kern.noalias} {
  // CHECK: llvm.insertvalue %[[P]], %{{.*}}[0]
  // CHECK: builtin.unrealized_conversion_cast {{.*}} to memref<?x?xf32>
  // CHECK: builtin.unrealized_conversion_cast {{.*}} to memref<?xf32, strided<[?]>>
  %c0 = arith.constant 0 : index
  memref.store %a, %x[%c0, %c0] : memref<?x?xf32>
  memref.store %a, %y[%c0] : memref<?xf32, strided<[?]>>
  return
}
