// RUN: %pykern-opt %s --kern-make-kernels --canonicalize --cse | FileCheck %s

// A group takes 16 queries of one batch, the last ones first. Blocks of 32 keys, up to the last one that its last query
// meets: products of 16 terms at a time, scores in shared memory, their maxima and powers, then the powers times the
// values. Nothing as large as all scores is anywhere.

#q = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d3)>
#k = affine_map<(d0, d1, d2, d3, d4) -> (d2, d3)>
#v = affine_map<(d0, d1, d2, d3, d4) -> (d2, d4)>
#o = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d4)>

// CHECK-LABEL: func.func @program.attend
// CHECK-NOT: memref.alloc
// CHECK: kern.launch
// CHECK-NOT: .score
// CHECK: func.func private @attend_0(%{{.*}}: memref<2x100x16xf32>, %{{.*}}: memref<1000x16xf16>,
// CHECK-SAME: kern.ndrange = array<i64: 2, 7, 256>
// CHECK-COUNT-3: "kern.shared"
// CHECK: %[[BLOCK:.*]] = arith.subi %c6, %{{.*}} : index
// CHECK: %[[FIRST:.*]] = arith.muli %[[BLOCK]], %c16
// CHECK: %[[AFTER:.*]] = arith.addi %[[FIRST]], %c16
// CHECK: %[[SOME:.*]] = arith.maxsi %[[AFTER]], %c0
// CHECK: %[[KEYS:.*]] = arith.minsi %[[SOME]], %c1000
// CHECK: scf.for %{{.*}} = %c0 to %[[KEYS]] step %c32
// CHECK: arith.extf {{.*}} : f16 to f32
// CHECK: "kern.barrier"
// CHECK: scf.for {{.*}} = %c0 to %c16 step %c1
// CHECK: arith.addf {{.*}} fastmath<contract>
// CHECK: arith.select {{.*}} : f32
// CHECK: "kern.barrier"
// CHECK: arith.cmpf ogt
// CHECK: math.exp
// CHECK: "kern.barrier"
// CHECK-COUNT-2: math.exp
// CHECK: "kern.barrier"
// CHECK: arith.addf {{.*}} fastmath<contract>
// CHECK: %[[RESULT:.*]] = arith.divf
// CHECK: %[[NARROW:.*]] = arith.truncf %[[RESULT]] : f32 to f16
// CHECK: memref.store %[[NARROW]]
func.func @program.attend(%q: memref<2x100x16xf32>, %k: memref<1000x16xf16>, %v: memref<1000x16xf32>, %out: memref<2x100x16xf16>) attributes {kern.program} {
  call @program.attend.attention0.tiles(%q, %k, %v, %out) : (memref<2x100x16xf32>, memref<1000x16xf16>, memref<1000x16xf32>, memref<2x100x16xf16>) -> ()
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
func.func private @program.attend.attention0.tiles(memref<2x100x16xf32>, memref<1000x16xf16>, memref<1000x16xf32>, memref<2x100x16xf16>) attributes {kern.attention = @program.attend.attention0.score, kern.lengths = array<i64: 2, 100, 1000, 16, 16>, kern.maps = [#q, #k, #v, #o]}
