// RUN: %pykern-opt %s --kern-reverse --canonicalize --cse | FileCheck %s

// The reverse branch takes the primal's condition and gives the cotangents of what the branches read.
// CHECK-LABEL: func.func @choose.vjp
// CHECK-SAME: (%[[X:.*]]: f64, %[[Y:.*]]: f64, %[[P:.*]]: i1, %[[BAR:.*]]: f64 {kern.name = "result0.cotangent"})
// CHECK: scf.if %[[P]] -> (f64, f64, f64)
// CHECK: %[[COS:.*]] = math.cos %[[X]]
// CHECK: arith.mulf %[[BAR]], %[[COS]]
// CHECK: } else {
// CHECK: arith.mulf %[[BAR]], %[[Y]]
// CHECK: arith.mulf %[[BAR]], %[[X]]
func.func @choose(%x: f64, %y: f64, %p: i1) -> f64 attributes {kern.program} {
  %r = scf.if %p -> (f64) {
    %a = math.sin %x : f64
    scf.yield %a : f64
  } else {
    %b = arith.mulf %x, %y : f64
    scf.yield %b : f64
  }
  return %r : f64
}

// The trips of a while are counted first; then it is a loop that stores as many states.
// CHECK-LABEL: func.func @doubles.vjp
// CHECK: %[[COUNT:.*]]:2 = scf.while (%{{.*}}, %{{.*}} = %c0) : (f64, index) -> (f64, index)
// CHECK: %[[N:.*]] = arith.maxsi %[[COUNT]]#1, %c0
// CHECK: tensor.empty(%[[N]]) : tensor<?xf64>
// CHECK: %[[FORWARD:.*]]:2 = scf.for {{.*}} to %[[COUNT]]#1 {{.*}} -> (f64, tensor<?xf64>)
// CHECK: scf.for {{.*}} to %[[N]] {{.*}} -> (f64) {
// CHECK: tensor.extract %[[FORWARD]]#1
func.func @doubles(%x: f64) -> f64 attributes {kern.program} {
  %top = arith.constant 100.0 : f64
  %r = scf.while (%u = %x) : (f64) -> f64 {
    %p = arith.cmpf olt, %u, %top : f64
    scf.condition(%p) %u : f64
  } do {
  ^bb0(%v: f64):
    %w = arith.mulf %v, %v : f64
    scf.yield %w : f64
  }
  return %r : f64
}
