// RUN: %pykern-opt %s --kern-make-nests --canonicalize --cse | FileCheck %s
// RUN: %pykern-opt %s --kern-make-nests --canonicalize --cse --kern-vectorize-reductions --canonicalize --cse | FileCheck %s --check-prefix=VECTOR

// A sum of exponentials below a maximum that are found together: of each block of a row first the maximum, then, of what
// lies below it, the sum; what was summed before is scaled where the maximum grew.

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#one = affine_map<(d0) -> (d0)>
#whole = affine_map<(d0) -> ()>
#none = affine_map<() -> ()>

// One row is shared in pieces; what is found of them is joined in order, and then the logarithm is left.

// CHECK-LABEL: func.func @one_row
// CHECK: %[[M:.*]] = memref.alloc() : memref<16xf32>
// CHECK: %[[S:.*]] = memref.alloc() : memref<16xf32>
// CHECK: call @one_row.nest0.team({{.*}}, %[[M]], %[[S]], %c0, %c16)
// CHECK: call @one_row.nest1({{.*}}, %[[M]], %[[S]], {{.*}}, %c0, %c1)
// CHECK: call @one_row.nest2
// CHECK: call @one_row.nest3
// CHECK: return
func.func @one_row(%x: memref<131072xf32>, %y: memref<f32>) attributes {kern.program} {
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %largest = memref.alloc() : memref<f32>
  %sum = memref.alloc() : memref<f32>
  linalg.generic {indexing_maps = [#none], iterator_types = []} outs(%largest : memref<f32>) {
    ^bb0(%o: f32):
      linalg.yield %low : f32
  }
  linalg.generic {indexing_maps = [#one, #whole], iterator_types = ["reduction"]}
      ins(%x : memref<131072xf32>) outs(%largest : memref<f32>) {
    ^bb0(%a: f32, %o: f32):
      %m = arith.maximumf %o, %a : f32
      linalg.yield %m : f32
  }
  linalg.generic {indexing_maps = [#none], iterator_types = []} outs(%sum : memref<f32>) {
    ^bb0(%o: f32):
      linalg.yield %zero : f32
  }
  linalg.generic {indexing_maps = [#one, #whole, #whole], iterator_types = ["reduction"]}
      ins(%x, %largest : memref<131072xf32>, memref<f32>) outs(%sum : memref<f32>) {
    ^bb0(%a: f32, %m: f32, %o: f32):
      %d = arith.subf %a, %m : f32
      %e = math.exp %d : f32
      %s = arith.addf %o, %e : f32
      linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#none, #none, #none], iterator_types = []}
      ins(%sum, %largest : memref<f32>, memref<f32>) outs(%y : memref<f32>) {
    ^bb0(%s: f32, %m: f32, %o: f32):
      %l = math.log %s : f32
      %r = arith.addf %l, %m : f32
      linalg.yield %r : f32
  }
  return
}

// Many rows, whose exponentials nobody else needs: the same, row by row.

// CHECK-LABEL: func.func @many_rows
// CHECK: call @many_rows.nest0.team
// CHECK-NOT: call
// CHECK: return
// CHECK: func.func private @one_row.nest0
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %c2048 iter_args(%[[M:.*]] = %{{.*}}, %[[S:.*]] = %{{.*}}) -> (f32, f32)
// CHECK: %[[PART:.*]] = scf.for
// CHECK: arith.maximumf
// CHECK: %[[NOW:.*]] = arith.maximumf %[[M]], %[[PART]]
// CHECK: %[[LOWEST:.*]] = arith.cmpf oeq, %[[NOW]], %{{.*}}
// CHECK: %[[BASE:.*]] = arith.select %[[LOWEST]], %{{.*}}, %[[NOW]]
// CHECK: %[[GREW:.*]] = arith.subf %[[M]], %[[BASE]]
// CHECK: %[[FACTOR:.*]] = math.exp %[[GREW]]
// CHECK: %[[SCALED:.*]] = arith.mulf %[[S]], %[[FACTOR]]
// CHECK: %[[SUM:.*]] = scf.for
// CHECK: arith.subf %{{.*}}, %[[BASE]]
// CHECK: math.exp
// CHECK: %[[TOTAL:.*]] = arith.addf %[[SCALED]], %[[SUM]]
// CHECK: scf.yield %[[NOW]], %[[TOTAL]]
// CHECK: func.func private @many_rows.nest0
// CHECK: step %c2048

// The second loop over a block fetches the next one.

// VECTOR-LABEL: func.func private @one_row.nest0
// VECTOR: vector.reduction <maximumf>
// VECTOR: scf.for %[[J:.*]] = %[[B:.*]] to %{{.*}} step %c16{{.*}} -> (vector<16xf32>)
// VECTOR: %[[NEXT:.*]] = arith.addi %[[J]], %c2048
// VECTOR: memref.prefetch %{{.*}}[%{{.*}}, %[[NEXT]]], read
// VECTOR: math.exp %{{.*}} : vector<16xf32>
func.func @many_rows(%x: memref<64x8192xf32>, %y: memref<64xf32>) attributes {kern.program} {
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %largest = memref.alloc() : memref<64xf32>
  linalg.generic {indexing_maps = [#one], iterator_types = ["parallel"]} outs(%largest : memref<64xf32>) {
    ^bb0(%o: f32):
      linalg.yield %low : f32
  }
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<64x8192xf32>) outs(%largest : memref<64xf32>) {
    ^bb0(%a: f32, %o: f32):
      %m = arith.maximumf %o, %a : f32
      linalg.yield %m : f32
  }
  linalg.generic {indexing_maps = [#one], iterator_types = ["parallel"]} outs(%y : memref<64xf32>) {
    ^bb0(%o: f32):
      linalg.yield %zero : f32
  }
  linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x, %largest : memref<64x8192xf32>, memref<64xf32>) outs(%y : memref<64xf32>) {
    ^bb0(%a: f32, %m: f32, %o: f32):
      %d = arith.subf %a, %m : f32
      %e = math.exp %d : f32
      %s = arith.addf %o, %e : f32
      linalg.yield %s : f32
  }
  return
}
