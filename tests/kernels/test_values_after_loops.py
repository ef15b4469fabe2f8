"""Names that have a value after a loop as in Python: of conditions with ``:=``, of ranges known not to be empty.

Each kernel runs on the devices and as plain Python, and gives the numbers that are written beside it.
"""

from __future__ import annotations

import ast
import textwrap

import numpy as np
import pytest

import pykern as pk
from pykern.frontend.liveness import read_after

SIZE = 7


@pk.kernel
def target_of_a_constant_range(y, x):
    i = pk.index()
    for j in range(3):
        y[i] += x[j]
    y[i] += 10 * j  # 0 + 1 + 2 + 20


@pk.kernel
def target_of_a_range_that_counts_down(y, x):
    i = pk.index()
    for j in range(9, 2, -3):
        y[i] += j
    y[i] += 100 * j  # 9 + 6 + 3 + 300


@pk.kernel
def target_of_a_loop_left_by_break(y, x):
    i = pk.index()
    for j in range(7):
        if x[j] >= i:
            break
    y[i] = 10 * j


@pk.kernel
def target_that_was_a_float(y, x):
    i = pk.index()
    j = x[i]
    for j in range(3):  # noqa: B007 - it is read behind the loop
        y[i] += 1
    y[i] += 10 * j  # 3 + 20


@pk.kernel
def name_of_the_body(y, x):
    i = pk.index()
    for j in range(4):
        last = x[j] + 0.5
    y[i] = last + j  # 3.5 + 3


@pk.kernel
def tuple_of_the_body(y, x):
    i = pk.index()
    for j in range(1, 4):
        pair = (x[j], j * 2)
    y[i] = pair[0] + pair[1]  # 3 + 6


@pk.kernel
def nested(y, x):
    i = pk.index()
    for j in range(3):
        for k in range(2):
            a = x[j] * k
        y[i] += a + k
    y[i] += 10 * j + 100 * k  # 0 + 1 + 2 + 3 + 20 + 100


@pk.kernel
def name_of_a_condition(y, x):
    i = pk.index()
    n = 0
    while (c := x[n]) < i:
        y[i] += 1
        n += 1
    y[i] += 10 * c + 100 * n


@pk.kernel
def name_of_a_condition_read_in_the_body(y, x):
    i = pk.index()
    n = 0
    while (c := n * 2.0) < 5:
        y[i] += c
        n += 1
    y[i] += 100 * c  # 0 + 2 + 4 + 600


@pk.kernel
def name_of_a_condition_of_a_loop_with_break(y, x):
    i = pk.index()
    n = 0
    while (c := n * 2) < 8:
        if n == i:
            break
        n += 1
    y[i] = 10 * c + n


@pk.kernel
def name_of_a_part_of_a_condition(y, x):
    i = pk.index()
    n, c = 0, -1.0
    while n < 3 and (c := x[n] * 2) < i:
        n += 1
    y[i] = 10 * c + n


@pk.kernel
def name_that_a_condition_may_give(y, x):
    i = pk.index()
    t = -1.0
    both = x[i] > 2 and (t := x[i] * 3) > 10
    y[i] = t + 100 * int(both)


@pk.func
def first_from(x, least):
    k = 0
    while True:
        if x[k] >= least:
            return k
        k += 1


@pk.kernel
def function_left_by_returns_alone(y, x):
    i = pk.index()
    y[i] = first_from(x, i) + 10.0


INDEX = np.arange(SIZE)
EXPECTED = {
    target_of_a_constant_range: 23, target_of_a_range_that_counts_down: 318,
    target_of_a_loop_left_by_break: 10 * INDEX, target_that_was_a_float: 23, name_of_the_body: 6.5,
    tuple_of_the_body: 9, nested: 126, name_of_a_condition: INDEX + 10 * INDEX + 100 * INDEX,
    name_of_a_condition_read_in_the_body: 606, name_of_a_condition_of_a_loop_with_break: 21 * np.minimum(INDEX, 4),
    name_of_a_part_of_a_condition: [0, 21, 21, 42, 42, 43, 43],
    name_that_a_condition_may_give: [-1, -1, -1, 9, 112, 115, 118], function_left_by_returns_alone: INDEX + 10,
}  # fmt: skip


@pytest.mark.parametrize(
    "device", ["python", "cpu", "opencl:0", "vulkan:0", "webgpu:0", "metal:emulated:0"], indirect=True
)
@pytest.mark.parametrize("kernel", EXPECTED, ids=lambda v: v.__name__)
def test_kernel(kernel, device):
    x, y = np.arange(SIZE, dtype=np.float32), np.zeros(SIZE, np.float32)
    kernel(y, x, ndrange=SIZE, device=device)
    assert np.array_equal(y, np.broadcast_to(np.asarray(EXPECTED[kernel], np.float32), SIZE))


def test_a_value_after_a_loop_is_differentiated():
    """`last` is ``x[3] * x[i]``: its shadow goes to both."""

    @pk.kernel
    def k(y, x):
        i = pk.index()
        for j in range(4):
            last = x[j] * x[i]
        y[i] = last * j

    x = np.arange(1.0, 6.0)
    dx = np.zeros(5)
    pk.autodiff(k)(pk.Dup(np.zeros(5), np.ones(5)), pk.Dup(x, dx), ndrange=5)
    expected = np.full(5, 3 * x[3])
    expected[3] += 3 * x.sum()
    assert np.allclose(dx, expected)
    pk.check_grads(k, (np.zeros(5), x), ndrange=5)


@pk.jit
def after_a_loop(x):
    for k in pk.range(3):
        t = x * k
    return t + 10 * k


@pk.jit
def after_a_condition(x):
    n = 0
    while (s := (x * n).sum()) < 5:
        n = n + 1
    return s + 100 * n


@pk.jit
def after_a_condition_and_break(x):
    n = 0
    while (s := x[0] + n) < 50:
        n = n + 1
        if n > 3:
            break
    return s + 100 * n


@pk.jit
def returned_from_an_endless_loop(x):
    k = 0
    while True:
        if k > 3:
            return x * k
        k += 1


@pytest.mark.parametrize(
    "program",
    [after_a_loop, after_a_condition, after_a_condition_and_break, returned_from_an_endless_loop],
    ids=lambda p: p.__name__,
)
@pytest.mark.parametrize("device", ["cpu", "opencl:0"], indirect=True)
def test_program(program, device, rng):
    x = rng.random(SIZE) + 1
    with pk.device("python"):
        expected = program(x)
    assert np.allclose(program(x, device=device), expected)


def test_a_gradient_of_what_a_loop_left():
    @pk.jit
    def loss(x):
        for k in pk.range(3):
            t = x * x * k
        return (t * k).sum()

    x = np.arange(1.0, 5.0)
    assert np.allclose(pk.grad(loss)(x), 8 * x)


@pytest.mark.parametrize("count", [0, 3])
def test_a_range_of_unknown_length_may_leave_no_value(count):
    @pk.kernel
    def k(y, n):
        for j in range(n):  # noqa: B007
            pass
        y[0] = j

    @pk.kernel
    def empty(y):
        for j in range(0):  # noqa: B007
            pass
        y[0] = j

    with pytest.raises(pk.KernelSyntaxError, match="`j` has no value on some paths"):
        k(np.zeros(1), count, ndrange=1)
    with pytest.raises(pk.KernelSyntaxError, match="`j` has no value on some paths"):
        empty(np.zeros(1), ndrange=1)


def test_break_before_an_assignment_leaves_no_value():
    """Python would raise where the first iteration is left early."""

    @pk.kernel
    def k(y, x):
        for j in range(3):
            if x[j] > 5:
                break
            t = x[j]
        y[0] = t

    with pytest.raises(pk.KernelSyntaxError, match="`t` has no value on some paths"):
        k(np.zeros(1), np.ones(3), ndrange=1)


def test_what_nobody_reads_later_is_not_carried():
    """Counters and temporaries of the same names in several loops, read in them alone."""

    @pk.kernel
    def k(y, x):
        i = pk.index()
        s = 0.0
        for j in range(100):
            t = x[j] * 2
            s += t
        for j in range(100):
            if x[j] > 5:
                continue
            t = x[j] + 1
            s += t * t
        t = s
        for j in range(3):
            y[i] += t + j

    text = k.lower(pk.spec((100,), pk.f32), pk.spec((100,), pk.f32), ndrange=100).as_text("kern")
    loops = [line for line in text.splitlines() if "scf.for" in line]
    assert [line.partition("iter_args")[2].count("=") for line in loops] == [1, 1, 0], loops


@pytest.mark.parametrize(
    ("rest", "reads"),
    [
        ("y[0] = t", True),
        ("t = 1\ny[0] = t", False),
        ("t += 1", True),
        ("t[0] = 1", True),
        ("if x:\n    t = 1\ny[0] = t", True),
        ("if x:\n    t = 1\nelse:\n    t = 2\ny[0] = t", False),
        ("if x:\n    return\nt = 1", False),
        ("if x:\n    t = 1\nelse:\n    return t", True),
        ("for t in range(n):\n    y[0] = t", False),
        ("for t in range(n):\n    y[0] = t\ny[0] = t", True),
        ("for k in range(n):\n    t = 1\ny[0] = t", True),
        ("for k in range(n):\n    y[0] = t\n    t = 1", True),
        ("while t:\n    pass", True),
        ("f = lambda: t", True),
        ("y[0] = [t for t in x]", True),
        ("x = y", False),
    ],
)
def test_what_is_read_later(rest, reads):
    """After a loop of its own, in the body of another loop, and behind a break."""
    own = "for j in range(3):\n    t = j\n"
    around = {
        "": (own + rest, reads),
        "the next iteration stores it": (
            f"for q in range(n):\n{textwrap.indent(own, '    ')}    {rest.replace(chr(10), chr(10) + '    ')}",
            reads,
        ),
        "read at the start of the next iteration": (
            f"for q in range(n):\n    y[1] = t\n{textwrap.indent(own, '    ')}    x = 1",
            True,
        ),
        "a break skips what stores it": (
            f"for q in range(n):\n{textwrap.indent(own, '    ')}    if x:\n        break\n    t = 0\ny[1] = t",
            True,
        ),
    }
    for body, expected in around.values():
        function = ast.parse(f"def f(x, y, n):\n{textwrap.indent(body, '    ')}").body[0]
        loop = next(n for n in ast.walk(function) if isinstance(n, ast.For) and ast.unparse(n) == own.strip())
        assert read_after(function, loop, "t") == expected, body
