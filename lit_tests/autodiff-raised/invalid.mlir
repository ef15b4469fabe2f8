// RUN: not %pykern-opt %s --kern-reverse 2>&1 | FileCheck %s

// CHECK: invalid.mlir:[[# @LINE + 4]]:{{.*}}error: `math.clampf` has no rule of differentiation
func.func @f(%x: f64) -> f64 attributes {kern.program} {
  %zero = arith.constant 0.0 : f64
  %one = arith.constant 1.0 : f64
  %y = math.clampf %x to [%zero, %one] : f64
  return %y : f64
}
