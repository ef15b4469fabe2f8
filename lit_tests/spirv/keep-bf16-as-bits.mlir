// RUN: %pykern-opt %s --kern-keep-bf16-as-bits | FileCheck %s

// Values that only travel are their bits: 1.0 is 0x3f80.

// CHECK-LABEL: func.func @k
// CHECK: %[[ONE:.*]] = arith.constant 16256 : i16
// CHECK: %[[V:.*]] = memref.load %arg0
// CHECK-NOT: arith.bitcast
// CHECK: %[[W:.*]] = arith.select %arg1, %[[V]], %[[ONE]] : i16
// CHECK: memref.store %[[W]], %arg0
func.func @k(%x: memref<?xi16>, %b: i1) attributes {kern.kernel} {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : bf16
  %bits = memref.load %x[%c0] : memref<?xi16>
  %v = arith.bitcast %bits : i16 to bf16
  %w = arith.select %b, %v, %one : bf16
  %back = arith.bitcast %w : bf16 to i16
  memref.store %back, %x[%c0] : memref<?xi16>
  return
}
