// RUN: %pykern-opt %s --kern-forward --canonicalize --cse | FileCheck %s
// RUN: %pykern-opt %s "--pass-pipeline=builtin.module(kern-reverse{active=0},kern-forward{function=sines.vjp active=0},canonicalize,cse)" | FileCheck %s --check-prefix=SECOND

// The tangent follows the primal through the loop.
// CHECK-LABEL: func.func @sines.jvp
// CHECK-SAME: (%[[X:.*]]: f64, %[[C:.*]]: f64, %[[DX:.*]]: f64 {kern.name = "arg0.tangent"}, %{{.*}}: f64 {kern.name = "arg1.tangent"}) -> (f64, f64)
// CHECK: scf.for {{.*}} iter_args(%[[U:.*]] = %[[X]], %[[DU:.*]] = %[[DX]]) -> (f64, f64)
// CHECK: %[[V:.*]] = math.sin %[[U]]
// CHECK: %[[COS:.*]] = math.cos %[[U]]
// CHECK: %[[DV:.*]] = arith.mulf %[[DU]], %[[COS]]
// CHECK: scf.yield %[[V]], %[[DV]]

// Of the cotangent: values and tangents are stacked, and run backwards together.
// SECOND-LABEL: func.func @sines.vjp.jvp
// SECOND: scf.for {{.*}} -> (f64, tensor<10xf64>, f64, tensor<10xf64>)
// SECOND: scf.for {{.*}} -> (f64, f64)
func.func @sines(%x: f64, %c: f64) -> f64 attributes {kern.program} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 10 : index
  %y = scf.for %t = %c0 to %n step %c1 iter_args(%u = %x) -> (f64) {
    %v = math.sin %u : f64
    scf.yield %v : f64
  }
  return %y : f64
}
