// RUN: %pykern-opt %s --kern-describe-kernels | FileCheck %s

// CHECK-LABEL: llvm.func @k
// CHECK-SAME: passthrough = ["amdgpu-no-implicitarg-ptr"
// CHECK-SAME: ["amdgpu-implicitarg-num-bytes", "0"]
// CHECK: llvm.atomicrmw fadd %arg0, %arg1 syncscope("agent") monotonic {rocdl.ignore_denormal_mode, rocdl.no_fine_grained_memory, rocdl.no_remote_memory}
llvm.func @k(%p: !llvm.ptr<1>, %v: f32) attributes {kern.arguments = ["memory", "slot"]} {
  %0 = llvm.atomicrmw fadd %p, %v syncscope("agent") monotonic : !llvm.ptr<1>, f32
  llvm.return
}

// CHECK-LABEL: llvm.func @helper
// CHECK-NOT: passthrough
// CHECK: llvm.return
llvm.func @helper() {
  llvm.return
}
