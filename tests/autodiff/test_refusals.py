"""What has no derivative that is right is refused at its line, never answered with a number."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import pykern as pk


@pk.kernel
def stencil_in_place(t):
    i = pk.index()
    if 0 < i < t.shape[0] - 1:
        t[i] = t[i] + t[i + 1]  # here


@pk.kernel
def scattered(out, x, index):
    i = pk.index()
    out[index[i]] = x[i]  # here


@pk.kernel
def one_cell(out, x):
    i = pk.index()
    out[0] = x[i]  # here


@pk.kernel
def slots(out, x, count):
    i = pk.index()
    k = pk.atomic_add(count, 0, 1)  # here
    out[k] = x[i]


@pk.kernel
def greatest(out, x):
    i = pk.index()
    pk.atomic_max(out, 0, x[i])  # here


@pk.kernel
def least(out, x):
    i = pk.index()
    pk.atomic_min(out, i // 2, x[i])  # here


@pk.kernel
def last_one(out, x):
    i = pk.index()
    pk.atomic_exchange(out, i // 2, x[i])  # here


@pk.kernel
def through_memory(out, x, t):
    i = pk.index()
    t[i] = x[i] * x[i]  # here
    out[i] = t[i]


def dup(n: int = 8) -> pk.Dup:
    return pk.Dup(np.ones(n), np.ones(n))


REFUSED = {
    "a cell another work-item may write": (stencil_in_place, lambda: (dup(),), "written in the same launch"),
    "an indirect store": (scattered, lambda: (dup(), dup(), np.arange(8)), "two work-items may store"),
    "one cell for all": (one_cell, lambda: (dup(), dup()), "two work-items may store"),
    "slots by atomics": (slots, lambda: (dup(), dup(), np.zeros(1, np.int64)), "order of the work-items"),
    "an atomic maximum": (greatest, lambda: (dup(), dup()), "atomic max"),
    "an atomic minimum": (least, lambda: (dup(), dup()), "atomic min"),
    "an atomic exchange": (last_one, lambda: (dup(), dup()), "atomic exchange"),
    "a plain array in between": (through_memory, lambda: (dup(), dup(), np.zeros(8)), "carries a derivative"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_at_its_line(name):
    kernel, args, reason = REFUSED[name]
    with pytest.raises(pk.NotDifferentiable, match=reason) as caught:
        pk.autodiff(kernel, level="direct")(*args(), ndrange=8)
    lines, first = inspect.getsourcelines(kernel.__wrapped__)
    expected = first + next(n for n, line in enumerate(lines) if line.rstrip().endswith("# here"))
    assert caught.value.span is not None
    assert caught.value.span.line == expected
    assert caught.value.hint


@pytest.mark.parametrize("name", ["an atomic maximum", "an atomic minimum", "an atomic exchange"])
def test_atomics_are_refused_in_forward_mode(name):
    """Who wins is known when the launch is over; tangents are carried while it runs."""
    kernel, args, reason = REFUSED[name]
    with pytest.raises(pk.NotDifferentiable, match=reason) as caught:
        pk.autodiff(kernel, mode="forward")(*args(), ndrange=8)
    assert caught.value.span is not None
    assert "# here" in str(caught.value)


def test_whole_arrays_see_more():
    """What the direct level refuses, the raised level knows as a reduction, or as a value in between."""
    x, dx = np.array([1.0, 4.0, 4.0, 2.0]), np.zeros(4)
    pk.autodiff(greatest)(pk.Dup(np.zeros(1), np.ones(1)), pk.Dup(x, dx), ndrange=4)
    np.testing.assert_array_equal(dx, [0, 0.5, 0.5, 0])
    x, out, dx, dout = (
        np.array([0.3, -0.2, 0.9, 0.6]),
        np.array([0.1, 0.5]),
        np.zeros(4),
        np.array([2.0, 3.0]),
    )
    pk.autodiff(least)(pk.Dup(out, dout), pk.Dup(x, dx), ndrange=4)
    np.testing.assert_array_equal(dx, [0, 2, 0, 0])
    np.testing.assert_array_equal(dout, [0, 3])
    dx = np.zeros(4)
    pk.autodiff(through_memory)(pk.Dup(np.zeros(4), np.ones(4)), pk.Dup(x, dx), np.zeros(4), ndrange=4)
    np.testing.assert_array_equal(dx, 2 * x)


@pytest.mark.parametrize(
    "name",
    [n for n in REFUSED if n not in ("an atomic maximum", "an atomic minimum", "a plain array in between")],
)
def test_refused_on_every_level(name):
    kernel, args, reason = REFUSED[name]
    with pytest.raises(pk.NotDifferentiable, match=reason):
        pk.autodiff(kernel)(*args(), ndrange=8)


def test_a_cell_of_ones_own_is_fine():
    @pk.kernel
    def first_only(out, x):
        i = pk.index()
        if i == 0:
            out[0] = x[0] * x[0]

    dx = np.zeros(4)
    pk.autodiff(first_only)(pk.Dup(np.zeros(1), np.ones(1)), pk.Dup(np.full(4, 3.0), dx), ndrange=4)
    np.testing.assert_array_equal(dx, [6, 0, 0, 0])


def test_overlapping_arrays_are_refused():
    x = np.ones(8)
    with pytest.raises(pk.NotDifferentiable, match="overlap"):
        pk.autodiff(gamma_free)(pk.Dup(x, np.ones(8)), pk.Dup(x, np.ones(8)), ndrange=8)


@pk.kernel
def gamma_free(out, x):
    i = pk.index()
    out[i] = x[i] * 2


SHADOWS = [
    (lambda: pk.Dup(np.ones(4), np.ones(5)), pk.LaunchError, r"float64\[5\].*float64\[4\]"),
    (lambda: pk.Dup(np.ones(4), np.ones(4, np.float32)), pk.LaunchError, "float32"),
    (lambda: pk.Dup(1.5, 0.0), pk.LaunchError, "0-d array"),
    (lambda: pk.Dup(3, np.zeros(())), pk.KernelTypeError, "integer"),
    (lambda: pk.Dup(np.ones(4, np.int64), np.ones(4, np.int64)), pk.NotDifferentiable, "integers"),
]


@pytest.mark.parametrize("case", range(len(SHADOWS)))
def test_shadows_that_do_not_fit(case):
    make, kind, text = SHADOWS[case]
    with pytest.raises(kind, match=text):
        pk.autodiff(gamma_free)(np.zeros(4), make(), ndrange=4)


def test_nothing_to_differentiate():
    with pytest.raises(pk.LaunchError, match=r"pk\.Dup"):
        pk.autodiff(gamma_free)(np.zeros(4), np.zeros(4), ndrange=4)


def test_arguments_of_autodiff():
    with pytest.raises(pk.KernelTypeError, match="reverse"):
        pk.autodiff(gamma_free, mode="backward")
    with pytest.raises(pk.KernelTypeError, match="direct"):
        pk.autodiff(gamma_free, level="B")
    with pytest.raises(pk.KernelTypeError, match=r"@pk\.kernel"):
        pk.autodiff(dup)


@pk.kernel
def jump(out, x):
    i = pk.index()
    out[i] = x[i] if x[i] > 0.2 else x[i] + 1.0


def test_what_differs_is_named():
    """Central differences see the jump at 0.2, the derivative does not."""
    with pytest.raises(AssertionError, match=r"gradient by `x\[1\]` is .*central differences give"):
        pk.check_grads(jump, (np.zeros(3), np.array([0.1, 0.2, 0.3])), ndrange=3)


def test_the_reference_device_has_no_derivatives():
    with pytest.raises(pk.DeviceError, match="derivatives"):
        pk.autodiff(gamma_free)(dup(), dup(), ndrange=8, device="python")


@pk.jit
def grown(x, n):
    for _ in pk.range(n):
        x = x * x * 0.5
    return x.sum()


@pk.jit
def grown_so_often(x, n: pk.static):
    for _ in pk.range(n):
        x = x * x * 0.5
    return x.sum()


def test_states_of_a_loop_without_a_known_count_are_refused_on_the_cpu():
    x = np.random.default_rng(0).random(50)
    with pytest.raises(pk.NotDifferentiable, match="number of its trips is known") as caught:
        pk.grad(grown)(x, 3)
    assert caught.value.span is not None and "pk.range(n)" in str(caught.value)
    np.testing.assert_allclose(pk.grad(grown_so_often)(x, 3), 8 * x**7 / 2**7)
