// RUN: %pykern-opt %s | FileCheck %s

// Every op of the dialect parses, verifies and prints.

// CHECK-LABEL: func.func @index_space
func.func @index_space() -> index {
  // CHECK: "kern.global_id"() {dim = 0 : i64} : () -> index
  %0 = "kern.global_id"() {dim = 0} : () -> index
  // CHECK: "kern.local_id"() {dim = 1 : i64} : () -> index
  %1 = "kern.local_id"() {dim = 1} : () -> index
  // CHECK: "kern.group_id"() {dim = 2 : i64} : () -> index
  %2 = "kern.group_id"() {dim = 2} : () -> index
  // CHECK: "kern.group_size"() {dim = 0 : i64} : () -> index
  %3 = "kern.group_size"() {dim = 0} : () -> index
  // CHECK: "kern.num_groups"() {dim = 0 : i64} : () -> index
  %4 = "kern.num_groups"() {dim = 0} : () -> index
  // CHECK: "kern.ndrange"() {dim = 0 : i64} : () -> index
  %5 = "kern.ndrange"() {dim = 0} : () -> index
  // CHECK: "kern.subgroup_size"() : () -> index
  %6 = "kern.subgroup_size"() : () -> index
  // CHECK: "kern.subgroup_id"() : () -> index
  %7 = "kern.subgroup_id"() : () -> index
  // CHECK: "kern.lane_id"() : () -> index
  %8 = "kern.lane_id"() : () -> index
  // CHECK: "kern.local_linear_id"() : () -> index
  %9 = "kern.local_linear_id"() : () -> index
  return %0 : index
}

// CHECK-LABEL: func.func @memory
func.func @memory(%v: f32, %i: index) {
  // CHECK: "kern.shared"() : () -> memref<16x17xf32, #gpu.address_space<workgroup>>
  %t = "kern.shared"() : () -> memref<16x17xf32, #gpu.address_space<workgroup>>
  // CHECK: "kern.dynamic_shared"(%{{.*}}) : (index) -> memref<?xf32, #gpu.address_space<workgroup>>
  %d = "kern.dynamic_shared"(%i) : (index) -> memref<?xf32, #gpu.address_space<workgroup>>
  // CHECK: "kern.private"() : () -> memref<3xf32, #gpu.address_space<private>>
  %p = "kern.private"() : () -> memref<3xf32, #gpu.address_space<private>>
  // CHECK: "kern.barrier"() : () -> ()
  "kern.barrier"() : () -> ()
  // CHECK: "kern.guard"() : () -> ()
  "kern.guard"() : () -> ()
  return
}

// CHECK-LABEL: func.func @atomics
func.func @atomics(%v: f32, %n: i32, %x: memref<?x?xf32>, %y: memref<?xi32>, %i: index) -> f32 {
  // CHECK: "kern.atomic_rmw"({{.*}}) {kind = "add"} : (f32, memref<?x?xf32>, index, index) -> f32
  %0 = "kern.atomic_rmw"(%v, %x, %i, %i) {kind = "add"} : (f32, memref<?x?xf32>, index, index) -> f32
  // CHECK: "kern.atomic_rmw"({{.*}}) {kind = "xor"} : (i32, memref<?xi32>, index) -> i32
  %1 = "kern.atomic_rmw"(%n, %y, %i) {kind = "xor"} : (i32, memref<?xi32>, index) -> i32
  // CHECK: "kern.atomic_cas"({{.*}}) : (i32, i32, memref<?xi32>, index) -> i32
  %2 = "kern.atomic_cas"(%n, %n, %y, %i) : (i32, i32, memref<?xi32>, index) -> i32
  return %0 : f32
}

// CHECK-LABEL: func.func @collectives
func.func @collectives(%v: f32, %lane: index) -> f32 {
  // CHECK: "kern.subgroup_reduce"({{.*}}) {kind = "add"} : (f32) -> f32
  %0 = "kern.subgroup_reduce"(%v) {kind = "add"} : (f32) -> f32
  // CHECK: "kern.subgroup_scan"({{.*}}) {kind = "max"} : (f32) -> f32
  %1 = "kern.subgroup_scan"(%0) {kind = "max"} : (f32) -> f32
  // CHECK: "kern.subgroup_exclusive_scan"({{.*}}) {kind = "add"} : (f32) -> f32
  %2 = "kern.subgroup_exclusive_scan"(%1) {kind = "add"} : (f32) -> f32
  // CHECK: "kern.subgroup_shuffle"({{.*}}) : (f32, index) -> f32
  %3 = "kern.subgroup_shuffle"(%2, %lane) : (f32, index) -> f32
  // CHECK: "kern.subgroup_broadcast"({{.*}}) : (f32, index) -> f32
  %4 = "kern.subgroup_broadcast"(%3, %lane) : (f32, index) -> f32
  // CHECK: "kern.group_reduce"({{.*}}) {kind = "min"} : (f32) -> f32
  %5 = "kern.group_reduce"(%4) {kind = "min"} : (f32) -> f32
  return %5 : f32
}

// CHECK-LABEL: func.func @matrices
func.func @matrices(%w: i32, %s: f32, %i: index, %a: memref<?x?xf16>) -> f32 {
  %t = "kern.shared"() : () -> memref<512xi32, #gpu.address_space<workgroup>>
  // CHECK: "kern.copy_async"({{.*}}) : (i32, memref<512xi32, #gpu.address_space<workgroup>>, index, memref<?x?xf16>, index, index) -> ()
  "kern.copy_async"(%w, %t, %i, %a, %i, %i) : (i32, memref<512xi32, #gpu.address_space<workgroup>>, index, memref<?x?xf16>, index, index) -> ()
  // CHECK: "kern.commit_copies"() : () -> ()
  "kern.commit_copies"() : () -> ()
  // CHECK: "kern.wait_copies"() {pending = 1 : i32} : () -> ()
  "kern.wait_copies"() {pending = 1 : i32} : () -> ()
  // CHECK: "kern.load_matrices"({{.*}}) {transposed = true} : (memref<512xi32, #gpu.address_space<workgroup>>, index) -> (i32, i32, i32, i32)
  %l:4 = "kern.load_matrices"(%t, %i) {transposed = true} : (memref<512xi32, #gpu.address_space<workgroup>>, index) -> (i32, i32, i32, i32)
  // CHECK: "kern.multiply_matrices"({{.*}}) {left = "bf16", operandSegmentSizes = array<i32: 6, 4>, right = "bf16", unit = "m16n8k16"} : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> (f32, f32, f32, f32)
  %d:4 = "kern.multiply_matrices"(%w, %w, %w, %w, %w, %w, %s, %s, %s, %s) {left = "bf16", operandSegmentSizes = array<i32: 6, 4>, right = "bf16", unit = "m16n8k16"} : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> (f32, f32, f32, f32)
  // CHECK: %[[WORDS:.*]]:2 = "kern.load_words"({{.*}}) : (memref<?x?xf16>, index, index) -> (i32, i32)
  %v:2 = "kern.load_words"(%a, %i, %i) : (memref<?x?xf16>, index, index) -> (i32, i32)
  // CHECK: "kern.store_words"(%{{.*}}, %{{.*}}, %[[WORDS]]#0, %[[WORDS]]#1) : (memref<512xi32, #gpu.address_space<workgroup>>, index, i32, i32) -> ()
  "kern.store_words"(%t, %i, %v#0, %v#1) : (memref<512xi32, #gpu.address_space<workgroup>>, index, i32, i32) -> ()
  return %d#0 : f32
}

// CHECK-LABEL: func.func @reports
func.func @reports(%ok: i1, %i: index, %n: index, %v: i64) {
  // CHECK: "kern.print"({{.*}}) {dtypes = ["f32", "int"], template = "{} {}\0A"} : (i64, i64) -> ()
  "kern.print"(%v, %v) {template = "{} {}\0A", dtypes = ["f32", "int"]} : (i64, i64) -> ()
  // CHECK: "kern.assert"({{.*}}) {message = "positive"} : (i1) -> ()
  "kern.assert"(%ok) {message = "positive"} : (i1) -> ()
  // CHECK: "kern.report_bounds"({{.*}}) {array = "x"} : (index, index) -> ()
  "kern.report_bounds"(%i, %n) {array = "x"} : (index, index) -> ()
  // CHECK: "kern.report_nan"({{.*}}) {rank = 1 : i64} : (i64, i64) -> ()
  "kern.report_nan"(%v, %v) {rank = 1 : i64} : (i64, i64) -> ()
  // CHECK: "kern.report_timeout"() : () -> ()
  "kern.report_timeout"() : () -> ()
  // CHECK: "kern.expired"() : () -> i1
  %over = "kern.expired"() : () -> i1
  // CHECK: "kern.failures"() : () -> i32
  %failures = "kern.failures"() : () -> i32
  return
}

// CHECK-LABEL: func.func @kernel
func.func @kernel(%x: memref<8x8xf32>, %c: f64) attributes {kern.kernel, kern.rank = 2 : i64} {
  return
}

// CHECK-LABEL: func.func @launch
func.func @launch(%x: memref<8x8xf32>, %c: f64) {
  // CHECK:      "kern.launch"() ({
  // CHECK-NEXT:   func.call @kernel(%{{.*}}, %{{.*}}) : (memref<8x8xf32>, f64) -> ()
  // CHECK-NEXT:   vector.yield
  // CHECK-NEXT: }) {ndrange = array<i64: 8, 8>} : () -> ()
  "kern.launch"() ({
    func.call @kernel(%x, %c) : (memref<8x8xf32>, f64) -> ()
    vector.yield
  }) {ndrange = array<i64: 8, 8>} : () -> ()
  // CHECK: }) {ndrange = array<i64: 6, 3>, starts = array<i64: 1, 1>, steps = array<i64: 1, 2>, workgroup = array<i64: 4, 1>}
  "kern.launch"() ({
    func.call @kernel(%x, %c) : (memref<8x8xf32>, f64) -> ()
    vector.yield
  }) {ndrange = array<i64: 6, 3>, starts = array<i64: 1, 1>, steps = array<i64: 1, 2>, workgroup = array<i64: 4, 1>} : () -> ()
  return
}

// CHECK-LABEL: func.func @differentiation
func.func @differentiation(%x: tensor<4xf32>, %c: f64) -> tensor<4xf32> {
  // CHECK: "kern.stop_gradient"(%{{.*}}) : (tensor<4xf32>) -> tensor<4xf32>
  %0 = "kern.stop_gradient"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: "kern.stop_gradient"(%{{.*}}) : (f64) -> f64
  %1 = "kern.stop_gradient"(%c) : (f64) -> f64
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @fragments
func.func @fragments(%shared: memref<1024xf32, #gpu.address_space<workgroup>>, %i: index) {
  // CHECK: "kern.fragments"() : () -> memref<4xf32>
  %sums = "kern.fragments"() : () -> memref<4xf32>
  %left = "kern.fragments"() : () -> memref<2xf32>
  %right = "kern.fragments"() : () -> memref<2xf32>
  // CHECK: "kern.clear_fragments"
  "kern.clear_fragments"(%sums) : (memref<4xf32>) -> ()
  // CHECK: "kern.load_fragments"
  "kern.load_fragments"(%left, %shared, %i) {apart = 160, count = 2, first = 0, row = 20} : (memref<2xf32>, memref<1024xf32, #gpu.address_space<workgroup>>, index) -> ()
  // CHECK: "kern.multiply_fragments"
  "kern.multiply_fragments"(%sums, %left, %right) : (memref<4xf32>, memref<2xf32>, memref<2xf32>) -> ()
  // CHECK: "kern.store_fragments"
  "kern.store_fragments"(%sums, %shared, %i) {apart = 8, count = 2, first = 2, row = 16} : (memref<4xf32>, memref<1024xf32, #gpu.address_space<workgroup>>, index) -> ()
  return
}
