"""Differentiation of tensor programs with loops and branches; what is stored, and how much."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tests.autodiff.tensor_programs import Program, check, return_only
from tests.cases.tensor_texts import function, heat_step, pointwise, tensor, time_loop

V = tensor(6)


def sample(rng: np.random.Generator, *sizes: int) -> np.ndarray:
    return rng.standard_normal(sizes)


def program(body: str, results: list[str], arguments: str = f"%x: {V}", **options) -> Program:
    return Program(function(arguments, body, results), **options)


def stored(text: str) -> list[int]:
    """Sizes of what a function allocates with more dimensions than its data has: its stacks."""
    return [int(n) for n in re.findall(r"tensor\.empty\(\) : tensor<(\d+)x6xf64>", text)]


LINEAR = "%half_ = arith.constant 0.5 : f64\n" + pointwise(
    "%next", ["%u"], "%r = arith.mulf %a, %half_ : f64", V
)
COSINE = pointwise("%next", ["%u"], "%p = arith.mulf %a, %a : f64\n%r = math.cos %p : f64", V)
CHECKPOINTS = [
    "all",
    "every(1)",
    "every(3)",
    "every(4)",
    "every(100)",
    "binomial(1)",
    "binomial(2)",
    "binomial(3)",
    "binomial(20)",
]


@pytest.mark.parametrize("checkpoint", CHECKPOINTS)
def test_nonlinear_loop(checkpoint, rng):
    found = program(time_loop(V, 10, COSINE), [f"%y: {V}"], checkpoint=checkpoint)
    check(found, [sample(rng, 6)], rng, differences=checkpoint == "all")


def test_one_value_a_step_is_stored(rng):
    found = program(time_loop(V, 10, COSINE), [f"%y: {V}"])
    assert stored(found.function("f.vjp")) == [10]
    found = program(time_loop(V, 10, COSINE), [f"%y: {V}"], checkpoint="every(4)")
    assert sorted(stored(found.function("f.vjp"))) == [3, 4]
    found = program(time_loop(V, 10, COSINE), [f"%y: {V}"], checkpoint="binomial(2)")
    assert max(stored(found.function("f.vjp"))) <= 4


@pytest.mark.parametrize("checkpoint", CHECKPOINTS)
def test_a_linear_loop_stores_nothing(checkpoint, rng):
    def drop_primal(module) -> None:
        """The caller that wants the gradient alone."""
        return_only(module, "f.vjp", 1)

    found = program(time_loop(V, 10, LINEAR), [f"%y: {V}"], checkpoint=checkpoint)
    check(found, [sample(rng, 6)], rng)
    text = program(
        time_loop(V, 10, LINEAR), [f"%y: {V}"], checkpoint=checkpoint, change=drop_primal
    ).function("f.vjp")
    assert stored(text) == []
    split = checkpoint in ("every(3)", "every(4)")
    assert text.count("scf.for") == (2 if split else 1)  # the forward loop is gone


@pytest.mark.parametrize("nonlinear", [False, True])
def test_time_steps_of_a_stencil(nonlinear, rng):
    x = tensor(6, 7)
    body = time_loop(x, 5, heat_step("%next", "%u", 6, 7, nonlinear))
    for checkpoint in ("all", "every(2)", "binomial(2)") if nonlinear else ("all",):
        found = Program(function(f"%x: {x}", body, [f"%y: {x}"]), checkpoint=checkpoint)
        check(found, [sample(rng, 6, 7)], rng)


def test_outer_values_bounds_steps_and_scalars(rng):
    """A loop from 3 below 20 by 4 that carries a scalar, uses its variable and reads values from outside."""
    body = (
        """
%lb = arith.constant 3 : i64
%ub = arith.constant 20 : i64
%st = arith.constant 4 : i64
%s = tensor.extract %x[%i1] : tensor<6xf64>
%y, %z = scf.for %t = %lb to %ub step %st iter_args(%u = %x, %v = %s) -> (tensor<6xf64>, f64) : i64 {
  %f = arith.sitofp %t : i64 to f64
  %g = arith.mulf %f, %c : f64
  %h = math.sin %g : f64
"""
        + pointwise(
            "%next",
            ["%u", "%w"],
            "%p = arith.mulf %a, %h : f64\n%q = arith.mulf %v, %b : f64\n%r = arith.addf %p, %q : f64",
            V,
        )
        + """
  %e0 = tensor.extract %next[%i0] : tensor<6xf64>
  %e1 = arith.mulf %e0, %v : f64
  %e2 = math.cos %e1 : f64
  scf.yield %next, %e2 : tensor<6xf64>, f64
}
"""
    )
    for checkpoint in ("all", "every(2)", "binomial(1)"):
        found = program(
            body,
            [f"%y: {V}", "%z: f64"],
            f"%x: {V}, %w: {V}, %c: f64",
            active=(0, 1, 2),
            checkpoint=checkpoint,
        )
        check(found, [sample(rng, 6), sample(rng, 6), 0.3], rng)


@pytest.mark.parametrize("checkpoint", ["all", "every(2)"])
@pytest.mark.parametrize("trips", [0, 1, 5])
def test_trip_count_known_at_run_time(checkpoint, trips, rng):
    body = f"%y = scf.for %t = %i0 to %n step %i1 iter_args(%u = %x) -> ({V}) {{\n{COSINE}scf.yield %next : {V}\n}}\n"
    found = program(body, [f"%y: {V}"], f"%x: {V}, %n: index", checkpoint=checkpoint)
    check(found, [sample(rng, 6), trips], rng)


def test_a_loop_that_never_runs(rng):
    check(program(time_loop(V, 0, COSINE), [f"%y: {V}"]), [sample(rng, 6)], rng)


def test_nested_loops(rng):
    inner = COSINE.replace("%u", "%q").replace("%next", "%m")
    body = f"""
%n = arith.constant 4 : index
%y = scf.for %t = %i0 to %n step %i1 iter_args(%u = %x) -> ({V}) {{
  %k = arith.addi %t, %i1 : index
  %next = scf.for %s = %i0 to %k step %i1 iter_args(%q = %u) -> ({V}) {{
{inner}
    scf.yield %m : {V}
  }}
{pointwise("%p", ["%next", "%u"], "%r = arith.mulf %a, %b : f64", V)}
  scf.yield %p : {V}
}}
"""
    for checkpoint in ("all", "every(3)", "binomial(2)"):
        check(program(body, [f"%y: {V}"], checkpoint=checkpoint), [sample(rng, 6)], rng)


def test_loop_over_slices(rng):
    """Rows of a matrix go into a state, states into rows: an unrolled recurrence."""
    x = tensor(5, 6)
    step = f"""
  %row = tensor.extract_slice %x[%t, 0] [1, 6] [1, 1] : {x} to {V}
{pointwise("%next", ["%u", "%row"], "%p = arith.mulf %a, %b : f64; %r = math.tanh %p : f64", V)}
  %k2 = tensor.insert_slice %next into %k[%t, 0] [1, 6] [1, 1] : {V} into {x}
"""
    body = f"""
%n = arith.constant 5 : index
%e = tensor.empty() : {x}
%y, %h = scf.for %t = %i0 to %n step %i1 iter_args(%k = %e, %u = %w) -> ({x}, {V}) {{
{step}
  scf.yield %k2, %next : {x}, {V}
}}
"""
    for checkpoint in ("all", "every(2)", "binomial(1)"):
        found = program(
            body,
            [f"%y: {x}", f"%h: {V}"],
            f"%x: {x}, %w: {V}",
            active=(0, 1),
            checkpoint=checkpoint,
            second=True,
        )
        check(found, [sample(rng, 5, 6), sample(rng, 6)], rng)
    text = program(body, [f"%y: {x}", f"%h: {V}"], f"%x: {x}, %w: {V}", active=(0, 1)).function("f.vjp")
    assert text.count("tensor<5x5x6xf64>") == 0  # the rows written are not stored in every step


BRANCH = f"""
%v = tensor.extract %x[%i0] : {V}
%p = arith.cmpf ogt, %v, %zero : f64
%y, %z = scf.if %p -> ({V}, f64) {{
{pointwise("%q", ["%x"], "%m = arith.mulf %a, %a : f64; %r = arith.mulf %m, %c : f64", V)}
  %k = math.sin %c : f64
  scf.yield %q, %k : {V}, f64
}} else {{
{pointwise("%q", ["%w"], "%r = math.tanh %a : f64", V)}
  scf.yield %q, %v : {V}, f64
}}
"""


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_branches(sign, rng):
    found = program(
        BRANCH, [f"%y: {V}", "%z: f64"], f"%x: {V}, %w: {V}, %c: f64", active=(0, 1, 2), second=True
    )
    x = sample(rng, 6)
    x[0] = sign * (0.5 + abs(x[0]))
    check(found, [x, sample(rng, 6), 0.7], rng)


def test_branch_in_a_loop(rng):
    """Odd steps square, even steps take the cosine, and a loop stands in one branch."""
    step = f"""
  %two = arith.constant 2 : index
  %odd = arith.remui %t, %two : index
  %p = arith.cmpi eq, %odd, %i1 : index
  %next = scf.if %p -> ({V}) {{
{pointwise("%q", ["%u", "%x"], "%r = arith.mulf %a, %b : f64", V)}
    scf.yield %q : {V}
  }} else {{
    %q = scf.for %s = %i0 to %two step %i1 iter_args(%k = %u) -> ({V}) {{
{pointwise("%m", ["%k"], "%r = math.cos %a : f64", V)}
      scf.yield %m : {V}
    }}
    scf.yield %q : {V}
  }}
"""
    for checkpoint in ("all", "every(2)", "binomial(2)"):
        check(program(time_loop(V, 5, step), [f"%y: {V}"], checkpoint=checkpoint), [sample(rng, 6)], rng)


NEWTON = """
%eps = arith.constant 1.0e-15 : f64
%y = scf.while (%u = %c) : (f64) -> f64 {
  %q = arith.mulf %u, %u : f64
  %d = arith.subf %q, %c : f64
  %m = math.absf %d : f64
  %e = arith.mulf %eps, %c : f64
  %f = arith.constant 4.0 : f64
  %e4 = arith.mulf %e, %f : f64
  %p = arith.cmpf ogt, %m, %e4 : f64
  scf.condition(%p) %u : f64
} do {
^bb0(%v: f64):
  %q = arith.divf %c, %v : f64
  %s = arith.addf %v, %q : f64
  %h = arith.mulf %s, %half : f64
  scf.yield %h : f64
}
"""


@pytest.mark.parametrize("c", [2.0, 9.0])
def test_newton_in_a_while(c, rng):
    found = program(NEWTON, ["%y: f64"], "%c: f64", second=True)
    check(found, [c], rng)
    value, slope = found.call("f.vjp", c, 1.0)
    np.testing.assert_allclose([value, slope], [np.sqrt(c), 0.5 / np.sqrt(c)], rtol=1e-12)


def test_while_that_passes_other_values(rng):
    """The condition hands on a tensor computed before it, and the loop stops by the state."""
    body = f"""
%bound = arith.constant 4.0 : f64
%k, %y = scf.while (%u = %x, %s = %one) : ({V}, f64) -> (f64, {V}) {{
{pointwise("%q", ["%u"], "%t = math.sin %a : f64; %r = arith.mulf %t, %s : f64", V)}
  %p = arith.cmpf olt, %s, %bound : f64
  %d = arith.mulf %s, %c : f64
  scf.condition(%p) %d, %q : f64, {V}
}} do {{
^bb0(%d: f64, %v: {V}):
{pointwise("%m", ["%v", "%x"], "%r = arith.addf %a, %b : f64", V)}
  scf.yield %m, %d : {V}, f64
}}
"""
    for checkpoint in ("all", "every(2)"):
        found = program(
            body, ["%k: f64", f"%y: {V}"], f"%x: {V}, %c: f64", active=(0, 1), checkpoint=checkpoint
        )
        check(found, [sample(rng, 6), 1.3], rng)


def test_integers_carried_in_a_loop(rng):
    """A place that moves is stored as it is needed, and is no float."""
    body = f"""
%n = arith.constant 4 : index
%y, %k = scf.for %t = %i0 to %n step %i1 iter_args(%u = %x, %p = %i1) -> ({V}, index) {{
  %e = tensor.extract %u[%p] : {V}
  %f = arith.mulf %e, %e : f64
  %six = arith.constant 6 : index
  %q = arith.addi %p, %t : index
  %w = arith.remui %q, %six : index
  %o = tensor.insert %f into %u[%w] : {V}
  scf.yield %o, %w : {V}, index
}}
"""
    check(program(body, [f"%y: {V}", "%k: index"]), [sample(rng, 6)], rng)
