// RUN: %pykern-opt %s --pass-pipeline="builtin.module(kern-limit-stack{stack-bytes=1024})" | FileCheck %s

// The small ones stay on the stack while all of them fit; the large one is given back at the end.
// CHECK-LABEL: func.func @mixed
// CHECK: %[[SMALL:.*]] = memref.alloca() : memref<64xf64>
// CHECK: %[[LARGE:.*]] = memref.alloc() {alignment = 64 : i64} : memref<65x2xf64>
// CHECK: memref.store {{.*}}, %[[LARGE]]
// CHECK: memref.dealloc %[[LARGE]]
// CHECK-NOT: memref.dealloc
// CHECK: return
func.func @mixed(%v: f64, %i: index) {
  %small = memref.alloca() : memref<64xf64>
  %large = memref.alloca() : memref<65x2xf64>
  memref.store %v, %small[%i] : memref<64xf64>
  memref.store %v, %large[%i, %i] : memref<65x2xf64>
  return
}

// One in a loop would take more with each turn.
// CHECK-LABEL: func.func @turns
// CHECK: memref.alloca() : memref<3xvector<8xf32>>
// CHECK: scf.for
// CHECK-NOT: memref.alloca
// CHECK: return
func.func @turns(%v: vector<8xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %own = memref.alloca() : memref<3xvector<8xf32>>
    memref.store %v, %own[%c0] : memref<3xvector<8xf32>>
  }
  return
}
