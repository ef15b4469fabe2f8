// RUN: %pykern-opt %s --kern-narrow-indices --canonicalize | FileCheck %s

// What conditions have counted is compared in 32 bits, also where no address is narrow.

// CHECK-LABEL: func.func @rank
// CHECK: %[[ONE:.*]] = arith.extui %arg0 : i1 to i32
// CHECK: %[[MORE:.*]] = arith.addi %[[ONE]], %c1_i32
// CHECK: %[[COUNT:.*]] = arith.select %arg1, %[[MORE]], %[[ONE]] : i32
// CHECK: arith.cmpi eq, %[[COUNT]], %c2_i32 : i32
// CHECK: arith.cmpi eq, %arg2, %{{.*}} : index
func.func @rank(%a: i1, %b: i1, %i: index) -> (i1, i1) attributes {kern.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %one = arith.select %a, %c1, %c0 : index
  %more = arith.addi %one, %c1 : index
  %count = arith.select %b, %more, %one : index
  %is = arith.cmpi eq, %count, %c2 : index
  %other = arith.cmpi eq, %i, %c2 : index
  return %is, %other : i1, i1
}
