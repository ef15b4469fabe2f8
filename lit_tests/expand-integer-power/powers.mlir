// RUN: %pykern-opt %s --kern-expand-integer-power | FileCheck %s

// Square, and multiply where the exponent has a bit.

// CHECK-LABEL: func.func @integer
// CHECK: scf.while
// CHECK: scf.condition
// CHECK-COUNT-2: arith.muli
// CHECK: arith.select
// CHECK-NOT: math.ipowi
func.func @integer(%x: i32, %n: i32) -> i32 {
  %0 = math.ipowi %x, %n : i32
  return %0 : i32
}

// CHECK-LABEL: func.func @real
// CHECK: scf.while
// CHECK-COUNT-2: arith.mulf
// CHECK: arith.divf
// CHECK-NOT: math.fpowi
func.func @real(%x: f32, %n: i32) -> f32 {
  %0 = math.fpowi %x, %n : f32, i32
  return %0 : f32
}
