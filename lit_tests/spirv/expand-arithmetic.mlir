// RUN: %pykern-opt %s --kern-expand-arithmetic | FileCheck %s
// RUN: %pykern-opt %s --kern-expand-arithmetic=vulkan=true | FileCheck %s --check-prefix=VULKAN

// CHECK-LABEL: func.func @trunc
// CHECK: %[[SIZE:.*]] = math.absf %arg0
// CHECK: %[[WHOLE:.*]] = math.floor %[[SIZE]]
// CHECK: math.copysign %[[WHOLE]], %arg0
func.func @trunc(%x: f32) -> f32 {
  %0 = math.trunc %x : f32
  return %0 : f32
}

// CHECK-LABEL: func.func @remainder
// CHECK: %[[Q:.*]] = arith.divsi %arg0, %arg1
// CHECK: %[[P:.*]] = arith.muli %[[Q]], %arg1
// CHECK: arith.subi %arg0, %[[P]]
func.func @remainder(%x: i32, %y: i32) -> i32 {
  %0 = arith.remsi %x, %y : i32
  return %0 : i32
}

// bf16 and f64 meet in f32.

// CHECK-LABEL: func.func @widen
// CHECK: arith.extf %arg0 : bf16 to f32
// CHECK: arith.extf %{{.*}} : f32 to f64
func.func @widen(%x: bf16) -> f64 {
  %0 = arith.extf %x : bf16 to f64
  return %0 : f64
}

// CHECK-LABEL: func.func @narrow
// CHECK: arith.truncf %arg0 : f64 to f32
// CHECK: arith.cmpf one
// CHECK: arith.truncf %{{.*}} : f32 to bf16
func.func @narrow(%x: f64) -> bf16 {
  %0 = arith.truncf %x : f64 to bf16
  return %0 : bf16
}

// What was widened is compared as it was.

// CHECK-LABEL: func.func @compare
// CHECK: %[[C:.*]] = arith.constant 7 : i32
// CHECK: arith.cmpi slt, %arg0, %[[C]] : i32
func.func @compare(%x: i32) -> i1 {
  %c7 = arith.constant 7 : i64
  %w = arith.extsi %x : i32 to i64
  %0 = arith.cmpi slt, %w, %c7 : i64
  return %0 : i1
}

// CHECK-LABEL: func.func @left
// CHECK: arith.remf
// VULKAN-LABEL: func.func @left
// VULKAN: scf.while
// VULKAN-NOT: arith.remf
func.func @left(%x: f32, %y: f32) -> f32 {
  %0 = arith.remf %x, %y : f32
  return %0 : f32
}

// Counts of bits in pairs, in fours, in bytes, which a product sums.

// CHECK-LABEL: func.func @popcount
// CHECK: arith.andi %{{.*}}, %{{.*}} : i16
// CHECK: arith.constant 257 : i16
// CHECK: arith.muli
// CHECK: arith.shrui
// CHECK-NOT: math.ctpop
func.func @popcount(%x: i16) -> i16 {
  %0 = math.ctpop %x : i16
  return %0 : i16
}

// CHECK-LABEL: func.func @clz
// CHECK-COUNT-6: arith.ori
// CHECK-NOT: arith.ori
// CHECK-NOT: math.ctlz
func.func @clz(%x: i64) -> i64 {
  %0 = math.ctlz %x : i64
  return %0 : i64
}

// The even one of two integers: f64 is rounded by its floor where a driver rounds halves down.

// VULKAN-LABEL: func.func @round_even
// VULKAN: %[[SIZE:.*]] = math.absf %arg0 : f64
// VULKAN: %[[BELOW:.*]] = math.floor %[[SIZE]] : f64
// VULKAN: %[[REST:.*]] = arith.subf %[[SIZE]], %[[BELOW]] : f64
// VULKAN: %[[ODD:.*]] = arith.cmpf one
// VULKAN: %[[TIE:.*]] = arith.andi %{{.*}}, %[[ODD]] : i1
// VULKAN: arith.ori %{{.*}}, %[[TIE]] : i1
// VULKAN: math.copysign %{{.*}}, %arg0 : f64
// VULKAN: math.roundeven %arg1 : f32
func.func @round_even(%x: f64, %y: f32) -> (f64, f32) {
  %0 = math.roundeven %x : f64
  %1 = math.roundeven %y : f32
  return %0, %1 : f64, f32
}
