// RUN: %pykern-opt %s --pass-pipeline="builtin.module(kern-make-nests{machine=avx2},canonicalize,cse)" | FileCheck %s

// A matrix times a vector: four rows at a time, two vectors of sums each; a load of the vector serves four rows.

// CHECK-LABEL: func.func private @rows.nest0
// CHECK-SAME: form = "dots", rows = 4
// CHECK: scf.for
// CHECK: %{{.*}}:8 = scf.for %{{.*}} step %c16
// CHECK: vector.load %arg0[{{.*}} : memref<100xf32>
// CHECK-COUNT-4: vector.fma
// CHECK: vector.load %arg0[{{.*}} : memref<100xf32>
// CHECK-COUNT-4: vector.fma
// CHECK: scf.yield
// CHECK: vector.maskedload
// CHECK: vector.reduction <add>, {{.*}} fastmath<reassoc>
func.func @rows(%a: memref<64x100xf32>, %x: memref<100xf32>, %y: memref<64xf32>) attributes {kern.program} {
  linalg.generic {indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (k)>, affine_map<(m, k) -> (m)>],
      iterator_types = ["parallel", "reduction"]} ins(%a, %x : memref<64x100xf32>, memref<100xf32>) outs(%y : memref<64xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %r = arith.mulf %p, %q : f32
      %s = arith.addf %o, %r : f32
      linalg.yield %s : f32
  }
  return
}

// One column is a vector as well.

// CHECK-LABEL: func.func private @column.nest0
// CHECK-SAME: form = "dots", rows = 4
// CHECK: %[[Y:.*]] = memref.transpose %arg2 (d0, d1) -> (d1, d0) : memref<64x1xf32> to memref<1x64xf32, strided<[1, 1]>>
// CHECK: vector.load %arg0[{{.*}}, %c0{{.*}}] : memref<128x1xf32>, vector<8xf32>
// CHECK-COUNT-4: vector.fma
// CHECK: memref.store {{.*}}, %[[Y]][%c0{{.*}}, %{{.*}}]
func.func @column(%a: memref<64x128xf32>, %x: memref<128x1xf32>, %y: memref<64x1xf32>) attributes {kern.program} {
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
      affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %x : memref<64x128xf32>, memref<128x1xf32>) outs(%y : memref<64x1xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %r = arith.mulf %p, %q : f32
      %s = arith.addf %o, %r : f32
      linalg.yield %s : f32
  }
  return
}

// A transposed matrix times a column: rows of it lie along the lanes of the sums.

// CHECK-LABEL: func.func private @from_below.nest0
// CHECK-SAME: form = "direct", rows = 1
// CHECK: memref.transpose %arg2 (d0, d1) -> (d1, d0) : memref<64x1xf32> to memref<1x64xf32, strided<[1, 1]>>
// CHECK: linalg.generic
// CHECK-SAME: kern.tile = {first = -1 : i64, lane = 0
func.func @from_below(%a: memref<128x64xf32>, %x: memref<128x1xf32>, %y: memref<64x1xf32>) attributes {kern.program} {
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>,
      affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %x : memref<128x64xf32>, memref<128x1xf32>) outs(%y : memref<64x1xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %r = arith.mulf %p, %q : f32
      %s = arith.addf %o, %r : f32
      linalg.yield %s : f32
  }
  return
}
