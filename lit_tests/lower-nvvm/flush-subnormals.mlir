// RUN: %pykern-opt %s --split-input-file --kern-flush-subnormals | FileCheck %s

// All of the user's arithmetic allows approximations; what the compiler has added (`fadd`) says nothing.

// CHECK: llvm.module_flags [#llvm.mlir.module_flag<override, "nvvm-reflect-ftz", 1 : i32>]
// CHECK: llvm.func @fast{{.*}}denormal_fp_math_f32 = "preserve-sign,preserve-sign"
module attributes {gpu.container_module} {
  gpu.module @pykern {
    llvm.func @fast(%x: f32) -> f32 {
      %0 = llvm.fmul %x, %x {fastmathFlags = #llvm.fastmath<contract, afn>} : f32
      %1 = llvm.fadd %0, %x : f32
      llvm.return %1 : f32
    }
  }
}

// -----

// One operation that must be exact keeps subnormals in all.

// CHECK-NOT: nvvm-reflect-ftz
// CHECK-LABEL: llvm.func @mixed
// CHECK-NOT: denormal
module attributes {gpu.container_module} {
  gpu.module @pykern {
    llvm.func @mixed(%x: f32) -> f32 {
      %0 = llvm.fmul %x, %x {fastmathFlags = #llvm.fastmath<contract, afn>} : f32
      %1 = llvm.fadd %0, %x {fastmathFlags = #llvm.fastmath<contract>} : f32
      llvm.return %1 : f32
    }
  }
}
