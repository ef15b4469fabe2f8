// RUN: %pykern-opt %s --kern-make-nests --canonicalize | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#none = affine_map<(d0, d1) -> ()>

// Dense dimensions are one loop, shared among threads where there is enough to do.

// CHECK-LABEL: func.func @elementwise
// CHECK: call @elementwise.nest0.team(%arg0, %arg1, %c0{{.*}}, %c256{{.*}})
func.func @elementwise(%x: memref<512x1024xf32>, %y: memref<512x1024xf32>) attributes {kern.program} {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<512x1024xf32>) outs(%y : memref<512x1024xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %a, %a : f32
      linalg.yield %s : f32
  }
  return
}

// A sum over everything: 64 parts, whatever the threads, then the parts in order.

// CHECK-LABEL: func.func @sum
// CHECK: %[[P:.*]] = memref.alloc() : memref<64xf32>
// CHECK: call @sum.nest0.team(%arg0, %[[P]], %c0{{.*}}, %c64{{.*}})
// CHECK: call @sum.nest1(%[[P]], %arg1
func.func @sum(%x: memref<512x1024xf32>, %y: memref<f32>) attributes {kern.program} {
  linalg.generic {indexing_maps = [#id, #none], iterator_types = ["reduction", "reduction"]}
      ins(%x : memref<512x1024xf32>) outs(%y : memref<f32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %o, %a : f32
      linalg.yield %s : f32
  }
  return
}

// CHECK-LABEL: func.func private @elementwise.nest0
// CHECK-SAME: llvm.noalias
// CHECK: memref.collapse_shape
// CHECK: scf.for
// CHECK-NOT: scf.for
// CHECK: return
// CHECK-LABEL: func.func private @sum.nest0
// CHECK: arith.addf {{.*}} fastmath<reassoc,contract>
