// RUN: %pykern-opt %s --kern-call-intrinsics | FileCheck %s

// CHECK-LABEL: func.func @floats
// CHECK: llvm.call_intrinsic "llvm.sqrt.f32"(%arg0) : (f32) -> f32
// CHECK: llvm.call_intrinsic "llvm.trunc.f32"(%arg0) {{.*}}#llvm.fastmath<fast>
// CHECK: llvm.call_intrinsic "llvm.fma.f32"(%arg0, %arg1, %arg0) : (f32, f32, f32) -> f32
// CHECK: %[[ROOT:.*]] = llvm.call_intrinsic "llvm.sqrt.f32"(%arg1)
// CHECK: arith.divf %{{.*}}, %[[ROOT]]
// CHECK: math.sin
func.func @floats(%x: f32, %y: f32) -> (f32, f32, f32, f32, f32) {
  %0 = math.sqrt %x : f32
  %1 = math.trunc %x fastmath<fast> : f32
  %2 = math.fma %x, %y, %x : f32
  %3 = math.rsqrt %y : f32
  %4 = math.sin %y : f32
  return %0, %1, %2, %3, %4 : f32, f32, f32, f32, f32
}

// CHECK-LABEL: func.func @integers
// CHECK: "llvm.intr.ctlz"(%arg0) <{is_zero_poison = false}>
// CHECK: llvm.intr.ctpop(%arg0)
func.func @integers(%x: i32) -> (i32, i32) {
  %0 = math.ctlz %x : i32
  %1 = math.ctpop %x : i32
  return %0, %1 : i32, i32
}
