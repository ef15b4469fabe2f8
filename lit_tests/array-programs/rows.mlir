// RUN: %pykern-opt %s --kern-make-nests --canonicalize --cse | FileCheck %s
// RUN: %pykern-opt %s --kern-make-nests=cache-bytes=4194304 --canonicalize --cse | FileCheck %s --check-prefix=PAST

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#line = affine_map<(d0, d1) -> (d1)>
#one = affine_map<(d0) -> (d0)>

// The maximum, exp and its sum, the quotient: three passes over a row. exp is computed once, though two ops
// ask for it; what only these ops use is a row of scratch or a register. Where the arrays fit the cache exp waits in the
// result, else (PAST) in scratch.

// CHECK-LABEL: func.func @softmax
// CHECK: call @softmax.nest0.team(%arg0, %arg1, %c0{{.*}}, %c512{{.*}})
// CHECK-NOT: call
// CHECK: return
func.func @softmax(%x: memref<512x1024xf32>, %y: memref<512x1024xf32>) attributes {kern.program} {
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %top = memref.alloc() : memref<512xf32>
  %e = memref.alloc() : memref<512x1024xf32>
  %sum = memref.alloc() : memref<512xf32>
  linalg.generic {indexing_maps = [#one], iterator_types = ["parallel"]} outs(%top : memref<512xf32>) {
    ^bb0(%o: f32):
      linalg.yield %low : f32
  }
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<512x1024xf32>) outs(%top : memref<512xf32>) {
    ^bb0(%a: f32, %o: f32):
      %m = arith.maximumf %o, %a : f32
      linalg.yield %m : f32
  }
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %top : memref<512x1024xf32>, memref<512xf32>) outs(%e : memref<512x1024xf32>) {
    ^bb0(%a: f32, %t: f32, %o: f32):
      %d = arith.subf %a, %t : f32
      %p = math.exp %d : f32
      linalg.yield %p : f32
  }
  linalg.generic {indexing_maps = [#one], iterator_types = ["parallel"]} outs(%sum : memref<512xf32>) {
    ^bb0(%o: f32):
      linalg.yield %zero : f32
  }
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%e : memref<512x1024xf32>) outs(%sum : memref<512xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %o, %a : f32
      linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#id, #row, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %top, %sum : memref<512x1024xf32>, memref<512xf32>, memref<512xf32>)
      outs(%y : memref<512x1024xf32>) {
    ^bb0(%a: f32, %t: f32, %s: f32, %o: f32):
      %d = arith.subf %a, %t : f32
      %p = math.exp %d : f32
      %q = arith.divf %p, %s : f32
      linalg.yield %q : f32
  }
  return
}

// An array that is overwritten is written when nobody reads it any more; sums of columns have parts.

// CHECK-LABEL: func.func @in_place
// CHECK: %[[P:.*]] = memref.alloc() : memref<32x1024xf32>
// CHECK: call @in_place.nest0.team(%arg0, %[[P]], %c0{{.*}}, %c32{{.*}})
// CHECK: call @in_place.nest1(%[[P]], %arg1
// CHECK-NOT: call
// CHECK: return
func.func @in_place(%x: memref<512x1024xf32>, %y: memref<1024xf32>) attributes {kern.program} {
  %zero = arith.constant 0.0 : f32
  %sum = memref.alloc() : memref<512xf32>
  linalg.generic {indexing_maps = [#one], iterator_types = ["parallel"]} outs(%sum : memref<512xf32>) {
    ^bb0(%o: f32):
      linalg.yield %zero : f32
  }
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<512x1024xf32>) outs(%sum : memref<512xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %o, %a : f32
      linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%sum : memref<512xf32>) outs(%x : memref<512x1024xf32>) {
    ^bb0(%s: f32, %o: f32):
      %q = arith.divf %o, %s : f32
      linalg.yield %q : f32
  }
  linalg.generic {indexing_maps = [#id, #line], iterator_types = ["reduction", "parallel"]}
      ins(%x : memref<512x1024xf32>) outs(%y : memref<1024xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %o, %a : f32
      linalg.yield %s : f32
  }
  return
}

// What needs other rows stays apart: here each element is divided by what stands in the transposed place.

// CHECK-LABEL: func.func @other_rows
// CHECK: call @other_rows.nest0
// CHECK: call @other_rows.nest1
// CHECK: return
func.func @other_rows(%x: memref<512x512xf32>, %y: memref<512xf32>) attributes {kern.program} {
  linalg.generic {indexing_maps = [#id, affine_map<(d0, d1) -> (d1, d0)>, #id],
      iterator_types = ["parallel", "parallel"]}
      ins(%x, %x : memref<512x512xf32>, memref<512x512xf32>) outs(%x : memref<512x512xf32>) {
    ^bb0(%a: f32, %t: f32, %o: f32):
      %q = arith.divf %a, %t : f32
      linalg.yield %q : f32
  }
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<512x512xf32>) outs(%y : memref<512xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %o, %a : f32
      linalg.yield %s : f32
  }
  return
}

// CHECK-LABEL: func.func private @softmax.nest0
// CHECK-SAME: kern.rows
// CHECK-NOT: memref.alloc
// CHECK: scf.for %[[R:.*]] = %arg2 to %arg3
// CHECK: %[[TOP:.*]] = scf.for {{.*}} iter_args
// CHECK: arith.maximumf
// CHECK: %[[SUM:.*]] = scf.for {{.*}} iter_args
// CHECK: arith.subf %{{.*}}, %[[TOP]]
// CHECK: %[[EXP:.*]] = math.exp
// CHECK: memref.store %[[EXP]], %arg1[%[[R]], %[[AT:.*]]]
// CHECK: arith.addf %{{.*}}, %[[EXP]] fastmath<reassoc,contract>
// CHECK: scf.for %[[C:.*]] =
// CHECK-NOT: math.exp
// CHECK: %[[L:.*]] = memref.load %arg1[%[[R]], %[[C]]]
// CHECK: arith.divf %[[L]], %[[SUM]]
// CHECK: memref.store %{{.*}}, %arg1[%[[R]], %[[C]]]
// CHECK-NOT: scf.for
// CHECK: return

// PAST-LABEL: func.func private @softmax.nest0
// PAST: %[[E:.*]] = memref.alloca() {{.*}}: memref<1024xf32>
// PAST: %[[EXP:.*]] = math.exp
// PAST: memref.store %[[EXP]], %[[E]]
// PAST: %[[L:.*]] = memref.load %[[E]]
// PAST: arith.divf %[[L]]
// PAST: memref.store %{{.*}}, %arg1

// CHECK-LABEL: func.func private @in_place.nest0
// CHECK: scf.for %[[PART:.*]] =
// CHECK: scf.for
// CHECK: memref.store %{{.*}}, %arg1[%[[PART]], %{{.*}}]
// CHECK: scf.for %[[R:.*]] =
// CHECK: scf.for {{.*}} iter_args
// CHECK: scf.for %[[C:.*]] =
// CHECK: %[[Q:.*]] = arith.divf
// CHECK-DAG: memref.store %[[Q]], %arg0[%[[R]], %[[C]]]
// CHECK-DAG: memref.store %{{.*}}, %arg1[%[[PART]], %[[C]]]
// CHECK: return
