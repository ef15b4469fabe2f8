// RUN: %pykern-opt %s "--kern-make-nests=machine=avx2 cache-bytes=33554432" --canonicalize | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#turned = affine_map<(d0, d1) -> (d1, d0)>
#row = affine_map<(d0, d1) -> (d1)>

// An input that lies along the other dimension: squares of 8 x 8, transposed in registers, computed with, written. A block
// is a cache line wide, and as long as the rows.

// CHECK-LABEL: func.func @direct
// CHECK: call @direct.nest0.team({{.*}}, %c0{{.*}}, %c63{{.*}})
func.func @direct(%x: memref<1000x1000xf32>, %r: memref<1000xf32>, %y: memref<1000x1000xf32>) attributes {kern.program} {
  linalg.generic {indexing_maps = [#turned, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %r : memref<1000x1000xf32>, memref<1000xf32>) outs(%y : memref<1000x1000xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %s = arith.addf %a, %b : f32
      linalg.yield %s : f32
  }
  return
}

// Rows a power of two apart share lines of the first cache: a block is turned aside.

// CHECK-LABEL: func.func @staged
func.func @staged(%x: memref<1024x1024xf32>, %y: memref<1024x1024xf32>) attributes {kern.program} {
  linalg.generic {indexing_maps = [#turned, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<1024x1024xf32>) outs(%y : memref<1024x1024xf32>) {
    ^bb0(%a: f32, %o: f32):
      linalg.yield %a : f32
  }
  return
}

// Lengths that no square divides: the last one begins earlier. Where the result is read, each element is computed once.

// CHECK-LABEL: func.func @in_place
func.func @in_place(%x: memref<30x21xf64>, %y: memref<21x30xf64>) attributes {kern.program} {
  linalg.generic {indexing_maps = [#turned, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<30x21xf64>) outs(%y : memref<21x30xf64>) {
    ^bb0(%a: f64, %o: f64):
      %s = arith.addf %a, %o : f64
      linalg.yield %s : f64
  }
  return
}

// Shorter than a square: loops.

// CHECK-LABEL: func.func @short
func.func @short(%x: memref<1000x3xf32>, %y: memref<3x1000xf32>) attributes {kern.program} {
  linalg.generic {indexing_maps = [#turned, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<1000x3xf32>) outs(%y : memref<3x1000xf32>) {
    ^bb0(%a: f32, %o: f32):
      linalg.yield %a : f32
  }
  return
}

// CHECK-LABEL: func.func private @direct.nest0
// CHECK-NOT: memref.alloca
// CHECK: scf.for %[[LINE:.*]] = {{.*}} step %c16
// CHECK: scf.for %[[L:.*]] = {{.*}} step %c8
// CHECK: scf.for %[[T:.*]] = {{.*}} step %c8
// CHECK: vector.load %arg0[%[[L]], %[[T]]] : memref<1000x1000xf32>, vector<8xf32>
// CHECK-COUNT-7: vector.load %arg0[%{{.*}}, %[[T]]]
// CHECK-COUNT-24: vector.shuffle
// CHECK: vector.load %arg1[%[[L]]]
// CHECK: arith.addf {{.*}} : vector<8xf32>
// CHECK: vector.store {{.*}}, %arg2[%[[T]], %[[L]]]
// CHECK-COUNT-7: arith.addf {{.*}} : vector<8xf32>

// CHECK-LABEL: func.func private @staged.nest0
// CHECK: %[[STAGE:.*]] = memref.alloca() {alignment = 64 : i64} : memref<64x80xf32>
// CHECK: scf.for {{.*}} step %c64
// CHECK: scf.for {{.*}} step %c64
// CHECK-COUNT-24: vector.shuffle
// CHECK: vector.store {{.*}}, %[[STAGE]]
// CHECK: scf.for
// CHECK: scf.for
// CHECK: memref.load %[[STAGE]]
// CHECK: memref.store {{.*}}, %arg1

// CHECK-LABEL: func.func private @in_place.nest0
// CHECK: %[[STAGE:.*]] = memref.alloca() {{.*}} : memref<21x38xf64>
// CHECK: arith.minsi
// CHECK: vector.store {{.*}}, %[[STAGE]]
// CHECK: memref.load %arg1
// CHECK: memref.load %[[STAGE]]
// CHECK: memref.store {{.*}}, %arg1

// CHECK-LABEL: func.func private @short.nest0
// CHECK-NOT: vector
