// RUN: %pykern-opt %s --target=nvvm:sm_90a | FileCheck %s
// RUN: %pykern-opt %s --target=rocdl:gfx1100 | FileCheck %s

// Kernels of array programs have positions that are maps, `argmax` as data: nothing of them is left.

// CHECK: llvm.func @kern_place(
// CHECK-NOT: affine
// CHECK-NOT: unrealized_conversion_cast
// CHECK: %[[THREE:.*]] = llvm.mul %{{.*}}, %{{.*}} overflow<nsw> : i64
// CHECK: %[[PLACE:.*]] = llvm.add %[[THREE]], %{{.*}} : i64
// CHECK: llvm.store %[[PLACE]], %{{.*}} {alignment = 8 : i64} : i64, !llvm.ptr<1>
func.func @place(%y: memref<?xi64>) attributes {kern.kernel, kern.plain, kern.rank = 1 : i64} {
  %i = "kern.global_id"() {dim = 0} : () -> index
  %p = affine.apply affine_map<(d0) -> (d0 * 3 + 5)>(%i)
  %v = arith.index_cast %p : index to i64
  memref.store %v, %y[%i] : memref<?xi64>
  return
}
