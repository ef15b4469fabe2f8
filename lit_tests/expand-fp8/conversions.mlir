// RUN: %pykern-opt %s --kern-expand-fp8 --canonicalize | FileCheck %s

// fp8 is a byte: an f16 in disguise where it is e5m2, and a scaled one with a NaN of its own where it is e4m3.

// CHECK-LABEL: func.func @decode
// CHECK-SAME: (%[[X:[a-z0-9]+]]: memref<?xi8>, %[[Y:[a-z0-9]+]]: memref<?xi8, strided<[?]>>, %{{.*}}: memref<?xf32>
// CHECK: %[[B:.*]] = memref.load %[[X]]
// CHECK: %[[W:.*]] = arith.extsi %[[B]] : i8 to i32
// CHECK: %[[M:.*]] = arith.andi %[[W]], %c127_i32
// CHECK: %[[H:.*]] = arith.bitcast %{{.*}} : i16 to f16
// CHECK: %[[E:.*]] = arith.extf %[[H]] : f16 to f32
// CHECK: %[[S:.*]] = arith.mulf %[[E]], %cst{{.*}} : f32
// CHECK: %[[N:.*]] = arith.cmpi eq, %[[M]], %c127_i32
// CHECK: arith.select %[[N]], %{{.*}}, %[[S]] : f32
// CHECK: memref.load %[[Y]]
// CHECK: arith.extf %{{.*}} : f16 to f32
// CHECK-NOT: arith.mulf
// CHECK: return
func.func @decode(%x: memref<?xf8E4M3FN>, %y: memref<?xf8E5M2, strided<[?]>>, %z: memref<?xf32>, %i: index) {
  %a = memref.load %x[%i] : memref<?xf8E4M3FN>
  %b = arith.extf %a : f8E4M3FN to f32
  memref.store %b, %z[%i] : memref<?xf32>
  %c = memref.load %y[%i] : memref<?xf8E5M2, strided<[?]>>
  %d = arith.extf %c : f8E5M2 to f32
  memref.store %d, %z[%i] : memref<?xf32>
  return
}

// A branch without branches; beyond 448 there is NaN, 0x7f.

// CHECK-LABEL: func.func @encode
// CHECK-NOT: scf.if
// CHECK: %[[BITS:.*]] = arith.bitcast %{{.*}} : f32 to i32
// CHECK: %[[SMALL:.*]] = arith.cmpi ult
// CHECK: %[[CODE:.*]] = arith.select %[[SMALL]]
// CHECK: arith.minui %[[CODE]], %c127_i32
// CHECK: %[[OUT:.*]] = arith.trunci %{{.*}} : i32 to i8
// CHECK: memref.store %[[OUT]], %{{.*}} : memref<4xi8, #gpu.address_space<workgroup>>
func.func @encode(%x: memref<4xf8E4M3FN, #gpu.address_space<workgroup>>, %v: f32, %i: index) {
  %a = arith.truncf %v : f32 to f8E4M3FN
  memref.store %a, %x[%i] : memref<4xf8E4M3FN, #gpu.address_space<workgroup>>
  return
}

// What canonicalization made of an integer's conversion to f32 and on: it goes through f32 again.

// CHECK-LABEL: func.func @integers
// CHECK: arith.uitofp %{{.*}} : i64 to f32
// CHECK: arith.fptosi %{{.*}} : f32 to i32
func.func @integers(%n: i64, %x: f8E5M2) -> (f8E5M2, i32) {
  %a = arith.uitofp %n : i64 to f8E5M2
  %b = arith.fptosi %x : f8E5M2 to i32
  return %a, %b : f8E5M2, i32
}

// Constants and branches carry the byte.

// CHECK-LABEL: func.func @constants
// CHECK-SAME: -> i8
// CHECK: %c-{{[0-9]+}}_i8 = arith.constant -{{[0-9]+}} : i8
func.func @constants(%test: i1) -> f8E4M3FN {
  %a = arith.constant -1.5 : f8E4M3FN
  %b = arith.constant 0.0 : f8E4M3FN
  %c = arith.select %test, %a, %b : f8E4M3FN
  return %c : f8E4M3FN
}
