// RUN: %pykern-opt %s --kern-expand-math --kern-reduce-huge-angles | FileCheck %s

// The usual result, and in a branch the exact reduction: products with 2/pi instead of a call.

// CHECK-LABEL: func.func @f
// CHECK: scf.if
// CHECK: %[[WORD:.*]] = arith.shrui
// CHECK-COUNT-16: arith.cmpi eq
// CHECK-NOT: llvm.call
// CHECK-NOT: kern.huge_angle
// CHECK-NOT: llvm.compiler.used
func.func @f(%x: f64) -> f64 {
  %0 = math.sin %x : f64
  return %0 : f64
}
