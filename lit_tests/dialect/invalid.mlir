// RUN: %pykern-opt %s --split-input-file --verify-diagnostics

func.func @dimension_out_of_range() {
  // expected-error @below {{needs `dim` as an integer in 0..7}}
  %0 = "kern.global_id"() {dim = 8} : () -> index
  return
}

// -----

func.func @dimension_missing() {
  // expected-error @below {{dim}}
  %0 = "kern.local_id"() : () -> index
  return
}

// -----

func.func @shared_in_global_memory() {
  // expected-error @below {{gives memory in #gpu.address_space<workgroup>}}
  %0 = "kern.shared"() : () -> memref<4xf32>
  return
}

// -----

func.func @private_of_unknown_size() {
  // expected-error @below {{needs a static shape}}
  %0 = "kern.private"() : () -> memref<?xf32, #gpu.address_space<private>>
  return
}

// -----

func.func @atomic_rank(%v: f32, %x: memref<?x?xf32>, %i: index) {
  // expected-error @below {{with 1 indices, not 2}}
  %0 = "kern.atomic_rmw"(%v, %x, %i) {kind = "add"} : (f32, memref<?x?xf32>, index) -> f32
  return
}

// -----

func.func @atomic_kind(%v: f32, %x: memref<?xf32>, %i: index) {
  // expected-error @below {{has no kind `xor` for f32}}
  %0 = "kern.atomic_rmw"(%v, %x, %i) {kind = "xor"} : (f32, memref<?xf32>, index) -> f32
  return
}

// -----

func.func @atomic_element(%v: f32, %x: memref<?xf64>, %i: index) {
  // expected-error @below {{takes a f64}}
  %0 = "kern.atomic_rmw"(%v, %x, %i) {kind = "add"} : (f32, memref<?xf64>, index) -> f32
  return
}

// -----

func.func @reduce_kind(%v: f32) {
  // expected-error @below {{cannot combine f32 with `and`}}
  %0 = "kern.group_reduce"(%v) {kind = "and"} : (f32) -> f32
  return
}

// -----

func.func @reduce_unknown(%v: f32) {
  // expected-error @below {{has no kind `avg`}}
  %0 = "kern.subgroup_reduce"(%v) {kind = "avg"} : (f32) -> f32
  return
}

// -----

func.func @print_types(%v: i64) {
  // expected-error @below {{names 2 types for 1 values}}
  "kern.print"(%v) {template = "{}", dtypes = ["f32", "f32"]} : (i64) -> ()
  return
}

// -----

func.func @unknown_op() {
  // expected-error @below {{kern}}
  "kern.nothing"() : () -> ()
  return
}
