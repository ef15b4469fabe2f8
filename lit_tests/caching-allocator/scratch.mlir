// RUN: %pykern-opt %s --target=llvm | FileCheck %s

// Memory that code asks for while it runs comes from two functions of the launcher's, which ask malloc or kept memory.

// CHECK-LABEL: llvm.func @kern.twice(
// CHECK-NOT: @malloc
// CHECK: %[[M:.*]] = llvm.call @_mlir_memref_to_llvm_alloc(%{{.*}}) : (i64) -> !llvm.ptr
// CHECK-NOT: @free
// CHECK: llvm.call @_mlir_memref_to_llvm_free(%[[M]]) : (!llvm.ptr) -> ()
// CHECK: llvm.return
func.func @twice(%x: memref<?x?xf32>, %y: memref<?x?xf32>)
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %two = arith.constant 2.0 : f32
  %i = "kern.global_id"() {dim = 0} : () -> index
  %n = memref.dim %x, %c1 : memref<?x?xf32>
  scf.for %k = %c0 to %n step %c1 {
    %a = memref.load %x[%i, %k] : memref<?x?xf32>
    %b = arith.mulf %a, %two : f32
    memref.store %b, %y[%i, %k] : memref<?x?xf32>
  }
  scf.for %k = %c0 to %n step %c1 {
    %a = memref.load %y[%i, %k] : memref<?x?xf32>
    %b = arith.addf %a, %two : f32
    memref.store %b, %y[%i, %k] : memref<?x?xf32>
  }
  return
}
