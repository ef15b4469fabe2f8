// RUN: %pykern-opt %s --kern-reverse=active=0 --canonicalize --cse | FileCheck %s

// Slices of one tensor that meet in one op: the cotangent is padded once and gathered in one op.

#id = affine_map<(i) -> (i)>

// CHECK-LABEL: func.func @laplace.vjp
// CHECK: %[[PADDED:.*]] = tensor.pad %{{.*}} low[2] high[2]
// CHECK-DAG: %[[L:.*]] = tensor.extract_slice %[[PADDED]][2] [8] [1]
// CHECK-DAG: %[[C:.*]] = tensor.extract_slice %[[PADDED]][1] [8] [1]
// CHECK-DAG: %[[R:.*]] = tensor.extract_slice %[[PADDED]][0] [8] [1]
// CHECK: %[[BAR:.*]] = linalg.generic {{.*}}["parallel"]} ins(%[[L]], %[[C]], %[[R]] : {{.*}} outs(%{{.*}} : tensor<8xf64>)
// CHECK-NOT: tensor.pad
// CHECK: return %{{.*}}, %[[BAR]]
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
