// RUN: %pykern-opt %s --split-input-file --kern-lower-to-pointers=aligned=16 | FileCheck %s

// Matrices come from shared memory, and copies go there; what is copied from is only read.
// CHECK-LABEL: func.func @copies
// CHECK-SAME: (%[[A:.*]]: !llvm.ptr<1> {llvm.align = 16 : i64, llvm.readonly}, %{{.*}}: index)
// CHECK: %[[TO:.*]] = llvm.getelementptr inbounds %{{.*}}[%{{.*}}] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, i32
// CHECK: %[[FROM:.*]] = llvm.getelementptr inbounds %[[A]][%{{.*}}] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f16
// CHECK: nvvm.cp.async.shared.global %[[TO]], %[[FROM]], 16, cache = cg, %{{.*}}
// CHECK: nvvm.ldmatrix %{{.*}} {{.*}}layout = #nvvm.mma_layout<col>, num = 4
func.func @copies(%a: memref<?xf16>, %i: index) attributes {kern.kernel, kern.rank = 1 : i64} {
  %count = arith.constant 16 : i32
  %shared = "kern.shared"() : () -> memref<512xi32, #gpu.address_space<workgroup>>
  "kern.copy_async"(%count, %shared, %i, %a, %i) : (i32, memref<512xi32, #gpu.address_space<workgroup>>, index, memref<?xf16>, index) -> ()
  %w:4 = "kern.load_matrices"(%shared, %i) {transposed = true} : (memref<512xi32, #gpu.address_space<workgroup>>, index) -> (i32, i32, i32, i32)
  return
}

// -----

// Words lie side by side, from a multiple of their size on.
// CHECK-LABEL: func.func @words
// CHECK-SAME: (%[[A:.*]]: !llvm.ptr<1> {llvm.align = 16 : i64, llvm.readonly}, %{{.*}}: index)
// CHECK: %[[FROM:.*]] = llvm.getelementptr inbounds %[[A]][%{{.*}}] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f16
// CHECK: %[[TWO:.*]] = llvm.load %[[FROM]] {alignment = 8 : i64} : !llvm.ptr<1> -> vector<2xi32>
// CHECK: llvm.extractelement %[[TWO]]
// CHECK: %[[VECTOR:.*]] = llvm.insertelement
// CHECK: llvm.store %{{.*}}, %{{.*}} {alignment = 8 : i64} : vector<2xi32>, !llvm.ptr<3>
func.func @words(%a: memref<?xf16>, %i: index) attributes {kern.kernel, kern.rank = 1 : i64} {
  %shared = "kern.shared"() : () -> memref<512xi32, #gpu.address_space<workgroup>>
  %w:2 = "kern.load_words"(%a, %i) : (memref<?xf16>, index) -> (i32, i32)
  "kern.store_words"(%shared, %i, %w#0, %w#1) : (memref<512xi32, #gpu.address_space<workgroup>>, index, i32, i32) -> ()
  return
}
