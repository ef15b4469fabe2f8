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

// -----

// expected-error @below {{attribute `kern.rank` of `func.func` is an integer in 1..8, not -1}}
func.func @rank_below_one() attributes {kern.kernel, kern.rank = -1 : i64} {
  return
}

// -----

// expected-error @below {{is an integer in 1..8, not "one"}}
func.func @rank_of_another_type() attributes {kern.kernel, kern.rank = "one"} {
  return
}

// -----

// expected-error @below {{is an integer in 1..8, not 340282366920938463463374607431768211455}}
func.func @rank_of_many_bits() attributes {kern.kernel, kern.rank = 340282366920938463463374607431768211455 : i129} {
  return
}

// -----

func.func @dimension_beyond_the_kernel(%c: i1) attributes {kern.kernel, kern.rank = 1 : i64} {
  scf.if %c {
    // expected-error @below {{`kern.global_id` asks for dimension 7 of a kernel of 1 dimension}}
    %0 = "kern.global_id"() {dim = 7} : () -> index
  }
  return
}

// -----

func.func @dimension_negative() {
  // expected-error @below {{needs `dim` as an integer in 0..7}}
  %0 = "kern.group_id"() {dim = -1} : () -> index
  return
}

// -----

// expected-error @below {{`kern.ndrange` has 1 lengths, and `kern.rank` is 2}}
func.func @ndrange_of_another_rank() attributes {kern.kernel, kern.rank = 2 : i64, kern.ndrange = array<i64: 8>} {
  return
}

// -----

// expected-error @below {{has a number below 0: array<i64: -8>}}
func.func @ndrange_negative() attributes {kern.kernel, kern.rank = 1 : i64, kern.ndrange = array<i64: -8>} {
  return
}

// -----

// expected-error @below {{is an array of i64, such as array<i64: 8, 8>, not [8]}}
func.func @ndrange_of_another_type() attributes {kern.kernel, kern.rank = 1 : i64, kern.ndrange = [8]} {
  return
}

// -----

// expected-error @below {{has a number below 1: array<i64: 8, 0>}}
func.func @workgroup_empty() attributes {kern.kernel, kern.rank = 2 : i64, kern.workgroup = array<i64: 8, 0>} {
  return
}

// -----

// expected-error @below {{more than 9223372036854775807}}
func.func @workgroup_huge() attributes {kern.kernel, kern.rank = 2 : i64, kern.workgroup = array<i64: 4294967296, 4294967296>} {
  return
}

// -----

// expected-error @below {{attribute `kern.plain` of `func.func` is a mark}}
func.func @mark_with_a_value() attributes {kern.kernel, kern.plain = 1, kern.rank = 1 : i64} {
  return
}

// -----

// expected-error @below {{attribute `kern.name` of `func.func` is a string}}
func.func @name_is_no_string() attributes {kern.kernel, kern.name = 1, kern.rank = 1 : i64} {
  return
}

// -----

func.func @kernel(%x: memref<8xf32>) attributes {kern.kernel} {
  return
}

func.func @launch_without_a_rank(%x: memref<8xf32>) {
  // expected-error @below {{calls @kernel, which has no `kern.rank`}}
  "kern.launch"() ({
    func.call @kernel(%x) : (memref<8xf32>) -> ()
    vector.yield
  }) {ndrange = array<i64: 8>} : () -> ()
  return
}

// -----

func.func @kernel(%x: memref<8xf32>) attributes {kern.kernel, kern.rank = 1 : i64} {
  return
}

func.func @launch_over_another_type(%x: memref<8xf32>) {
  // expected-error @below {{needs `ndrange` as an array of i64}}
  "kern.launch"() ({
    func.call @kernel(%x) : (memref<8xf32>) -> ()
    vector.yield
  }) {ndrange = array<i32: 8>} : () -> ()
  return
}

// -----

// expected-error @below {{attribute `kern.kernel` of `func.func` marks a function with a body, and this is none}}
func.func private @kernel_without_a_body(%x: memref<8xf32>) attributes {kern.kernel}

// -----

// expected-error @below {{there is no attribute `kern.rnak`}}
func.func @misspelt() attributes {kern.kernel, kern.rnak = 1 : i64} {
  return
}

// -----

// expected-error @below {{has 18446744073709551614 work-items, more than 9223372036854775807}}
func.func @ndrange_beyond_an_index() attributes {kern.kernel, kern.rank = 2 : i64, kern.ndrange = array<i64: 9223372036854775807, 2>} {
  return
}

// -----

// expected-error @below {{names an argument twice: array<i64: 0, 0>}}
func.func @updated_twice(%x: f32) attributes {kern.program, kern.updated = array<i64: 0, 0>} {
  return
}

// -----

// expected-error @below {{names an argument that the function does not have: array<i64: 1> of 1}}
func.func @donated_beyond(%x: f32) attributes {kern.program, kern.donated = array<i64: 1>} {
  return
}

// -----

// expected-error @below {{has 0 numbers for 1 results}}
func.func @result_arguments_too_few(%x: f32) -> f32 attributes {kern.result_arguments = array<i64>} {
  return %x : f32
}

// -----

// expected-error @below {{names an argument that the function does not have: array<i64: 3> of 1}}
func.func @result_arguments_beyond(%x: f32) -> f32 attributes {kern.result_arguments = array<i64: 3>} {
  return %x : f32
}

// -----

// expected-error @below {{attribute `kern.result_tree` of `func.func` is no JSON: }}
func.func @tree_is_no_json() attributes {kern.program, kern.result_tree = "{"} {
  return
}

// -----

// expected-error @below {{is names of two functions, such as [@forward, @backward], not [@forward]}}
func.func @custom_of_one() attributes {kern.custom = [@forward]} {
  return
}

// -----

// expected-error @below {{attribute `kern.gradients` of `func.func` is an array of i64}}
func.func @gradients_of_words() attributes {kern.gradients = "x"} {
  return
}

// -----

// expected-error @below {{is an array of strings, not [1]}}
func.func @arguments_of_numbers() attributes {kern.arguments = [1]} {
  return
}

// -----

// expected-error @below {{has 1 numbers rather than 2}}
func.func @tape_of_one() attributes {kern.tape = array<i64: 1>} {
  return
}

// -----

// expected-error @below {{is a mark, and is written without a value, or is an integer in 0 and above}}
func.func @tape_slots_of_words() attributes {kern.tape_slots = "x"} {
  return
}

// -----

// expected-error @below {{is an integer in 0 and above, not -1}}
func.func @shared_bytes_negative() attributes {kern.shared_bytes = -1} {
  return
}

// -----

// expected-error @below {{is the name of a function, such as @saxpy, not "saxpy"}}
func.func @launches_no_name() attributes {kern.launches = "saxpy"} {
  return
}

// -----

// expected-error @below {{is a mark, and is written without a value, or is the name of a function}}
func.func @attention_of_words() attributes {kern.attention = "x"} {
  return
}

// -----

// expected-error @below {{is a type of floats, such as f16, not i32}}
func.func @weights_of_integers() attributes {kern.weights = i32} {
  return
}

// -----

// expected-error @below {{is an array of affine maps, not [1]}}
func.func @maps_of_numbers() attributes {kern.maps = [1]} {
  return
}

// -----

// expected-error @below {{lacks `rows`}}
func.func @schedule_without_rows() attributes {kern.schedule = {form = "packed"}} {
  return
}

// -----

// expected-error @below {{has "x" for `rows`}}
func.func @schedule_of_words() attributes {kern.schedule = {form = "packed", rows = "x"}} {
  return
}

// -----

// expected-error @below {{has `colour`: there are form, rows, vectors}}
func.func @schedule_with_more() attributes {kern.schedule = {colour = 1}} {
  return
}

// -----

// expected-error @below {{is a string}}
func.func @cuda_is_no_string() attributes {kern.cuda = 1} {
  return
}

// -----

// expected-error @below {{attribute `kern.name` of `func.func` is a string, such as "saxpy", not 1 : i64}}
func.func @argument_name_is_no_string(%x: f32 {kern.name = 1}) {
  return
}

// -----

// expected-error @below {{attribute `kern.written` of `func.func` is a mark}}
func.func @argument_mark_with_a_value(%x: f32 {kern.written = 1}) {
  return
}

// -----

func.func @checkpoint_of_none(%a: index, %b: index, %c: index) {
  // expected-error @below {{is "all", "every(k)" or "binomial(s)", not "every(0)"}}
  scf.for %i = %a to %b step %c {
  } {kern.checkpoint = "every(0)"}
  return
}

// -----

func.func @trips_negative(%a: index, %b: index, %c: index) {
  // expected-error @below {{is an integer in 0 and above, not -1 : index}}
  scf.for %i = %a to %b step %c {
  } {kern.trips_at_most = -1 : index}
  return
}

// -----

func.func @items_with_a_value(%a: index, %b: index, %c: index) {
  // expected-error @below {{attribute `kern.items` of `scf.for` is a mark}}
  scf.for %i = %a to %b step %c {
  } {kern.items = 1}
  return
}

// -----

func.func @needed_of_numbers(%a: index, %b: index, %c: index) {
  // expected-error @below {{attribute `kern.needed` of `scf.for` is an array of i64}}
  scf.for %i = %a to %b step %c {
  } {kern.needed = 1}
  return
}

// -----

func.func @tile_without_a_width(%a: index, %b: index, %c: index) {
  // expected-error @below {{lacks `width`}}
  scf.for %i = %a to %b step %c {
  } {kern.tile = {row = 0 : i64, lane = 1 : i64}}
  return
}

// -----

func.func @tile_of_words(%a: index, %b: index, %c: index) {
  // expected-error @below {{has "x" for `width`}}
  scf.for %i = %a to %b step %c {
  } {kern.tile = {row = 0 : i64, lane = 1 : i64, width = "x"}}
  return
}

// -----

func.func @dot_of_words(%a: index, %b: index, %c: index) {
  // expected-error @below {{is a table with intrinsic, adds, first, lifted}}
  scf.for %i = %a to %b step %c {
  } {kern.dot = "x"}
  return
}

// -----

func.func @range_upside_down(%a: index) {
  // expected-error @below {{goes from the least to the largest value: array<i64: 2, 1>}}
  %0 = arith.addi %a, %a {kern.range = array<i64: 2, 1>} : index
  return
}

// -----

func.func @site_negative(%x: f32) {
  // expected-error @below {{attribute `kern.site` of `kern.push` is an integer in 0 and above}}
  "kern.push"(%x) {kern.site = -1} : (f32) -> ()
  return
}

// -----

func.func @print_of_no_type(%x: i64) {
  // expected-error @below {{names no type with "f33"}}
  "kern.print"(%x) {template = "{}", dtypes = ["f33"]} : (i64) -> ()
  return
}

// -----

func.func @print_of_numbers(%x: i64) {
  // expected-error @below {{names no type with 1 : i64}}
  "kern.print"(%x) {template = "{}", dtypes = [1]} : (i64) -> ()
  return
}

// -----

func.func @print_into_nothing(%x: i64) {
  // expected-error @below {{has a template that does not take 1 values: '{} {'}}
  "kern.print"(%x) {template = "{} {", dtypes = ["int"]} : (i64) -> ()
  return
}

// -----

func.func @bounds_without_a_length(%i: index) {
  // expected-error @below {{takes an index and a length of each dimension}}
  "kern.report_bounds"(%i) {array = "x"} : (index) -> ()
  return
}

// -----

func.func @nan_of_rank_two(%x: i64) {
  // expected-error @below {{has 1 operands, and rank 2}}
  "kern.report_nan"(%x) {rank = 2 : i64} : (i64) -> ()
  return
}

// -----

func.func @site_of_words(%x: i1) {
  // expected-error @below {{has a `site` that is no number of a place}}
  "kern.assert"(%x) {message = "", site = "x"} : (i1) -> ()
  return
}

// -----

func.func @buffer_of_vectors() {
  // expected-error @below {{gives memory for numbers, not for vector<4xf32>}}
  %0 = "kern.private"() : () -> memref<2xvector<4xf32>, #gpu.address_space<private>>
  return
}

// -----

func.func @buffer_without_end() {
  // expected-error @below {{gives 4611686018427387904 elements, more than 288230376151711744}}
  %0 = "kern.shared"() : () -> memref<2147483648x2147483648xf32, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @atomic_on_vectors(%x: vector<2xf32>, %m: memref<4xvector<2xf32>>, %i: index) {
  // expected-error @below {{changes numbers, not vector<2xf32>}}
  %0 = "kern.atomic_rmw"(%x, %m, %i) {kind = "add"} : (vector<2xf32>, memref<4xvector<2xf32>>, index) -> vector<2xf32>
  return
}

// -----

func.func @reduction_of_arrays(%m: memref<4xf32>) {
  // expected-error @below {{combines numbers, not memref<4xf32>}}
  %0 = "kern.group_reduce"(%m) {kind = "add"} : (memref<4xf32>) -> memref<4xf32>
  return
}

// -----

func.func @shuffle_of_arrays(%m: memref<4xf32>, %i: index) {
  // expected-error @below {{reads a number, not memref<4xf32>}}
  %0 = "kern.subgroup_shuffle"(%m, %i) : (memref<4xf32>, index) -> memref<4xf32>
  return
}

// -----

func.func @mark_of_a_loop(%a: index) {
  // expected-error @below {{attribute `kern.program` of `scf.for` marks a function with a body, and this is none}}
  scf.for %i = %a to %a step %a {
  } {kern.program}
  return
}

// -----

// expected-error @below {{attribute `kern.items` of `func.func` marks a loop, and this is none}}
func.func @mark_of_a_loop_on_a_function() attributes {kern.items} {
  return
}

// -----

// expected-error @below {{attribute `kern.name` of `func.func` marks an argument of a function, and this is none}}
func.func @name_of_an_argument_on_a_function() attributes {kern.name = "x"} {
  return
}

// -----

// expected-error @below {{attribute `kern.plain` of `func.func` marks a function, and this is an argument}}
func.func @mark_of_a_function_on_an_argument(%x: f32 {kern.plain}) {
  return
}

// -----

func.func @scope_of_what_is_no_atomic(%x: memref<?xf32>, %i: index) {
  // expected-error @below {{attribute `kern.launch_scope` of `memref.load` marks an atomic, and this is none}}
  %0 = memref.load %x[%i] {kern.launch_scope} : memref<?xf32>
  return
}

// -----

func.func @a_name_of_an_op(%x: memref<?xf32>, %i: index) {
  // expected-error @below {{there is no attribute `kern.launch`}}
  %0 = memref.load %x[%i] {kern.launch} : memref<?xf32>
  return
}

// -----

func.func @matrices_of_f32(%w: i32, %s: f32) {
  // expected-error @below {{multiplies f16, bf16, f64, s8, s8 by u8, u8 by s8, u8 on m16n8k16, not f32}}
  %d:4 = "kern.multiply_matrices"(%w, %w, %w, %w, %w, %w, %s, %s, %s, %s) {left = "f32", operandSegmentSizes = array<i32: 6, 4>, right = "f32", unit = "m16n8k16"} : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> (f32, f32, f32, f32)
  return
}

// -----

func.func @matrices_of_two_floats(%w: i32, %s: f32) {
  // expected-error @below {{multiplies f16, bf16, f64, s8, s8 by u8, u8 by s8, u8 on m16n8k16, not f16 by bf16}}
  %d:4 = "kern.multiply_matrices"(%w, %w, %w, %w, %w, %w, %s, %s, %s, %s) {left = "f16", operandSegmentSizes = array<i32: 6, 4>, right = "bf16", unit = "m16n8k16"} : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> (f32, f32, f32, f32)
  return
}

// -----

func.func @matrices_of_bytes_in_f32(%w: i32, %s: f32) {
  // expected-error @below {{takes 6 words and 4 sums of i32, and gives new sums}}
  %d:4 = "kern.multiply_matrices"(%w, %w, %w, %w, %w, %w, %s, %s, %s, %s) {left = "s8", operandSegmentSizes = array<i32: 6, 4>, right = "u8", unit = "m16n8k16"} : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> (f32, f32, f32, f32)
  return
}

// -----

func.func @matrices_of_no_unit(%w: i32, %s: f32) {
  // expected-error @below {{knows no unit wmma}}
  %d:4 = "kern.multiply_matrices"(%w, %w, %s, %s, %s, %s) {left = "f16", operandSegmentSizes = array<i32: 2, 4>, right = "f16", unit = "wmma"} : (i32, i32, f32, f32, f32, f32) -> (f32, f32, f32, f32)
  return
}

// -----

func.func @words_of_arrays(%memory: memref<512xi32>, %i: index, %w: i32) {
  // expected-error @below {{takes shared memory of i32}}
  "kern.store_words"(%memory, %i, %w, %w) : (memref<512xi32>, index, i32, i32) -> ()
  return
}

// -----

func.func @matrices_in_memory_of_arrays(%memory: memref<512xi32>, %i: index) {
  // expected-error @below {{takes shared memory of i32}}
  %l:4 = "kern.load_matrices"(%memory, %i) {transposed = true} : (memref<512xi32>, index) -> (i32, i32, i32, i32)
  return
}

// -----

func.func @copy_to_memory_of_arrays(%count: i32, %memory: memref<512xi32>, %i: index) {
  // expected-error @below {{takes shared memory of i32}}
  "kern.copy_async"(%count, %memory, %i, %memory, %i) : (i32, memref<512xi32>, index, memref<512xi32>, index) -> ()
  return
}

// -----

func.func @sums_of_fragments(%sums: memref<3xf32>, %left: memref<2xf32>) {
  // expected-error @below {{needs a sum for each matrix of the left factor and each of the right one}}
  "kern.multiply_fragments"(%sums, %left, %left) : (memref<3xf32>, memref<2xf32>, memref<2xf32>) -> ()
  return
}

// -----

func.func @fragments_of_other_memory(%held: memref<2xf32>, %memory: memref<64xf32>, %i: index) {
  // expected-error @below {{takes shared memory of f32}}
  "kern.load_fragments"(%held, %memory, %i) {apart = 8, count = 2, first = 0, row = 16} : (memref<2xf32>, memref<64xf32>, index) -> ()
  return
}

// -----

func.func @fragments_of_doubles() {
  // expected-error @below {{gives a known number of matrices of f16, bf16 or f32}}
  %held = "kern.fragments"() : () -> memref<2xf64>
  return
}

// -----

func.func @panels_of_bytes_turned(%m: memref<4096xi32, #gpu.address_space<workgroup>>, %i: index, %s: i32) {
  // expected-error @below {{multiplies bytes whose terms are side by side}}
  %d:32 = "kern.multiply_panels"(%m, %i, %m, %i, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s) {columns = 64 : i32, left_by_terms = true, right_by_terms = false, type = "s8"} : (memref<4096xi32, #gpu.address_space<workgroup>>, index, memref<4096xi32, #gpu.address_space<workgroup>>, index, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32) -> (i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32)
  return
}

// -----

func.func @panels_of_bytes_in_floats(%m: memref<4096xi32, #gpu.address_space<workgroup>>, %i: index, %s: f32) {
  // expected-error @below {{sums products of u8 in i32}}
  %d:32 = "kern.multiply_panels"(%m, %i, %m, %i, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s) {columns = 64 : i32, left_by_terms = true, right_by_terms = true, type = "u8"} : (memref<4096xi32, #gpu.address_space<workgroup>>, index, memref<4096xi32, #gpu.address_space<workgroup>>, index, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32) -> (f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)
  return
}

// -----

func.func @panels_of_words(%m: memref<4096xi32, #gpu.address_space<workgroup>>, %i: index, %s: i32) {
  // expected-error @below {{multiplies f16, bf16, s8, u8, not i32}}
  %d:32 = "kern.multiply_panels"(%m, %i, %m, %i, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s) {columns = 64 : i32, left_by_terms = true, right_by_terms = true, type = "i32"} : (memref<4096xi32, #gpu.address_space<workgroup>>, index, memref<4096xi32, #gpu.address_space<workgroup>>, index, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32) -> (i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32)
  return
}

// -----

func.func @words_of_bytes(%m: memref<2048xi32, #gpu.address_space<workgroup>>, %i: index, %w: i32, %s: f32) {
  // expected-error @below {{multiplies f16 and bf16, not s8}}
  %d:32 = "kern.multiply_words"(%m, %i, %w, %w, %w, %w, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s) {by_terms = true, columns = 64 : i32, operandSegmentSizes = array<i32: 1, 1, 4, 32>, type = "s8"} : (memref<2048xi32, #gpu.address_space<workgroup>>, index, i32, i32, i32, i32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32) -> (f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)
  return
}

// -----

func.func @words_of_half_a_step(%m: memref<2048xi32, #gpu.address_space<workgroup>>, %i: index, %w: i32, %s: f32) {
  // expected-error @below {{takes four words of each 16 terms, not 2}}
  %d:32 = "kern.multiply_words"(%m, %i, %w, %w, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s) {by_terms = true, columns = 64 : i32, operandSegmentSizes = array<i32: 1, 1, 2, 32>, type = "f16"} : (memref<2048xi32, #gpu.address_space<workgroup>>, index, i32, i32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32) -> (f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)
  return
}

// -----

func.func @words_with_few_sums(%m: memref<2048xi32, #gpu.address_space<workgroup>>, %i: index, %w: i32, %s: f32) {
  // expected-error @below {{has 8 sums of 64 columns}}
  %d:8 = "kern.multiply_words"(%m, %i, %w, %w, %w, %w, %s, %s, %s, %s, %s, %s, %s, %s) {by_terms = true, columns = 64 : i32, operandSegmentSizes = array<i32: 1, 1, 4, 8>, type = "f16"} : (memref<2048xi32, #gpu.address_space<workgroup>>, index, i32, i32, i32, i32, f32, f32, f32, f32, f32, f32, f32, f32) -> (f32, f32, f32, f32, f32, f32, f32, f32)
  return
}
