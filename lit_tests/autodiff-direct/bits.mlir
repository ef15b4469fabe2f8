// RUN: not %pykern-opt %s --kern-reverse-kernel=active=0,1 2>&1 | FileCheck %s
// RUN: not %pykern-opt %s --kern-forward-kernel=active=0,1 2>&1 | FileCheck %s

// A float read as its bits would carry a derivative out of sight of the rules.

// CHECK: bits.mlir:[[# @LINE + 4]]:{{.*}}error: a float read as its bits has no derivative
func.func @f(%y: memref<?xf32> {kern.name = "y"}, %x: memref<?xf32> {kern.name = "x"}) attributes {kern.kernel, kern.rank = 1 : i64} {
  %i = "kern.global_id"() {dim = 0 : i64} : () -> index
  %v = memref.load %x[%i] : memref<?xf32>
  %bits = arith.bitcast %v : f32 to i32
  %w = arith.bitcast %bits : i32 to f32
  memref.store %w, %y[%i] : memref<?xf32>
  return
}
