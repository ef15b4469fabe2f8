// RUN: %pykern-opt %s --kern-finish-spirv | FileCheck %s --check-prefixes=CHECK,OPENCL
// RUN: %pykern-opt %s --kern-finish-spirv=vulkan=true | FileCheck %s --check-prefixes=CHECK,VULKAN

// CHECK-LABEL: spirv.func @k
// OPENCL: spirv.ControlBarrier <Workgroup>, <Workgroup>, <AcquireRelease|WorkgroupMemory|CrossWorkgroupMemory>
// VULKAN: spirv.ControlBarrier <Workgroup>, <Workgroup>, <AcquireRelease|UniformMemory|WorkgroupMemory>
// OPENCL: spirv.FAdd %{{.*}}, %{{.*}} : f32
// VULKAN: spirv.FAdd {{.*}}no_contraction
// CHECK: %[[OLD:.*]] = spirv.AtomicIAdd <Workgroup> <None> %{{.*}}, %{{.*}} : !spirv.ptr<i32, Workgroup>
// CHECK-NOT: spirv.Store
// CHECK: spirv.ReturnValue %[[OLD]]
spirv.module Physical64 OpenCL {
  spirv.func @k(%p: !spirv.ptr<i32, Workgroup>, %v: i32, %x: f32) -> i32 "None" {
    spirv.ControlBarrier <Workgroup>, <Workgroup>, <AcquireRelease|WorkgroupMemory>
    %y = spirv.FAdd %x, %x : f32
    %old = spirv.Load "Workgroup" %p : i32 loc("kern.atomic.old.add.0")
    spirv.Store "Workgroup" %p, %v : i32 loc("kern.atomic.value.add.0")
    spirv.ReturnValue %old : i32
  }
}
