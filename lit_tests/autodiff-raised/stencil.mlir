// RUN: %pykern-opt %s --kern-reverse=active=0 --canonicalize --cse | FileCheck %s

// Slices of one tensor that meet in one op: the cotangent is gathered in one op, in its middle from what flows
// back as it is; at the ends, where neighbours are missing, that is padded.

#id = affine_map<(i) -> (i)>

// CHECK-LABEL: func.func @laplace.vjp
// CHECK-SAME: %[[BAR:[a-z0-9]+]]: tensor<6xf64> {
// CHECK: %[[NEW:.*]] = tensor.empty() : tensor<8xf64>
// CHECK: %[[P:.*]] = tensor.pad %{{.*}} low[2] high[0]
// CHECK: %[[LOW:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<2xf64>)
// CHECK: %[[A:.*]] = tensor.insert_slice %[[LOW]] into %[[NEW]][0] [2] [1]
// CHECK: %[[Q:.*]] = tensor.pad %{{.*}} low[0] high[2]
// CHECK: %[[HIGH:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<2xf64>)
// CHECK: %[[B:.*]] = tensor.insert_slice %[[HIGH]] into %[[A]][6] [2] [1]
// CHECK-DAG: %[[L:.*]] = tensor.extract_slice %[[BAR]][2] [4] [1]
// CHECK-DAG: %[[C:.*]] = tensor.extract_slice %[[BAR]][1] [4] [1]
// CHECK-DAG: %[[R:.*]] = tensor.extract_slice %[[BAR]][0] [4] [1]
// CHECK: %[[CORE:.*]] = linalg.generic {{.*}}["parallel"]} ins(%[[L]], %[[C]], %[[R]] : {{.*}} outs(%{{.*}} : tensor<4xf64>)
// CHECK: %[[XBAR:.*]] = tensor.insert_slice %[[CORE]] into %[[B]][2] [4] [1]
// CHECK-NOT: tensor.pad
// CHECK: return %{{.*}}, %[[XBAR]]
func.func @laplace(%x: tensor<8xf64>) -> tensor<6xf64> attributes {kern.program} {
  %l = tensor.extract_slice %x[0] [6] [1] : tensor<8xf64> to tensor<6xf64>
  %c = tensor.extract_slice %x[1] [6] [1] : tensor<8xf64> to tensor<6xf64>
  %r = tensor.extract_slice %x[2] [6] [1] : tensor<8xf64> to tensor<6xf64>
  %two = arith.constant 2.0 : f64
  %e = tensor.empty() : tensor<6xf64>
  %y = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel"]}
      ins(%l, %c, %r : tensor<6xf64>, tensor<6xf64>, tensor<6xf64>) outs(%e : tensor<6xf64>) {
  ^bb0(%a: f64, %b: f64, %d: f64, %o: f64):
    %p = arith.addf %a, %d : f64
    %q = arith.mulf %two, %b : f64
    %s = arith.subf %p, %q : f64
    linalg.yield %s : f64
  } -> tensor<6xf64>
  return %y : tensor<6xf64>
}

// A step that leaves the ends as they are: nothing is zeroed, and what flows around the step is added at the ends.

// CHECK-LABEL: func.func @step.vjp
// CHECK-SAME: %[[BAR:[a-z0-9]+]]: tensor<8xf64> {
// CHECK-NOT: linalg.fill
// CHECK: %[[FIRST:.*]] = tensor.extract_slice %[[BAR]][0] [2] [1]
// CHECK: linalg.generic {{.*}} ins(%[[FIRST]], %{{.*}}, %{{.*}} : {{.*}} outs(%{{.*}} : tensor<2xf64>)
// CHECK-NEXT: ^bb0(%[[AROUND:[a-z0-9_]+]]: f64
// CHECK: %[[HOLE:.*]] = arith.cmpi sge, %{{.*}}, %c1
// CHECK: arith.select %[[HOLE]], %cst, %[[AROUND]]
// CHECK: %[[LAST:.*]] = tensor.extract_slice %[[BAR]][6] [2] [1]
// CHECK: linalg.generic {{.*}} ins(%[[LAST]], %{{.*}}, %{{.*}} : {{.*}} outs(%{{.*}} : tensor<2xf64>)
// CHECK: arith.cmpi slt, %{{.*}}, %c1
// CHECK: %[[ENDS:.*]] = tensor.insert_slice %{{.*}} into %{{.*}}[6] [2] [1]
// CHECK-DAG: %[[L:.*]] = tensor.extract_slice %[[BAR]][3] [4] [1]
// CHECK-DAG: %[[R:.*]] = tensor.extract_slice %[[BAR]][1] [4] [1]
// CHECK: %[[CORE:.*]] = linalg.generic {{.*}} ins(%[[L]], %[[R]] : tensor<4xf64>, tensor<4xf64>) outs(%{{.*}} : tensor<4xf64>)
// CHECK-NOT: arith.select
// CHECK: %[[XBAR:.*]] = tensor.insert_slice %[[CORE]] into %[[ENDS]][2] [4] [1]
// CHECK-NEXT: return %{{.*}}, %[[XBAR]]
func.func @step(%x: tensor<8xf64>) -> tensor<8xf64> attributes {kern.program} {
  %l = tensor.extract_slice %x[0] [6] [1] : tensor<8xf64> to tensor<6xf64>
  %r = tensor.extract_slice %x[2] [6] [1] : tensor<8xf64> to tensor<6xf64>
  %e = tensor.empty() : tensor<6xf64>
  %y = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%l, %r : tensor<6xf64>, tensor<6xf64>) outs(%e : tensor<6xf64>) {
  ^bb0(%a: f64, %b: f64, %o: f64):
    %s = arith.addf %a, %b : f64
    linalg.yield %s : f64
  } -> tensor<6xf64>
  %z = tensor.insert_slice %y into %x[1] [6] [1] : tensor<6xf64> into tensor<8xf64>
  return %z : tensor<8xf64>
}

// Where products and sums of the program may be fused, those of its derivative may be.

// CHECK-LABEL: func.func @fused.vjp
// CHECK: %[[P:.*]] = arith.mulf %{{.*}} fastmath<contract>
// CHECK-COUNT-2: arith.addf %{{.*}} fastmath<contract>
// CHECK: return
func.func @fused(%x: tensor<8xf64>) -> tensor<8xf64> attributes {kern.program} {
  %e = tensor.empty() : tensor<8xf64>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<8xf64>) outs(%e : tensor<8xf64>) {
  ^bb0(%a: f64, %o: f64):
    %p = arith.mulf %a, %a fastmath<contract> : f64
    %s = arith.addf %p, %a fastmath<contract> : f64
    linalg.yield %s : f64
  } -> tensor<8xf64>
  return %y : tensor<8xf64>
}
