"""What an array program cannot do: refused at its place, with advice, never silently otherwise."""

from __future__ import annotations

import re

import numpy as np
import pytest

import pykern as pk
from pykern.errors import KernelError
from pykern.frontend import complex_numbers, mathematics
from pykern.frontend.program import calls, contractions, reductions, scans
from pykern.language import other_names
from tests.cases.texts import written
from tests.frontend_program.execute import build

X = np.arange(6.0).reshape(2, 3)
OUTSIDE = np.ones(3)


@pk.kernel
def double(y, x):
    i = pk.index()
    y[i] = 2 * x[i]


@pk.kernel
def broken(y):
    y[pk.index()] = y + None


def refused(function, *args, match: str, at: str, static=()) -> KernelError:
    """The error, whose line holds `at`, and which gives advice."""
    with pytest.raises(KernelError, match=re.escape(match)) as caught:
        build(function, *args, static=static)
    span = caught.value.span
    assert span is not None and at in span.source_line()
    return caught.value


def test_shapes():
    def program(x):
        return x + x.T

    refused(program, X, match="do not fit together", at="x + x.T")


def test_products():
    def program(x):
        return x @ x

    refused(program, X, match="inner lengths differ", at="x @ x")


def test_index_outside():
    def program(x):
        return x[2]

    refused(program, X, match="outside of axis 0", at="x[2]")


def test_index_by_an_array():
    def program(x, k):
        return x[k]

    refused(program, X, np.array([0.0, 1.0]), match="an array as an index", at="x[k]")


def test_slice_of_run_time():
    def program(x, n):
        return x[:n]

    error = refused(program, X, 2, match="known at compile time", at="x[:n]")
    assert "pk.static" in str(error.hint)
    build(program, X, 2, static=("n",))


def test_truth_of_an_array():
    def program(x):
        if x > 0:
            x = x + 1
        return x

    error = refused(program, X, match="is not one value", at="if x > 0")
    assert "pk.any" in str(error.hint)


def test_captured_array():
    def program(x):
        return x + OUTSIDE

    refused(program, X, match="pass it as an argument", at="OUTSIDE")


def test_changing_shape_in_a_loop():
    def program(x):
        for _ in pk.range(3):
            x = x.T
        return x

    error = refused(program, X, match="before the loop and", at="for _")
    assert "range(n)" in str(error.hint)


def test_changing_type_in_a_loop():
    def program(x):
        y = pk.zeros((3,), pk.f32)
        for _ in pk.range(3):
            y = y + x.sum(axis=0)
        return y

    refused(program, X, match="`y` is array `y`: f32[3] before the loop", at="for _")


def test_writing_and_reading_views_that_are_copies_here():
    def written(x):
        y = np.diagonal(x)
        y[0] = 3
        return x

    def read(x):
        y = np.diagonal(x)
        x[0] = 3
        return y + 1

    error = refused(written, X, match="is a part of array `x`", at="y[0] = 3")
    assert "copy" in str(error.hint)
    refused(read, X, match="has been written since", at="y + 1")


def test_a_copy_is_no_view():
    def program(x):
        y = x.T.copy()
        x[0] = 3
        y[0] = 2
        z = (x + 1)[0]
        z[0] = 5
        return y + 1, z

    build(program, X)


def test_same_array_on_one_path():
    def program(x, n):
        y = x if n > 1 else x + 1
        y[0] = 3
        return x

    refused(program, X, 2, match="on some path it is the same", at="y[0] = 3")


def test_same_array_on_one_path_written_under_the_other_name():
    def program(x, n):
        y = x if n > 1 else x + 1
        x[0] = 3
        return y

    refused(program, X, 2, match="on some path it is the same", at="x[0] = 3")


def test_first_round_would_write_the_argument():
    def program(x):
        for _ in pk.range(3):
            x[0] = 1
            x = x * 2
        return x

    error = refused(program, X, match="is bound anew in this loop", at="for _")
    assert "x = x.copy()" in str(error.hint)


def test_first_round_would_write_the_argument_two_loops_deep():
    def program(x):
        for _ in pk.range(3):
            for _ in pk.range(2):
                x[0] = 1
                x = x * 2
        return x

    refused(program, X, match="is bound anew in this loop", at="for _")


def test_written_under_another_name_in_a_loop():
    def program(x):
        y = x
        for _ in pk.range(3):
            x[0] = 1
            y = y * 2
        return y

    refused(program, X, match="is bound anew in this loop", at="for _")


def test_after_the_loop_it_may_be_the_argument():
    def program(x, n):
        for _ in pk.range(n):
            x = x * 2
        x[0] = 1
        return x

    refused(program, X, 3, match="on some path it is the same as array `x`", at="x[0] = 1")
    build(program, X, 3, static=("n",))


def test_change_of_places_in_a_while():
    def program(x, y):
        while x.sum() < 10:
            y[...] = x + 1
            x, y = y, x
        return x

    refused(program, X, X.copy(), match="change places in a loop of unknown length", at="while")


def test_float_into_integers():
    def program(x):
        x += 0.5

    refused(program, np.arange(3), match="does not go back", at="x += 0.5")


def test_no_value_on_some_paths():
    def program(x, n):
        if n > 1:
            y = x
        return y

    refused(program, X, 1, match="has no value on some paths", at="return y")


def test_different_forms_on_two_paths():
    def program(x, n):
        return x if n > 1 else x[0]

    refused(program, X, 1, match="have no common type", at="x if n > 1")


def test_recursion():
    refused(calls_itself, X, match="calls itself", at="calls_itself(x)")


def calls_itself(x):
    return calls_itself(x)


def test_kernel_names():
    def program(x):
        return x[pk.index()]

    refused(program, X, match="`index` is not available in array programs", at="pk.index")


def test_launches():
    def no_ndrange(x):
        double(x, x)

    def of_run_time(x, n):
        double(x, x, ndrange=n)

    def into_a_part(x):
        double(np.diagonal(x), x[1], ndrange=2)

    def into_a_scalar(x):
        double(x.sum(), x, ndrange=3)

    def wrong_argument(x):
        double(x, ndrange=3)

    vector = np.ones(3)
    refused(no_ndrange, vector, match="without an ndrange", at="double(x, x)")
    refused(of_run_time, vector, 3, match="known when compiling", at="ndrange=n")
    error = refused(into_a_part, X, match="is a part of array `x`", at="double(np")
    assert "copy" in str(error.hint)
    refused(wrong_argument, vector, match="needs the argument `x`", at="double(x, ndrange=3)")
    with pytest.raises(KernelError):
        build(into_a_scalar, vector)


def test_error_inside_of_a_kernel_says_who_launched_it():
    def program(x):
        broken(x, ndrange=3)

    error = refused(program, np.ones(3), match="`+` takes scalars", at="y + None")
    assert any("launched" in text for text, _ in error.extra_notes)


def test_a_kernel_reads_no_name_that_was_none_in_the_first_round_only():
    @pk.kernel
    def remembers(y):
        last = None
        for k in range(3):
            if last is None:
                y[k] = 1
            last = y[k]

    def program(y):
        remembers(y, ndrange=1)

    refused(program, np.ones(3), match="None in the first iteration", at="last is None")


def test_error_inside_of_a_function_says_who_called_it():
    def program(x):
        return helper(x)

    error = refused(program, X, match="inner lengths", at="x @ x")
    assert any("program" in text for text, _ in error.extra_notes)


def helper(x):
    return x @ x


@pytest.mark.parametrize(
    ("statement", "match"),
    [("x.tobytes()", "no attribute `tobytes`"), ("del x", "`del` is not available in array programs"),
     ("x = {a for a in x}", "set comprehension"), ("x.shape = (3,)", "assigns to names"),
     ("pk.sum(x, axis=5)", "axis 5"), ("pk.sum(x, order=1)", "no keyword `order`"), ("x.reshape(5)", "6 elements"),
     ("pk.concatenate((x, x.T))", "shapes differ"), ("-(x > 0)", "no `-` of bools"), ("+(x > 0)", "no `+` of bools"),
     ("(x > 0) - (x > 1)", "NumPy does not subtract bools"), ("0 < x < 1", "chain of comparisons"),
     ("for k in pk.range(2): x = x + (x, x)[k]", "`k` is known only when this runs"),
     ("x and x", "not one value"), ("x[0, 0, 0]", "3 indices"), ("x[0.5]", "an index must be an integer"),
     ("pk.zeros(x)", "a shape is an integer"), ("x[:, ::0]", "step of a slice"), ("print(x)", "not available"),
     ("x | 1.5", "needs integers"), ("nothing(x)", "not defined")],
)  # fmt: skip
def test_statements(statement, match, tmp_path):
    file = tmp_path / "program.py"
    scope = written(file, f"import pykern as pk\ndef program(x):\n    {statement}\n")
    refused(scope["program"], X, match=match, at=statement)


def test_prints_and_asserts_point_to_the_reference_device():
    def printing(x):
        print(x)

    def asserting(x):
        assert pk.sum(x) > 0.0
        return x

    for program, at in ((printing, "print(x)"), (asserting, "assert pk.sum(x)")):
        error = refused(program, X, match="not available in array programs", at=at)
        assert 'pk.device("python")' in str(error.hint)


def test_other_numbers_of_names_than_items():
    def axes(x):
        a, b, c = x.shape
        return x * a * b * c

    def rows(x):
        a, b, c = x
        return a + b + c

    for function in (axes, rows):
        error = refused(function, X, match="3 names cannot take a tuple of 2", at="a, b, c")
        assert "write 2 names" in str(error.hint)


def test_each_name_of_numpy_that_the_language_knows_is_translated():
    tables = (
        reductions.NAMES,
        scans.NAMES,
        contractions.NAMES,
        calls.HANDLERS,
        mathematics.NAMES,
        mathematics.OF_NUMPY,
        complex_numbers.NAMES,
    )
    translated = {name for table in tables for name in table} | {"min", "max"}
    assert set(other_names.numpy_names().values()) - translated == set()
