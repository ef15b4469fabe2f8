"""What `devices.md` has rows for: features of kernels, and the tests that show them.

A test is its file's stem and its function, where several belong together a pattern of `fnmatch`; behind a colon,
the dtypes whose cases are meant. A case counts in each row it belongs to. `tests/project/test_device_table.py` holds
that no test that runs on devices is left out.
"""

from __future__ import annotations

import fnmatch

SUITES = (
    "tests/kernels",
    "tests/parity",
    "tests/programs/test_devices.py",
    "tests/programs/test_graphs.py",
    "tests/autodiff/test_kernels_on_devices.py",
    "tests/autodiff/test_program_devices.py",
)

PAIRS = (
    "test_casts::test_every_pair", "test_operators::test_arithmetic", "test_operators::test_comparisons",
    "test_operators::test_bits", "test_operators::test_unary", "test_operators::test_integer_powers",
    "test_operators::test_float_powers", "test_operators::test_roots_and_reciprocals",
    "test_small_floats::test_conversions_both_ways", "test_kernels::test_convert",
)  # fmt: skip
WEAK = "test_reference_rules::test_a_python_float_is_weak_beside_16_bits"
ATOMICS = (
    "test_kernels::test_atomic*", "test_groups::test_every_old_value_is_given_once",
    "test_groups::test_atomics_wrap_and_compare_at_the_edges", "test_groups::test_a_loop_of_compare_exchange",
)  # fmt: skip


def _of(tests: tuple[str, ...], *dtypes: str) -> tuple[str, ...]:
    return tuple(f"{test}:{','.join(dtypes)}" for test in tests)


FEATURES: dict[str, tuple[str, ...]] = {
    "bool: operators, casts": (
        *_of(PAIRS, "bool"), "test_operators::test_arithmetic_of_bools", "test_operators::test_bools_have_no_minus",
        "test_operators::test_bits_of_bools", "test_operators::test_bools_give_bytes_in_programs",
        "test_casts::test_int_float_bool",
    ),
    "i8, u8": _of(PAIRS, "i8", "u8"),
    "i16, u16": _of(PAIRS, "i16", "u16"),
    "i32, u32": _of(PAIRS, "i32", "u32"),
    "i64, u64": (*_of(PAIRS, "i64", "u64"), "test_large_constants::*"),
    "f16": _of((*PAIRS, WEAK), "f16"),
    "bf16": _of((*PAIRS, WEAK), "bf16"),
    "f32": _of(PAIRS, "f32"),
    "f64": _of(PAIRS, "f64"),
    "fp8 storage": ("test_fp8::*",),
    "limits of types, zeros, NaN, infinities": (
        "test_reference_rules::test_integers", "test_reference_rules::test_functions_of_floats",
        "test_reference_rules::test_floats_divided_by_zero", "test_known_zeros::*",
        "test_reference_rules::test_short_floats_are_divided_as_numpy_does",
        "test_reference_rules::test_a_python_integer_that_only_u64_holds",
        "test_reference_rules::test_a_constant_that_does_not_fit_is_refused", "test_constants_of_types::*",
    ),
    "index spaces, workgroups": (
        "test_index_spaces::test_every_index_once*", "test_index_spaces::test_local_and_group_make_global",
        "test_item_order::*", "test_item_conditions::*",
        "test_kernels::test_triad_inner_then_boundary", "test_kernels::test_a_list_of_ranges_is_a_launch_each",
        "test_kernels::test_ranges_with_offset_and_stride", "test_kernels::test_partition",
        "test_kernels::test_static_sizes_refuse_others", "test_kernels::test_global_index",
        "test_kernels::test_local_index*", "test_kernels::test_empty",
        "test_kernels::test_nothing_runs_in_an_empty_ndrange", "test_kernels::test_nd_iteration",
        "test_kernels::test_four_dimensions", "test_kernels::test_early_return",
    ),
    "strides and views": (
        "test_rows_of_arrays::*", "test_row_arithmetic::*", "test_row_slices::*", "test_row_merging::*",
        "test_row_products::*", "test_row_arrays::*",
        "test_index_spaces::test_views", "test_index_spaces::test_a_view_that_repeats_its_elements",
        "test_index_spaces::test_an_array_of_no_dimension",
        "test_index_spaces::test_a_read_only_argument_is_refused", "test_negative_constants::*",
    ),
    "control flow, loops": (
        "test_fast_rows::*", "test_range_steps::*", "test_values_after_loops::*",
        "test_control_flow::*", "test_leaving_loops::*", "test_kernels::test_unaliased_accumulate",
        "test_deep_nesting::test_on_devices",
    ),
    "functions, closures, structs, static values": ("test_functions::*",),
    "names whose values change between launches": ("test_state::*",),
    "shared memory, static": (
        "test_kernels::test_local_memory", "test_groups::test_values_go_round_in_shared_memory",
        "test_kernels::test_matmul_tiled",
    ),
    "shared memory sized at launch": ("test_shared_bytes::*",),
    "private memory": (
        "test_kernels::test_private_memory_survives_a_barrier", "test_kernels::test_64_privates_and_64_barriers",
    ),
    "barriers, in loops too": (
        "test_kernels::test_nested_unroll_with_a_barrier", "test_kernels::test_tree_reduction_with_a_barrier_in_while",
        "test_groups::test_a_barrier_in_a_uniform_while", "test_kernels::test_local_memory",
    ),
    "early return before a barrier": (
        "test_kernels::test_barrier_after_an_early_return", "test_groups::test_barriers_after_an_early_return",
    ),
    "atomics i8, u8, i16, u16": _of(ATOMICS, "i8", "u8", "i16", "u16"),
    "atomics i32, u32": _of(ATOMICS, "i32", "u32"),
    "atomics i64, u64": _of(ATOMICS, "i64", "u64"),
    "atomics f16": _of(ATOMICS, "f16"),
    "atomics f32": _of(ATOMICS, "f32"),
    "atomics f64": _of(ATOMICS, "f64"),
    "atomics in shared memory": ("test_kernels::test_histogram",),
    "subgroup and group operations": (
        "test_kernels::test_collectives", "test_groups::test_reductions_and_scans", "test_groups::test_shuffles",
    ),
    "prints": (
        "test_reports::test_prints", "test_reports::test_braces_around_values_are_text",
        "test_reports::test_what_printing_raises_is_raised",
    ),
    "asserts": ("test_reports::test_asserts",),
    "bounds checks (`debug=True`)": (
        "test_reports::test_bounds_are_checked", "test_shared_bytes::test_bounds_in_debug",
        "test_fp8::test_bounds_in_debug",
    ),
    "NaN, races, division by zero (`debug=`), `timeout=`": (
        "test_debug_checks::*", "test_reference_rules::test_debug_tells_of_a_division_by_zero",
    ),
    "bounds and arguments checked before a launch begins": (
        "test_launch_bounds::*", "test_launch_warnings::*", "test_shape_as_ndrange::*",
        "test_reference_rules::test_arrays_that_overlap_in_part_are_refused",
    ),
    "math functions": (
        "test_numpy_elements::*", "test_math_functions::*",
        "test_kernels::test_special_functions", "test_integer_functions::*", "test_random::*",
    ),
    "whole kernels: matrix product, transpose": ("test_kernels::test_matmul_*", "test_kernels::test_transpose"),
    "tile kernels (`pk.tile`)": ("test_tiles::*", "test_tile_errors::*", "test_tile_reductions::*"),
    "gradients of kernels (`pk.autodiff`)": ("test_kernels_on_devices::*",),
    "array programs and their gradients (`pk.jit`, `pk.grad`)": (
        "test_programs::*", "test_devices::*", "test_program_devices::*", "test_graphs::*",
    ),
}  # fmt: skip


def features_of(test: str, dtypes: set[str]) -> list[str]:
    """The rows a case counts in; `test` as ``test_file::test_function``, `dtypes` those of its parameters."""
    return [name for name, patterns in FEATURES.items() if any(_meant(p, test, dtypes) for p in patterns)]


def _meant(pattern: str, test: str, dtypes: set[str]) -> bool:
    name, _, of = pattern.replace("::", "/").partition(":")
    return fnmatch.fnmatchcase(test.replace("::", "/"), name) and (
        not of or bool(dtypes & set(of.split(",")))
    )
