// RUN: %pykern-opt %s --kern-make-nests --canonicalize --cse | FileCheck %s

// Where no maximum is taken off nothing is scaled again and exp is exact, however large; f16 is widened where it is
// packed and where queries are taken.

#q = affine_map<(d0, d1, d2, d3) -> (d0, d2)>
#k = affine_map<(d0, d1, d2, d3) -> (d1, d2)>
#v = affine_map<(d0, d1, d2, d3) -> (d1, d3)>
#o = affine_map<(d0, d1, d2, d3) -> (d0, d3)>

// CHECK-LABEL: func.func @program.attend
// CHECK: memref.alloc() : memref<1x4x16x16xf32>
// CHECK-LABEL: func.func private @program.attend.nest0
// CHECK: %[[K:.*]] = memref.load %arg0{{.*}} : memref<64x16xf16>
// CHECK-NEXT: arith.extf %[[K]] : f16 to f32
// CHECK-LABEL: func.func private @program.attend.nest2
// CHECK: %[[Q:.*]] = memref.load %arg0{{.*}} : memref<64x16xf16>
// CHECK-NEXT: arith.extf %[[Q]] : f16 to f32
// CHECK-COUNT-6: vector.fma
// CHECK-NOT: maximumf
// CHECK: math.exp %{{.*}} : vector<16xf32>
// CHECK-NOT: maximumf
// CHECK-COUNT-6: vector.fma
// CHECK: arith.divf
func.func @program.attend(%q: memref<64x16xf16>, %k: memref<64x16xf16>, %v: memref<64x16xf16>, %out: memref<64x16xf32>) attributes {kern.program} {
  call @program.attend.attention0.tiles(%q, %k, %v, %out) : (memref<64x16xf16>, memref<64x16xf16>, memref<64x16xf16>, memref<64x16xf32>) -> ()
  return
}
func.func private @program.attend.attention0.score(%s: f32, %i: index, %j: index) -> f32 attributes {kern.attention} {
  return %s : f32
}
func.func private @program.attend.attention0.tiles(memref<64x16xf16>, memref<64x16xf16>, memref<64x16xf16>, memref<64x16xf32>) attributes {kern.attention = @program.attend.attention0.score, kern.lengths = array<i64: 64, 64, 16, 16>, kern.maps = [#q, #k, #v, #o], kern.unshifted}
