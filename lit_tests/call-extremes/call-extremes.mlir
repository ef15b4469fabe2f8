// RUN: %pykern-opt %s --kern-call-extremes | FileCheck %s
// RUN: %pykern-opt %s --pass-pipeline="builtin.module(kern-call-extremes{only-f32=true})" | FileCheck %s --check-prefix=F32

// CHECK-LABEL: func.func @extremes
// CHECK: llvm.intr.maximum(%arg0, %arg1) {fastmathFlags = #llvm.fastmath<nsz>} : (f32, f32) -> f32
// CHECK: llvm.intr.minimum(%arg0, %arg1) {fastmathFlags = #llvm.fastmath<nsz>} : (f32, f32) -> f32
// CHECK: llvm.intr.maximum(%arg2, %arg2) {fastmathFlags = #llvm.fastmath<nsz>} : (f64, f64) -> f64
// F32: llvm.intr.minimum
// F32: arith.maximumf %arg2, %arg2 : f64
func.func @extremes(%x: f32, %y: f32, %z: f64) -> (f32, f32, f64) {
  %0 = arith.maximumf %x, %y : f32
  %1 = arith.minimumf %x, %y : f32
  %2 = arith.maximumf %z, %z : f64
  return %0, %1, %2 : f32, f32, f64
}

// What a loop carries, and what another extreme gives, comes second: whether the first one is NaN is known before.
// CHECK-LABEL: func.func @chain
// CHECK: scf.for {{.*}} iter_args(%[[HELD:.*]] = %arg1)
// CHECK: %[[V:.*]] = memref.load
// CHECK: %[[A:.*]] = llvm.intr.maximum(%[[V]], %[[HELD]])
// CHECK: %[[B:.*]] = llvm.intr.maximum(%arg1, %[[A]])
// CHECK: scf.yield %[[B]]
func.func @chain(%x: memref<?xf32>, %first: f32, %n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%held = %first) -> f32 {
    %v = memref.load %x[%i] : memref<?xf32>
    %a = arith.maximumf %held, %v : f32
    %b = arith.maximumf %a, %first : f32
    scf.yield %b : f32
  }
  return %r : f32
}

// That there is no NaN is known behind `kern-join-nan-tests`.
// CHECK-LABEL: func.func @without_nan
// CHECK: llvm.intr.maximum(%arg0, %arg1) {fastmathFlags = #llvm.fastmath<nnan, nsz>} : (f32, f32) -> f32
func.func @without_nan(%x: f32, %y: f32) -> f32 {
  %0 = arith.maximumf %x, %y fastmath<nnan,nsz> : f32
  return %0 : f32
}
