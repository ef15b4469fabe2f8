"""Functions defined inside of array programs: what Python gives for the same function, and errors at their place."""

from __future__ import annotations

import re

import numpy as np
import pytest

import pykern as pk
from pykern.errors import KernelError
from tests.cases.texts import written

OUTER = 3.0


def apply(f, *values):
    return f(*values)


def twice(f):
    return lambda a: f(f(a))


def late_binding(x, n):
    k = 1.0

    def f(a):
        return a * k

    first = f(x)
    k = 2.0
    return first, f(x), OUTER * x


def names_of_its_own(x, n):
    k, t = 1.0, x

    def f(a):
        k = 5.0
        t = a * k
        x = t + 1  # not the array around
        return x * 1

    return f(x), k, t


def defaults(x, n):
    k = 2.0

    def f(a, b=k + 1, *, c=x[0]):
        return a * b + c

    k = 100.0
    return f(x), f(x, 1.0), f(b=2.0, a=x), f(x, c=0.5)


def any_number_of_arguments(x, n):
    def f(first, *rest, scale=1.0, **more):
        total = first * scale
        for r in rest:
            total = total + r
        return total + more["t"] * len(more)

    options = {"scale": 2.0, "t": 3.0}
    return f(x, x, 2 * x, **options), f(x, t=1.0, u=0.0), f(*(x, x), t=0.0)


def forms_of_results(x, n):
    def f(a):
        """With words."""
        return {"twice": 2 * a, "pair": (a, a.sum())}, n

    (found, m) = f(x)
    return found["twice"] + found["pair"][1], m, f(x[1:])[0]["pair"]


def factories(x, n):
    def make(n):
        def f(a):
            return a * n + m

        return f

    m = 1.0
    f, g = make(2.0), make(3.0)
    m = 10.0
    return f(x), g(x), make(4.0)(x)


def passed_around(x, n):
    def compose(f, g):
        return lambda a: f(g(a))

    h = compose(np.sin, compose(lambda a: a * 2, np.cos))
    nested = apply(lambda f, a: apply(f, a), lambda b: apply(h, b), x)
    return h(x), apply(lambda a, b: a + b, x, 1.0), twice(twice(lambda a: a + n))(x), nested


def held_in_structures(x, n):
    layers = (lambda a: a + 1, np.tanh, lambda a: a * n)
    table = {"up": lambda a: a + 1, "down": lambda a: a - 1}
    y = x
    for layer in layers:
        y = layer(y)
    return y, table["up"](x) * table["down"](x), layers[0](x)


def comprehensions(x, n):
    k = 100.0
    late = [lambda a: a * k for k in (1.0, 2.0, 3.0)]  # noqa: B023
    at_once = [(lambda a: a * k)(x) for k in (1.0, 2.0, 3.0)]
    bound = [lambda a, k=k: a * k for k in (1.0, 2.0, 3.0)]
    return [f(x) for f in late], at_once, [f(x) for f in bound], x * k


def in_a_loop(x, n):
    s = x * 0

    def body(a):
        return a + 0.5 * s

    for i in range(n):
        s = body(x) + i

        def again(a):
            return a + i  # noqa: B023

        s = again(s)
    return s, body(x)


def on_paths(x, n):
    y = x

    def f():
        if n > 2:
            return y * 2
        return y * 3

    if n > 1:
        y = y + 1
        z = f()
    else:
        z = f()
    return z, f()


def loops_and_early_returns_inside(x, n):
    def f(a, m):
        for k in range(m):
            if k == 2:
                return a * k
            a = a + k
        return a

    return f(x, n), f(x, 1)


def arrays_in_place(x, n):
    y = np.zeros_like(x)
    z = y

    def f(v):
        y[...] = y + v
        return y.sum()

    first = f(x)
    second = f(2 * x)
    return z, first, second


def shadows(x, n):
    def sin(a):
        return a + OUTER

    def np_like(helper):
        return helper * 2

    return sin(x), np_like(x), np.sin(x)


def the_name_of_the_loop(x, n):
    def f():
        return k

    total = 0
    for k in (1, 2, 3):  # noqa: B007
        total = total + f()
    return total * x


def read_through_two_functions(x, n):
    a = x

    def outer():
        b = a * 2

        def inner():
            return a + b

        return inner

    f = outer()
    a = x * 10
    return f(), outer()()


PROGRAMS = [
    late_binding, names_of_its_own, defaults, any_number_of_arguments, forms_of_results, factories, passed_around,
    held_in_structures, comprehensions, in_a_loop, on_paths, loops_and_early_returns_inside, arrays_in_place, shadows,
    the_name_of_the_loop, read_through_two_functions,
]  # fmt: skip


def same(found, wanted):
    if isinstance(wanted, tuple | list):
        assert len(found) == len(wanted)
        for one, other in zip(found, wanted, strict=True):
            same(one, other)
    else:
        np.testing.assert_allclose(found, wanted, rtol=1e-14)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_as_python_has_it(program, rng):
    compiled = pk.jit(program)
    for n, length in ((1, 5), (2, 5), (3, 5), (2, 1)):
        x = rng.normal(size=length)
        same(compiled(x.copy(), n), program(x.copy(), n))


def test_static_counts_and_empty_arrays():
    @pk.jit
    def program(x, n: pk.static):
        def power(a, k):
            made = 1.0 + 0 * a
            for _ in range(k):
                made = made * a
            return made

        return power(x, n), [power(x, k).sum() for k in range(n)]

    x = np.zeros((0, 3))
    powers, sums = program(x, 3)
    assert powers.shape == (0, 3) and sums == (0.0, 0.0, 0.0)
    np.testing.assert_allclose(program(np.full(2, 3.0), 4)[0], 81.0)


def test_names_of_the_file_that_only_a_local_function_reads():
    @pk.jit
    def program(x):
        return (lambda a: helper(a) * OUTER)(x)

    global OUTER
    x = np.arange(3.0)
    np.testing.assert_array_equal(program(x), (x + 1) * 3)
    try:
        OUTER = 4.0
        np.testing.assert_array_equal(program(x), (x + 1) * 4)
    finally:
        OUTER = 3.0


def helper(a):
    def inner(b):
        return b + 1

    return inner(a)


def test_on_the_reference_device(rng):
    x = rng.normal(size=4)
    with pk.device("python"):
        same(pk.jit(factories)(x, 2), factories(x, 2))


@pytest.mark.parametrize(
    ("lines", "match", "at", "hint"),
    [
        (["def f(a): return f(a - 1)", "return f(x)"], "`f` calls itself", "f(a - 1)", "pk.range"),
        (["def f(a): return g(a)", "def g(a): return f(a)", "return g(x)"], "`g` calls itself", "g(a)", "pk.range"),
        (["f = lambda g: g(g)", "return f(f)"], "calls itself", "g(g)", "pk.range"),
        (["def y(g): return lambda a: g(y(g))(a)", "return y(lambda r: lambda a: r(a))(x)"], "calls itself", "", ""),
        (["k = 1", "def f(a):", "    nonlocal k", "    k = 2", "return x"], "`nonlocal` is", "nonlocal k", "return"),
        (["def f(a):", "    global k", "    k = 2", "return x"], "`global` is not", "global k", "return the value"),
        (["k = 1.0", "def f(a):", "    k += 1", "    return a * k", "return f(x)"], "read before it gets", "k += 1",
         "makes `k` a local variable, as in Python"),
        (["def f(a, b): return a", "return f(x)"], "missing a required argument: 'b'", "f(x)", r"f\(a, b\)"),
        (["return (lambda a: a)(x, x)"], "too many positional", "(lambda a: a)(x, x)", "lambda"),
        (["def f(a, b=2): return a", "return f(x, c=1)"], "unexpected keyword argument 'c'", "f(x, c=1)", "b=2"),
        (["def f(a):", "    if a[0] > 0: return a", "return f(x)"], "returns a value on some paths", "f(x)", "return"),
        (["@pk.jit", "def f(a): return a", "return f(x)"], "a decorator inside", "pk.jit", "leave it out"),
        (["return lambda: x"], "cannot return the function `<lambda>`", "def program", "arrays"),
        (["def f(): return later", "z = f()", "later = 1", "return z"], "`later` is not defined", "later", "value"),
        (["def f(a): return a @ a[:1]", "return f(x)"], "inner lengths", "a @ a[:1]", ""),
        (["return (lambda **k: k)(**x)"], "`\\*\\*` spreads a dict", "x)", "leave out"),
        (["if x[0] > 0:", "    f = lambda a: a", "else:", "    f = lambda a: -a", "return f(x)"],
         "`f` is the function", "f(x)", "another name"),
        (["async def f(a): return a", "return x"], "`async def` is not available", "async def", "define"),
    ],
)  # fmt: skip
def test_refused(lines, match, at, hint, tmp_path):
    file = tmp_path / "program.py"
    scope = written(file, "\n".join(["def program(x):", *(f"    {line}" for line in lines), ""]), {"pk": pk})
    with pytest.raises(KernelError, match=match) as caught:
        pk.jit(scope["program"])(np.ones(3))
    error = caught.value
    assert error.span is not None
    line = file.read_text().splitlines()[error.span.line - 1]
    assert line[error.span.column :].startswith(at)
    assert re.search(hint, str(error.hint))
    assert len(str(error)) < 3000


def test_who_called_it_is_told():
    @pk.jit
    def program(x):
        def f(a):
            return a @ a[:1]

        return apply(f, x)

    with pytest.raises(KernelError) as caught:
        program(np.ones(3))
    notes = [text for text, _ in caught.value.extra_notes]
    assert notes == ["called from `apply`", "called from `program`"]
