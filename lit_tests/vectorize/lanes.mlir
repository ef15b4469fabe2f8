// RUN: %pykern-opt %s --kern-vectorize-elementary --kern-emit-register-tiles | FileCheck %s

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
#v = affine_map<(m, n, k) -> (n)>
#s = affine_map<(m, n, k) -> ()>

// The emitter of scalar code in lanes. What all lanes share stays a scalar until a vector needs it, a loaded element
// too; an index that moves by a constant is computed for the first lane; widths of elements may be mixed; a select takes
// a condition that lanes share as it is, and one that varies as a vector.

// CHECK-LABEL: func.func @values
// CHECK: scf.for %[[I:.*]] = %arg7 to
// CHECK-NEXT: %[[A:.*]] = vector.load %arg0[%[[I]]]
// CHECK-NEXT: %[[U:.*]] = memref.load %arg2[%c0]
// CHECK-NEXT: %[[Q:.*]] = vector.load %arg1[%[[I]]] : memref<?xi8>, vector<8xi8>
// CHECK-NEXT: %[[V:.*]] = arith.mulf %[[U]], %arg5 : f32
// CHECK-NEXT: %[[VS:.*]] = vector.broadcast %[[V]] : f32 to vector<8xf32>
// CHECK-NEXT: %[[B:.*]] = arith.mulf %[[A]], %[[VS]] : vector<8xf32>
// CHECK-NEXT: %[[E:.*]] = math.exp %[[B]] : vector<8xf32>
// CHECK: %[[J:.*]] = arith.muli %[[I]], %c2{{.*}} : index
// CHECK-NEXT: %[[K:.*]] = arith.subi %[[J]], %[[I]] : index
// CHECK-NEXT: %[[L:.*]] = arith.addi %[[J]], %[[K]] : index
// CHECK-NEXT: %[[STEP:.*]] = vector.step : vector<8xindex>
// CHECK-NEXT: %[[THREE:.*]] = arith.constant dense<3> : vector<8xindex>
// CHECK-NEXT: %[[STEPS:.*]] = arith.muli %[[STEP]], %[[THREE]]
// CHECK-NEXT: %[[FIRST:.*]] = vector.broadcast %[[L]] : index to vector<8xindex>
// CHECK-NEXT: arith.addi %[[FIRST]], %[[STEPS]] : vector<8xindex>
// CHECK: arith.index_cast %{{.*}} : vector<8xindex> to vector<8xi32>
// CHECK: %[[HALF:.*]] = arith.constant dense<5.000000e-01> : vector<8xf32>
// CHECK-NEXT: %[[G:.*]] = arith.mulf %{{.*}}, %[[HALF]] : vector<8xf32>
// CHECK-NEXT: %[[ABOVE:.*]] = arith.cmpf ogt, %[[E]], %[[G]] : vector<8xf32>
// CHECK-NEXT: %[[WIDE:.*]] = arith.extf %[[E]] : vector<8xf32> to vector<8xf64>
// CHECK-NEXT: %[[R:.*]] = arith.sitofp %[[Q]] : vector<8xi8> to vector<8xf64>
// CHECK-NEXT: %[[P:.*]] = arith.select %[[ABOVE]], %[[WIDE]], %[[R]] : vector<8xi1>, vector<8xf64>
// CHECK-NEXT: %[[O:.*]] = arith.select %arg6, %[[P]], %[[R]] : vector<8xf64>
// CHECK-NEXT: vector.store %[[O]], %arg3[%[[I]]] : memref<?xf64>, vector<8xf64>
// CHECK-NEXT: vector.store %[[G]], %arg4[%[[I]]] : memref<?xf32>, vector<8xf32>
func.func @values(%x: memref<?xf32>, %m: memref<?xi8>, %t: memref<?xf32>, %y: memref<?xf64>, %z: memref<?xf32>,
                  %s: f32, %flag: i1, %lo: index, %hi: index) attributes {kern.noalias} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %lo to %hi step %c1 {
    %c2 = arith.constant 2 : index
    %half = arith.constant 0.5 : f32
    %a = memref.load %x[%i] : memref<?xf32>
    %u = memref.load %t[%c0] : memref<?xf32>
    %v = arith.mulf %u, %s : f32
    %b = arith.mulf %a, %v : f32
    %e = math.exp %b : f32
    %j = arith.muli %i, %c2 : index
    %k = arith.subi %j, %i : index
    %l = arith.addi %j, %k : index
    %n = arith.index_cast %l : index to i32
    %f = arith.sitofp %n : i32 to f32
    %g = arith.mulf %f, %half : f32
    %wide = arith.extf %e : f32 to f64
    %q = memref.load %m[%i] : memref<?xi8>
    %r = arith.sitofp %q : i8 to f64
    %above = arith.cmpf ogt, %e, %g : f32
    %p = arith.select %above, %wide, %r : f64
    %o = arith.select %flag, %p, %r : f64
    memref.store %o, %y[%i] : memref<?xf64>
    memref.store %g, %z[%i] : memref<?xf32>
  }
  return
}

// f16 in a register tile: of a factor that lanes share one element is widened, of the other one a vector; behind the sum
// the scale stays a scalar until it meets the sum.

// CHECK-LABEL: func.func @half
// CHECK: %[[B:.*]] = vector.load %{{.*}} : memref<32xf16, {{.*}}>, vector<8xf16>
// CHECK-NEXT: %[[BW:.*]] = arith.extf %[[B]] : vector<8xf16> to vector<8xf32>
// CHECK: %[[A:.*]] = memref.load %{{.*}} : memref<8xf16, {{.*}}>
// CHECK-NEXT: %[[AW:.*]] = arith.extf %[[A]] : f16 to f32
// CHECK-NEXT: %[[AS:.*]] = vector.broadcast %[[AW]] : f32 to vector<8xf32>
// CHECK-NEXT: vector.fma %[[AS]], %[[BW]],
// CHECK: scf.for
// CHECK: %[[T:.*]] = vector.load %{{.*}} : memref<2x8xf32>, vector<8xf32>
// CHECK: %[[H:.*]] = vector.load %{{.*}} : memref<8xf16, {{.*}}>, vector<8xf16>
// CHECK: %[[Q:.*]] = arith.mulf %arg4, %{{.*}} : f32
// CHECK-NEXT: %[[QS:.*]] = vector.broadcast %[[Q]] : f32 to vector<8xf32>
// CHECK-NEXT: %[[U:.*]] = arith.mulf %[[T]], %[[QS]] : vector<8xf32>
// CHECK-NEXT: %[[HW:.*]] = arith.extf %[[H]] : vector<8xf16> to vector<8xf32>
// CHECK-NEXT: %[[W:.*]] = arith.addf %[[U]], %[[HW]] : vector<8xf32>
// CHECK-NEXT: %[[N:.*]] = arith.truncf %[[W]] : vector<8xf32> to vector<8xf16>
// CHECK: vector.store %[[N]], %{{.*}} : memref<16xf16, {{.*}}>, vector<8xf16>
func.func @half(%a: memref<2x4xf16>, %b: memref<4x8xf16>, %c: memref<2x8xf32>, %v: memref<8xf16>, %scale: f32,
                %y: memref<2x8xf16>) {
  linalg.generic {indexing_maps = [#a, #b, #v, #s, #c, #c], iterator_types = ["parallel", "parallel", "reduction"],
                  kern.tile = {row = 0 : i64, lane = 1 : i64, unroll = 4 : i64, width = 8 : i64, first = -1 : i64,
                               start = -1 : i64, last = -1 : i64}}
      ins(%a, %b, %v, %scale : memref<2x4xf16>, memref<4x8xf16>, memref<8xf16>, f32)
      outs(%c, %y : memref<2x8xf32>, memref<2x8xf16>) {
    ^bb0(%l: f16, %r: f16, %h: f16, %q: f32, %o: f32, %z: f16):
      %two = arith.constant 2.0 : f32
      %lw = arith.extf %l : f16 to f32
      %rw = arith.extf %r : f16 to f32
      %p = arith.mulf %lw, %rw : f32
      %t = arith.addf %o, %p : f32
      %qq = arith.mulf %q, %two : f32
      %u = arith.mulf %t, %qq : f32
      %hw = arith.extf %h : f16 to f32
      %w = arith.addf %u, %hw : f32
      %n = arith.truncf %w : f32 to f16
      linalg.yield %t, %n : f32, f16
  }
  return
}
