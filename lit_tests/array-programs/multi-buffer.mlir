// RUN: %pykern-opt %s --kern-multi-buffer --canonicalize --cse | FileCheck %s

// What an iteration makes for the next one is one of two buffers; after ten iterations it is the first.

// CHECK-LABEL: func.func @two
// CHECK-DAG: %[[A:.*]] = memref.alloc() : memref<8xf32>
// CHECK-DAG: %[[B:.*]] = memref.alloc() : memref<8xf32>
// CHECK: scf.for %[[I:.*]] = {{.*}} iter_args(%[[T:.*]] = %arg0)
// CHECK: %[[N:.*]] = arith.addi %[[I]], %c1
// CHECK: arith.remui %[[N]], %c2
// CHECK: %[[NEW:.*]] = arith.select %{{.*}}, %{{.*}}, %{{.*}} : memref<8xf32>
// CHECK-NOT: memref.alloc
// CHECK: call @step{{.}}(%[[T]], %[[NEW]])
// CHECK: scf.yield %[[NEW]]
// CHECK: return %{{alloc.*}} : memref<8xf32>
func.func @two(%x: memref<8xf32>) -> memref<8xf32> attributes {kern.program} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %r = scf.for %i = %c0 to %c10 step %c1 iter_args(%t = %x) -> (memref<8xf32>) {
    %new = memref.alloc() : memref<8xf32>
    func.call @step2(%t, %new) : (memref<8xf32>, memref<8xf32>) -> ()
    scf.yield %new : memref<8xf32>
  }
  return %r : memref<8xf32>
}

// A buffer that is still read an iteration later is one of three.

// CHECK-LABEL: func.func @three
// CHECK-COUNT-3: memref.alloc
// CHECK: scf.for
// CHECK-NOT: memref.alloc
// CHECK: return
func.func @three(%x: memref<8xf32>, %n: index) -> memref<8xf32> attributes {kern.program} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %x, %t = %x) -> (memref<8xf32>, memref<8xf32>) {
    %new = memref.alloc() : memref<8xf32>
    func.call @step3(%p, %t, %new) : (memref<8xf32>, memref<8xf32>, memref<8xf32>) -> ()
    scf.yield %t, %new : memref<8xf32>, memref<8xf32>
  }
  return %r#1 : memref<8xf32>
}

func.func private @step2(memref<8xf32>, memref<8xf32>)
func.func private @step3(memref<8xf32>, memref<8xf32>, memref<8xf32>)
