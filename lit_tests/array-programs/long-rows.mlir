// RUN: %pykern-opt %s --kern-make-nests --canonicalize --cse | FileCheck %s
// RUN: %pykern-opt %s --kern-make-nests=cache-bytes=8388608 --canonicalize --cse | FileCheck %s --check-prefix=PAST
// RUN: %pykern-opt %s --kern-make-nests --canonicalize --cse --kern-vectorize-reductions | FileCheck %s --check-prefix=VECTOR

// Rows that no first cache holds go through all passes one by one too, where there are enough of them for threads; what
// waits between two passes is then not on the stack, but in the result, or past the cache in memory. Sums are made in
// blocks.

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#one = affine_map<(d0) -> (d0)>

// CHECK-LABEL: func.func @many
// CHECK: call @many.nest0.team
// CHECK-NOT: call
// CHECK: return
func.func @many(%x: memref<32x32768xf32>, %y: memref<32x32768xf32>) attributes {kern.program} {
  %zero = arith.constant 0.0 : f32
  %e = memref.alloc() : memref<32x32768xf32>
  %sum = memref.alloc() : memref<32xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<32x32768xf32>) outs(%e : memref<32x32768xf32>) {
    ^bb0(%a: f32, %o: f32):
      %p = math.exp %a : f32
      linalg.yield %p : f32
  }
  linalg.generic {indexing_maps = [#one], iterator_types = ["parallel"]} outs(%sum : memref<32xf32>) {
    ^bb0(%o: f32):
      linalg.yield %zero : f32
  }
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%e : memref<32x32768xf32>) outs(%sum : memref<32xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %o, %a : f32
      linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%e, %sum : memref<32x32768xf32>, memref<32xf32>) outs(%y : memref<32x32768xf32>) {
    ^bb0(%a: f32, %s: f32, %o: f32):
      %q = arith.divf %a, %s : f32
      linalg.yield %q : f32
  }
  return
}

// Few rows are shared in pieces of at least 8192 columns, two a row here; the sums of the pieces are joined in order.

// CHECK-LABEL: func.func @few
// CHECK: %[[PARTS:.*]] = memref.alloc() : memref<62xf32>
// CHECK: call @few.nest0.team({{.*}}, %[[PARTS]], %c0, %c62)
// CHECK: %[[SUMS:.*]] = memref.alloc() : memref<31xf32>
// CHECK: call @few.nest1({{.*}}, %[[PARTS]], %[[SUMS]], %c0, %c1)
// CHECK: call @few.nest2.team({{.*}}, %[[SUMS]], %c0, %c62)
// CHECK: call @few.nest3(
// CHECK: return
func.func @few(%x: memref<31x32768xf32>, %y: memref<31xf32>, %z: memref<31x32768xf32>) attributes {kern.program} {
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<31x32768xf32>) outs(%y : memref<31xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %o, %a : f32
      linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : memref<31x32768xf32>, memref<31xf32>) outs(%z : memref<31x32768xf32>) {
    ^bb0(%a: f32, %s: f32, %o: f32):
      %q = arith.divf %a, %s : f32
      linalg.yield %q : f32
  }
  return
}

// From rows of 256 KiB on each goes through all passes before the next one.

// CHECK-LABEL: func.func @apart
// CHECK: %[[PARTS:.*]] = memref.alloc() : memref<8xf32>
// CHECK: %[[SUMS:.*]] = memref.alloc() : memref<3xf32>
// CHECK: scf.for %[[ROW:.*]] = %c0 to %c3
// CHECK-NEXT: func.call @apart.nest0.team(%arg0, %arg1, %[[PARTS]], %[[ROW]], %c0, %c8)
// CHECK-NEXT: func.call @apart.nest1(%arg0, %arg1, %[[PARTS]], %[[SUMS]], %[[ROW]], %c0, %c1)
// CHECK-NEXT: func.call @apart.nest2.team(%arg0, %arg1, %[[SUMS]], %[[ROW]], %c0, %c8)
// CHECK-NEXT: }
// CHECK-NEXT: return
func.func @apart(%x: memref<3x65536xf32>, %z: memref<3x65536xf32>) attributes {kern.program} {
  %y = memref.alloc() : memref<3xf32>
  %zero = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [#one], iterator_types = ["parallel"]} outs(%y : memref<3xf32>) {
    ^bb0(%o: f32):
      linalg.yield %zero : f32
  }
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<3x65536xf32>) outs(%y : memref<3xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %o, %a : f32
      linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : memref<3x65536xf32>, memref<3xf32>) outs(%z : memref<3x65536xf32>) {
    ^bb0(%a: f32, %s: f32, %o: f32):
      %q = arith.divf %a, %s : f32
      linalg.yield %q : f32
  }
  return
}

// CHECK-LABEL: func.func private @many.nest0
// CHECK-NOT: memref.alloc
// CHECK: scf.for %[[R:.*]] = %arg2 to %arg3
// CHECK: scf.for %[[BLOCK:.*]] = %c0 to %c32768 step %c1024
// CHECK: scf.for {{.*}} iter_args
// CHECK: memref.store %{{.*}}, %arg1[%[[R]], %{{.*}}]
// CHECK: memref.load %arg1[%[[R]], %{{.*}}]
// CHECK: memref.store %{{.*}}, %arg1[%[[R]], %{{.*}}]

// PAST-LABEL: func.func private @many.nest0
// PAST: %[[ROW:.*]] = memref.alloc() {alignment = 64 : i64} : memref<32768xf32>
// PAST: memref.store %{{.*}}, %[[ROW]]
// PAST: memref.load %[[ROW]]
// PAST: memref.store %{{.*}}, %arg1[%{{.*}}, %{{.*}}]
// PAST: memref.dealloc %[[ROW]]

// The blocks are vectors, and fetch the row after the next: not a row as far away as a block is long.

// VECTOR-LABEL: func.func private @many.nest0
// VECTOR: scf.for %[[R:.*]] = %arg2 to %arg3 step %[[ONE:c1[_0-9]*]]
// VECTOR: scf.for %{{.*}} = %c0 to %c32768 step %c1024
// VECTOR: scf.for %{{.*}} -> (vector<16xf32>)
// VECTOR: %[[AHEAD:.*]] = arith.muli %[[ONE]], %c2
// VECTOR: %[[NEXT:.*]] = arith.addi %[[R]], %[[AHEAD]]
// VECTOR: memref.prefetch %arg0[%[[NEXT]],
// VECTOR: vector.store %{{.*}}, %arg1
