// RUN: %pykern-opt %s --target=rocdl:gfx942 | FileCheck %s

// The whole way down, without calls of a device library.

// CHECK: gpu.module @pykern
// CHECK-NOT: @__ocml
// CHECK: llvm.func @kern_scale(%{{.*}}: !llvm.ptr<1>, %{{.*}}: i64, %{{.*}}: !llvm.ptr<1> {llvm.readonly}, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i64)
// CHECK-SAME: rocdl.kernel
// CHECK-SAME: rocdl.reqd_work_group_size = array<i32: 256, 1, 1>
// CHECK: rocdl.workitem.id.x
// CHECK: rocdl.workgroup.id.x
// CHECK: llvm.call_intrinsic "llvm.sqrt.f32"
// CHECK: llvm.call_intrinsic "llvm.fma.f32"
// CHECK: llvm.store %{{.*}} : f32, !llvm.ptr<1>
func.func @scale(%y: memref<?xf32>, %x: memref<?xf32>) attributes {kern.kernel, kern.plain, kern.rank = 1 : i64} {
  %i = "kern.global_id"() {dim = 0} : () -> index
  %v = memref.load %x[%i] : memref<?xf32>
  %r = math.sqrt %v : f32
  %e = math.exp %r : f32
  memref.store %e, %y[%i] : memref<?xf32>
  return
}
