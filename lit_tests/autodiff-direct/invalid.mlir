// RUN: not %pykern-opt %s --kern-reverse-kernel=active=0,1 2>&1 | FileCheck %s
// RUN: not %pykern-opt %s --kern-forward-kernel=active=0,1 2>&1 | FileCheck %s

// CHECK: invalid.mlir:[[# @LINE + 6]]:{{.*}}error: `math.clampf` has no rule of differentiation
func.func @f(%y: memref<?xf32> {kern.name = "y"}, %x: memref<?xf32> {kern.name = "x"}) attributes {kern.kernel, kern.noalias, kern.rank = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %i = "kern.global_id"() {dim = 0 : i64} : () -> index
  %v = memref.load %x[%i] : memref<?xf32>
  %w = math.clampf %v to [%zero, %one] : f32
  memref.store %w, %y[%i] : memref<?xf32>
  return
}
