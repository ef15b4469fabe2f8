// RUN: %pykern-opt %s --kern-raise-to-linalg --canonicalize --cse | FileCheck %s

// Functions keep their ops; a truth is stored as a byte.

// CHECK-LABEL: func.func @float_bits
// CHECK: %[[ANGLE:.*]] = math.atan2
// CHECK: math.copysign %[[ANGLE]]
// CHECK: %[[NAN:.*]] = arith.cmpf uno, %[[X:.*]], %[[X]]
// CHECK: arith.extui %[[NAN]] : i1 to i8
func.func @float_bits(%arg0: memref<?xf32> {kern.name = "y"},
                      %arg1: memref<?xi8> {kern.name = "n"},
                      %arg2: memref<?xf32> {kern.name = "a"},
                      %arg3: memref<?xf32> {kern.name = "b"})
    attributes {kern.kernel, kern.noalias, kern.plain, kern.rank = 1 : i64} {
  %0 = "kern.global_id"() {dim = 0 : i64} : () -> index
  %1 = memref.load %arg2[%0] : memref<?xf32>
  %2 = memref.load %arg3[%0] : memref<?xf32>
  %3 = math.atan2 %1, %2 : f32
  %4 = math.copysign %3, %2 : f32
  memref.store %4, %arg0[%0] : memref<?xf32>
  %5 = memref.load %arg2[%0] : memref<?xf32>
  %6 = arith.cmpf uno, %5, %5 : f32
  %7 = arith.extui %6 : i1 to i8
  memref.store %7, %arg1[%0] : memref<?xi8>
  return
}
