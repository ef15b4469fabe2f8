// RUN: %pykern-opt %s --kern-make-nests --canonicalize --cse | FileCheck %s
// RUN: %pykern-opt %s --kern-make-nests --canonicalize --cse --kern-vectorize-reductions | FileCheck %s --check-prefix=VECTOR

// Rows that no first cache holds go through all passes one by one too, where there are enough of them for threads; what
// waits between two passes is then not on the stack. Sums are made in blocks.

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

// With few rows the ops stay apart: each of them has work for all threads.

// CHECK-LABEL: func.func @few
// CHECK: call @few.nest0
// CHECK: call @few.nest1
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

// CHECK-LABEL: func.func private @many.nest0
// CHECK: %[[ROW:.*]] = memref.alloc() {alignment = 64 : i64} : memref<32768xf32>
// CHECK: scf.for %[[R:.*]] = %arg2 to %arg3
// CHECK: scf.for %[[BLOCK:.*]] = %c0 to %c32768 step %c1024
// CHECK: scf.for {{.*}} iter_args
// CHECK: memref.store %{{.*}}, %[[ROW]]
// CHECK: memref.load %[[ROW]]
// CHECK: memref.store %{{.*}}, %arg1[%[[R]], %{{.*}}]
// CHECK: memref.dealloc %[[ROW]]

// The blocks are vectors, and fetch the next row: not a row as far away as a block is long.

// VECTOR-LABEL: func.func private @many.nest0
// VECTOR: scf.for %[[R:.*]] = %arg2 to %arg3 step %[[ONE:c1[_0-9]*]]
// VECTOR: scf.for %{{.*}} = %c0 to %c32768 step %c1024
// VECTOR: scf.for %{{.*}} -> (vector<16xf32>)
// VECTOR: %[[NEXT:.*]] = arith.addi %[[R]], %[[ONE]]
// VECTOR: memref.prefetch %arg0[%[[NEXT]],
// VECTOR: vector.store %{{.*}}, %alloc
