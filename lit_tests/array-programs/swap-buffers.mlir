// RUN: %pykern-opt %s --kern-swap-buffers | FileCheck %s

// CHECK-LABEL: func.func @exchange
// CHECK: scf.for {{.*}} iter_args(%[[T:.*]] = %{{.*}}, %[[U:.*]] = %{{.*}})
// CHECK-NOT: memref.copy
// CHECK: scf.yield %[[U]], %[[T]]
func.func @exchange(%x: memref<8xf32>, %y: memref<8xf32>) attributes {kern.program} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %a = memref.alloc() : memref<8xf32>
  memref.copy %x, %a : memref<8xf32> to memref<8xf32>
  %b = memref.alloc() : memref<8xf32>
  memref.copy %y, %b : memref<8xf32> to memref<8xf32>
  %r:2 = scf.for %i = %c0 to %c10 step %c1 iter_args(%t = %a, %u = %b) -> (memref<8xf32>, memref<8xf32>) {
    func.call @step2(%t, %u) : (memref<8xf32>, memref<8xf32>) -> ()
    %c = memref.alloc() : memref<8xf32>
    memref.copy %u, %c : memref<8xf32> to memref<8xf32>
    %d = memref.alloc() : memref<8xf32>
    memref.copy %t, %d : memref<8xf32> to memref<8xf32>
    scf.yield %c, %d : memref<8xf32>, memref<8xf32>
  }
  return
}

// The caller's own buffer may not come into a place that is written.

// CHECK-LABEL: func.func @not_private
// CHECK: scf.for
// CHECK-COUNT-2: memref.copy
func.func @not_private(%x: memref<8xf32>, %y: memref<8xf32>) attributes {kern.program} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %b = memref.alloc() : memref<8xf32>
  memref.copy %y, %b : memref<8xf32> to memref<8xf32>
  %r:2 = scf.for %i = %c0 to %c10 step %c1 iter_args(%t = %x, %u = %b) -> (memref<8xf32>, memref<8xf32>) {
    func.call @step2(%t, %u) : (memref<8xf32>, memref<8xf32>) -> ()
    %c = memref.alloc() : memref<8xf32>
    memref.copy %u, %c : memref<8xf32> to memref<8xf32>
    %d = memref.alloc() : memref<8xf32>
    memref.copy %t, %d : memref<8xf32> to memref<8xf32>
    scf.yield %c, %d : memref<8xf32>, memref<8xf32>
  }
  return
}

func.func private @step2(memref<8xf32>, memref<8xf32>)
