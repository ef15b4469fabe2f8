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

func.func @launch_sizes_shared_memory_only(%bytes: index) {
  // expected-error @below {{gives memory in #gpu.address_space<workgroup>}}
  %0 = "kern.dynamic_shared"(%bytes) : (index) -> memref<?xf32>
  return
}

// -----

func.func @launch_sizes_one_dimension(%bytes: index) {
  // expected-error @below {{gives one dimension, whose length is taken at launch}}
  %0 = "kern.dynamic_shared"(%bytes) : (index) -> memref<4xf32, #gpu.address_space<workgroup>>
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

// -----

func.func @helper(%x: memref<8xf32>) {
  return
}

func.func @launch_of_no_kernel(%x: memref<8xf32>) {
  // expected-error @below {{calls @helper, which is no kernel of this module}}
  "kern.launch"() ({
    func.call @helper(%x) : (memref<8xf32>) -> ()
    vector.yield
  }) {ndrange = array<i64: 8>} : () -> ()
  return
}

// -----

func.func @kernel(%x: memref<8xf32>) attributes {kern.kernel, kern.rank = 1 : i64, kern.plain, kern.ndrange = array<i64: 8>} {
  return
}

func.func @launch_rank(%x: memref<8xf32>) {
  // expected-error @below {{has 2 dimensions, and @kernel 1}}
  "kern.launch"() ({
    func.call @kernel(%x) : (memref<8xf32>) -> ()
    vector.yield
  }) {ndrange = array<i64: 8, 8>} : () -> ()
  return
}

// -----

func.func @kernel(%x: memref<8xf32>) attributes {kern.kernel, kern.rank = 1 : i64, kern.plain, kern.ndrange = array<i64: 8>} {
  return
}

func.func @launch_other_ndrange(%x: memref<8xf32>) {
  // expected-error @below {{is over (7,), and @kernel was built for (8,)}}
  "kern.launch"() ({
    func.call @kernel(%x) : (memref<8xf32>) -> ()
    vector.yield
  }) {ndrange = array<i64: 7>} : () -> ()
  return
}

// -----

func.func @kernel(%x: memref<8xf32>) attributes {kern.kernel, kern.rank = 1 : i64, kern.plain, kern.ndrange = array<i64: 8>} {
  return
}

func.func @launch_from_elsewhere(%x: memref<8xf32>) {
  // expected-error @below {{was built for ranges from 0 by 1}}
  "kern.launch"() ({
    func.call @kernel(%x) : (memref<8xf32>) -> ()
    vector.yield
  }) {ndrange = array<i64: 8>, starts = array<i64: 1>, steps = array<i64: 1>} : () -> ()
  return
}

// -----

func.func @kernel(%x: memref<8xf32>) attributes {kern.kernel, kern.rank = 1 : i64} {
  return
}

func.func @launch_starts_alone(%x: memref<8xf32>) {
  // expected-error @below {{has `starts` and `steps` together, or neither}}
  "kern.launch"() ({
    func.call @kernel(%x) : (memref<8xf32>) -> ()
    vector.yield
  }) {ndrange = array<i64: 8>, starts = array<i64: 1>} : () -> ()
  return
}

// -----

func.func @kernel(%x: memref<8xf32>) attributes {kern.kernel, kern.rank = 1 : i64} {
  return
}

func.func @launch_step_of_zero(%x: memref<8xf32>) {
  // expected-error @below {{has a step of 0}}
  "kern.launch"() ({
    func.call @kernel(%x) : (memref<8xf32>) -> ()
    vector.yield
  }) {ndrange = array<i64: 8>, starts = array<i64: 1>, steps = array<i64: 0>} : () -> ()
  return
}

// -----

func.func @kernel(%x: memref<8xf32>) attributes {kern.kernel, kern.rank = 1 : i64, kern.plain, kern.ndrange = array<i64: 8>} {
  return
}

func.func @launch_group_rank(%x: memref<8xf32>) {
  // expected-error @below {{has 1 dimensions, and `workgroup` another number}}
  "kern.launch"() ({
    func.call @kernel(%x) : (memref<8xf32>) -> ()
    vector.yield
  }) {ndrange = array<i64: 8>, workgroup = array<i64: 4, 4>} : () -> ()
  return
}

// -----

func.func @kernel(%x: memref<8xf32>) attributes {kern.kernel, kern.rank = 1 : i64} {
  return
}

func.func @launch_negative(%x: memref<8xf32>) {
  // expected-error @below {{has a negative length}}
  "kern.launch"() ({
    func.call @kernel(%x) : (memref<8xf32>) -> ()
    vector.yield
  }) {ndrange = array<i64: -1>} : () -> ()
  return
}

// -----

func.func @kernel(%x: memref<8xf32>) attributes {kern.kernel, kern.rank = 1 : i64, kern.plain, kern.ndrange = array<i64: 8>} {
  return
}

func.func @launch_two_calls(%x: memref<8xf32>) {
  // expected-error @below {{holds one func.call and a vector.yield}}
  "kern.launch"() ({
    func.call @kernel(%x) : (memref<8xf32>) -> ()
    func.call @kernel(%x) : (memref<8xf32>) -> ()
    vector.yield
  }) {ndrange = array<i64: 8>} : () -> ()
  return
}

// -----

func.func @differentiation_type(%x: f32) {
  // expected-error @below {{expected 'f32' but got 'f64'}}
  %0 = "kern.stop_gradient"(%x) : (f32) -> f64
  return
}
