// RUN: %pykern-opt %s --kern-drop-stop-gradient | FileCheck %s

// CHECK-LABEL: func.func @f
// CHECK-NEXT: arith.addf %arg0, %arg0
// CHECK-NOT: kern.stop_gradient
func.func @f(%x: f64) -> f64 {
  %y = "kern.stop_gradient"(%x) : (f64) -> f64
  %z = arith.addf %x, %y : f64
  return %z : f64
}
