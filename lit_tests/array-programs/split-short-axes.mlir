// RUN: %pykern-opt %s --kern-split-short-axes --canonicalize --cse | FileCheck %s

#first = affine_map<(i, j, c) -> (i, c)>
#second = affine_map<(i, j, c) -> (j, c)>
#all = affine_map<(i, j, c) -> (i, j, c)>
#pair = affine_map<(i, j, c) -> (i, j)>
#scalar = affine_map<(i, j) -> ()>
#both = affine_map<(i, j) -> (i, j)>

// Differences of all pairs, squared and summed: an op over pairs, which reads each coordinate of transposed points.

// CHECK-LABEL: @distances
// CHECK: %[[TURNED:.*]] = linalg.generic {{.*}} ins(%arg0 : tensor<40x2xf32>) outs(%{{.*}} : tensor<2x40xf32>)
// CHECK-DAG: tensor.extract_slice %[[TURNED]][0, 0] [1, 40] [1, 1] : tensor<2x40xf32> to tensor<40xf32>
// CHECK-DAG: tensor.extract_slice %[[TURNED]][1, 0] [1, 40] [1, 1] : tensor<2x40xf32> to tensor<40xf32>
// CHECK-NOT: 40x50x2
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]
// CHECK: %[[A:.*]] = arith.addf %[[START:.*]], %{{.*}} : f32
// CHECK-NEXT: %[[B:.*]] = arith.addf %[[A]], %{{.*}} : f32
// CHECK-NEXT: linalg.yield %[[B]]
func.func @distances(%x: tensor<40x2xf32>, %y: tensor<50x2xf32>) -> tensor<40x50xf32> {
  %zero = arith.constant 0.0 : f32
  %large = tensor.empty() : tensor<40x50x2xf32>
  %d = linalg.generic {indexing_maps = [#first, #second, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %y : tensor<40x2xf32>, tensor<50x2xf32>) outs(%large : tensor<40x50x2xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.subf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<40x50x2xf32>
  %q = linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%d, %d : tensor<40x50x2xf32>, tensor<40x50x2xf32>) outs(%large : tensor<40x50x2xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.mulf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<40x50x2xf32>
  %small = tensor.empty() : tensor<40x50xf32>
  %start = linalg.generic {indexing_maps = [#scalar, #both], iterator_types = ["parallel", "parallel"]}
      ins(%zero : f32) outs(%small : tensor<40x50xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<40x50xf32>
  %r = linalg.generic {indexing_maps = [#all, #pair], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%q : tensor<40x50x2xf32>) outs(%start : tensor<40x50xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  } -> tensor<40x50xf32>
  return %r : tensor<40x50xf32>
}

// What is returned stays in one array.

// CHECK-LABEL: @returned
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<40x50x2xf32>)
func.func @returned(%x: tensor<40x2xf32>, %y: tensor<50x2xf32>) -> tensor<40x50x2xf32> {
  %large = tensor.empty() : tensor<40x50x2xf32>
  %d = linalg.generic {indexing_maps = [#first, #second, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %y : tensor<40x2xf32>, tensor<50x2xf32>) outs(%large : tensor<40x50x2xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.subf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<40x50x2xf32>
  return %d : tensor<40x50x2xf32>
}
