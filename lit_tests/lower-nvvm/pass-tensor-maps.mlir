// RUN: %pykern-opt %s --kern-pass-tensor-maps | FileCheck %s

// A map is passed by value and stays where the launch has put it; other arguments keep what is said of them.

// CHECK-LABEL: llvm.func @kernel
// CHECK-SAME: (%{{[a-z0-9]*}}: !llvm.ptr<1> {llvm.noalias}, %{{[a-z0-9]*}}: i64,
// CHECK-SAME: %{{[a-z0-9]*}}: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant})
llvm.func @kernel(%a: !llvm.ptr<1> {llvm.noalias}, %n: i64, %map: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel, kern.arguments = ["memory", "slot", "tensor_map 0 f16 64,64 128 64,64"]} {
  llvm.return
}

// CHECK-LABEL: llvm.func @other
// CHECK-SAME: (%{{.*}}: !llvm.ptr<1>)
llvm.func @other(%a: !llvm.ptr<1>) attributes {gpu.kernel, nvvm.kernel, kern.arguments = ["memory"]} {
  llvm.return
}
