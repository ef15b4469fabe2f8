// RUN: %pykern-opt %s --kern-outline-scans --split-input-file | FileCheck %s

#id = affine_map<(d0) -> (d0)>

// A running sum along rows: a work-item for each row, which carries a number. It starts with the constant that the
// column was full of, and nothing asks for the last column.

// CHECK-LABEL: func.func @running
// CHECK-NOT: scf.for
// CHECK: call @row_by_row.0.launch0(%{{.*}}, %arg0) : (tensor<40x9xf32>, tensor<40x9xf32>) -> tensor<40x9xf32>
// CHECK: func.func private @row_by_row.0(%[[O:.*]]: memref<40x9xf32>, %[[X:.*]]: memref<40x9xf32>)
// CHECK-SAME: kern.kernel, kern.ndrange = array<i64: 40>, kern.noalias, kern.plain, kern.rank = 1 : i64
// CHECK: %[[I:.*]] = "kern.global_id"() {dim = 0 : i64}
// CHECK: scf.for %[[K:.*]] = {{.*}} iter_args(%[[S:.*]] = %{{.*}}) -> (f32)
// CHECK: %[[V:.*]] = memref.load %[[X]][%[[I]], %[[K]]]
// CHECK: %[[N:.*]] = arith.addf %[[S]], %[[V]]
// CHECK: memref.store %[[N]], %[[O]][%[[I]], %[[K]]]
// CHECK: scf.yield %[[N]] : f32
// CHECK: func.func private @row_by_row.0.launch0
// CHECK-SAME: kern.launches = @row_by_row.0, kern.writes = array<i64: 0>
// CHECK: "kern.launch"()
func.func @running(%x: tensor<40x9xf32>) -> tensor<40x9xf32> attributes {kern.program} {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %e = tensor.empty() : tensor<40xf32>
  %start = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<40xf32>) {
    ^bb0(%o: f32):
      linalg.yield %zero : f32
  } -> tensor<40xf32>
  %result = tensor.empty() : tensor<40x9xf32>
  %r:2 = scf.for %k = %c0 to %c9 step %c1 iter_args(%s = %start, %t = %result) -> (tensor<40xf32>, tensor<40x9xf32>) {
    %v = tensor.extract_slice %x[0, %k] [40, 1] [1, 1] : tensor<40x9xf32> to tensor<40xf32>
    %f = tensor.empty() : tensor<40xf32>
    %n = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
        ins(%s, %v : tensor<40xf32>, tensor<40xf32>) outs(%f : tensor<40xf32>) {
      ^bb0(%a: f32, %b: f32, %o: f32):
        %c = arith.addf %a, %b : f32
        linalg.yield %c : f32
    } -> tensor<40xf32>
    %w = tensor.insert_slice %n into %t[0, %k] [40, 1] [1, 1] : tensor<40xf32> into tensor<40x9xf32>
    scf.yield %n, %w : tensor<40xf32>, tensor<40x9xf32>
  }
  return %r#1 : tensor<40x9xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>

// Each row reads the one above it: rows depend on each other, and the loop stays.

// CHECK-LABEL: func.func @diagonal
// CHECK: scf.for
// CHECK-NOT: call
func.func @diagonal(%x: tensor<40x9xf32>) -> tensor<40x9xf32> attributes {kern.program} {
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %r = scf.for %k = %c1 to %c9 step %c1 iter_args(%t = %x) -> (tensor<40x9xf32>) {
    %before = arith.subi %k, %c1 : index
    %v = tensor.extract_slice %t[0, %before] [39, 1] [1, 1] : tensor<40x9xf32> to tensor<39xf32>
    %e = tensor.empty() : tensor<39xf32>
    %n = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
        ins(%v : tensor<39xf32>) outs(%e : tensor<39xf32>) {
      ^bb0(%a: f32, %o: f32):
        %c = arith.addf %a, %a : f32
        linalg.yield %c : f32
    } -> tensor<39xf32>
    %w = tensor.insert_slice %n into %t[1, %k] [39, 1] [1, 1] : tensor<39xf32> into tensor<40x9xf32>
    scf.yield %w : tensor<40x9xf32>
  }
  return %r : tensor<40x9xf32>
}
