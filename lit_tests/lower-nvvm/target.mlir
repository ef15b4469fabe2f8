// RUN: %pykern-opt %s --target=nvvm:sm_90a | FileCheck %s
// RUN: not %pykern-opt %s --target=nvvm:sm_1 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// The whole way down: a function of NVIDIA's, its block size written down, its reads from a pointer that says so.

// UNKNOWN: no target `nvvm:sm_1`
// CHECK: gpu.module @pykern [#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx80">]
// CHECK: llvm.func @kern_scale(%[[Y:.*]]: !llvm.ptr<1>, %{{.*}}: i64, %[[X:.*]]: !llvm.ptr<1> {llvm.readonly}, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i64)
// CHECK-SAME: kern.arguments = ["memory", "slot", "memory", "slot", "slot", "slot"]
// CHECK-SAME: nvvm.kernel, nvvm.maxntid = array<i32: 256, 1, 1>
// CHECK: nvvm.read.ptx.sreg.tid.x
// CHECK: nvvm.read.ptx.sreg.ctaid.x
// CHECK: llvm.load %{{.*}} : !llvm.ptr<1> -> f32
// CHECK: llvm.call_intrinsic "llvm.sqrt.f32"
// CHECK: llvm.call @__nv_expf
// CHECK: llvm.store %{{.*}} : f32, !llvm.ptr<1>
func.func @scale(%y: memref<?xf32>, %x: memref<?xf32>) attributes {kern.kernel, kern.plain, kern.rank = 1 : i64} {
  %i = "kern.global_id"() {dim = 0} : () -> index
  %v = memref.load %x[%i] : memref<?xf32>
  %r = math.sqrt %v : f32
  %e = math.exp %r : f32
  memref.store %e, %y[%i] : memref<?xf32>
  return
}
