// RUN: %pykern-opt %s --kern-make-nests --canonicalize --cse | FileCheck %s

// Slices of 256 terms: both factors are packed (86 tiles of 6 rows, 64 panels of a vector), then multiplied.
// The product starts from zero in the first slice: nobody fills the result before.

// CHECK-LABEL: func.func @product
// CHECK-DAG: %[[T:.*]] = memref.alloc() : memref<86x256x6xf64>
// CHECK-DAG: %[[P:.*]] = memref.alloc() : memref<64x256x8xf64>
// CHECK: scf.for %[[K:.*]] = %c0{{.*}} to %c512{{.*}} step %c256
// CHECK-NEXT: call @product.nest0.team(%arg0, %[[T]], %[[K]], %c0{{.*}}, %c86{{.*}})
// CHECK-NEXT: call @product.nest1.team(%arg1, %[[P]], %[[K]], %c0{{.*}}, %c64{{.*}})
// CHECK-NEXT: call @product.nest2.team(%[[T]], %[[P]], %arg2, %[[K]], %c0{{.*}}, %c86{{.*}})
// CHECK-NEXT: }
// CHECK-NEXT: return
func.func @product(%a: memref<512x512xf64>, %b: memref<512x512xf64>, %c: memref<512x512xf64>)
    attributes {kern.program} {
  %zero = arith.constant 0.0 : f64
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      outs(%c : memref<512x512xf64>) {
    ^bb0(%o: f64):
      linalg.yield %zero : f64
  }
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
      affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<512x512xf64>, memref<512x512xf64>) outs(%c : memref<512x512xf64>) {
    ^bb0(%x: f64, %y: f64, %o: f64):
      %p = arith.mulf %x, %y : f64
      %s = arith.addf %o, %p : f64
      linalg.yield %s : f64
  }
  return
}

// A tile: six rows of sums in vectors, one column of the tile and one line of the panel a term.

// CHECK-LABEL: func.func private @product.nest2
// CHECK: scf.for {{.*}} iter_args(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) ->
// CHECK: vector.load %arg1{{.*}} : memref<64x256x8xf64>, vector<8xf64>
// CHECK-COUNT-6: vector.fma
// CHECK: scf.yield
