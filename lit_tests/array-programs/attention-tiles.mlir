// RUN: %pykern-opt %s --kern-make-nests --canonicalize --cse | FileCheck %s

// Keys and values are packed; a block of 48 queries holds 256 scores each, whatever the number of keys, and stops at
// the last key that its last query meets.

#q = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d3)>
#k = affine_map<(d0, d1, d2, d3, d4) -> (d2, d3)>
#v = affine_map<(d0, d1, d2, d3, d4) -> (d2, d4)>
#o = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d4)>

// CHECK-LABEL: func.func @program.attend
// CHECK-NOT: 100x1000
// CHECK: memref.alloc() : memref<1x63x16x16xf32>
// CHECK: call @program.attend.nest0(
// CHECK: memref.alloc() : memref<1x1x1000x16xf32>
// CHECK: call @program.attend.nest1(
// CHECK: call @program.attend.nest2.team
// CHECK-NOT: .score

// CHECK: func.func private @program.attend.nest2({{.*}}) attributes {kern.attention, kern.nest, kern.noalias
// CHECK: memref.alloca() {alignment = 64 : i64} : memref<48x256xf32>
// CHECK: %[[LAST:.*]] = arith.addi %{{.*}}, %{{.*}} : index
// CHECK: %[[SOME:.*]] = arith.maxsi %{{.*}}, %c0
// CHECK: %[[KEYS:.*]] = arith.minsi %[[SOME]], %c1000
// CHECK: scf.for %{{.*}} = %c0 to %[[KEYS]] step %c256
// CHECK: %[[P:.*]]:6 = scf.for %{{.*}} = %c0 to %c16 step %c1
// CHECK-COUNT-6: vector.fma
// CHECK: %[[S:.*]] = arith.mulf %[[P]]#0, %{{.*}} : vector<16xf32>
// CHECK: %[[M:.*]] = arith.select %{{.*}}, %[[S]], %{{.*}} : vector<16xi1>, vector<16xf32>
// CHECK: vector.create_mask
// CHECK: vector.reduction <maximumf>
// CHECK: math.exp %{{.*}} fastmath<nnan,nsz,afn> : f32
// CHECK: math.exp %{{.*}} fastmath<nnan,nsz,afn> : vector<16xf32>
// CHECK: scf.for
// CHECK-COUNT-6: vector.fma
// CHECK: vector.reduction <add>
// CHECK: arith.divf
func.func @program.attend(%q: memref<2x100x16xf32>, %k: memref<1000x16xf32>, %v: memref<1000x16xf32>, %out: memref<2x100x16xf32>) attributes {kern.program} {
  call @program.attend.attention0.tiles(%q, %k, %v, %out) : (memref<2x100x16xf32>, memref<1000x16xf32>, memref<1000x16xf32>, memref<2x100x16xf32>) -> ()
  return
}
func.func private @program.attend.attention0.score(%s: f32, %b: index, %i: index, %j: index) -> f32 attributes {kern.attention} {
  %scale = arith.constant 0.25 : f32
  %low = arith.constant 0xFF800000 : f32
  %t = arith.mulf %s, %scale : f32
  %c = arith.cmpi sge, %i, %j : index
  %r = arith.select %c, %t, %low : f32
  return %r : f32
}
func.func private @program.attend.attention0.tiles(memref<2x100x16xf32>, memref<1000x16xf32>, memref<1000x16xf32>, memref<2x100x16xf32>) attributes {kern.attention = @program.attend.attention0.score, kern.lengths = array<i64: 2, 100, 1000, 16, 16>, kern.maps = [#q, #k, #v, #o]}
