// RUN: %pykern-opt %s --kern-expand-math | FileCheck %s

// e^x = 2^n e^r: a reduction by ln 2 in two parts, a polynomial, a power of two from its bits.

// CHECK-LABEL: func.func @exp_f32(
// CHECK: math.fma
// CHECK: arith.shli
// CHECK: arith.bitcast %{{.*}} : i32 to f32
// CHECK-NOT: math.exp
// CHECK: return
func.func @exp_f32(%x0: f32) -> f32 {
  %r = math.exp %x0 : f32
  return %r : f32
}

// CHECK-LABEL: func.func @exp2_f64(
// CHECK: arith.bitcast %{{.*}} : i64 to f64
// CHECK-NOT: math.exp2
// CHECK: return
func.func @exp2_f64(%x0: f64) -> f64 {
  %r = math.exp2 %x0 : f64
  return %r : f64
}

// CHECK-LABEL: func.func @exp_of_vectors(
// CHECK: math.fma %{{.*}} : vector<8xf32>
// CHECK-NOT: math.exp
// CHECK: return
func.func @exp_of_vectors(%x0: vector<8xf32>) -> vector<8xf32> {
  %r = math.exp %x0 : vector<8xf32>
  return %r : vector<8xf32>
}

// Where functions may be approximated one power of two does, and its exponent is not split.

// CHECK-LABEL: func.func @exp_afn(
// CHECK: arith.shli
// CHECK-NOT: arith.shrui
// CHECK-NOT: arith.shli
// CHECK: return
func.func @exp_afn(%x0: f32) -> f32 {
  %r = math.exp %x0 fastmath<afn> : f32
  return %r : f32
}
