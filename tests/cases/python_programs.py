"""Programs with loops, branches and writes into their arguments, which run as plain Python, too.

Comes in: nothing. Goes out: `CASES`, each a function and its arguments.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import pykern as pk

CASES: list[tuple[Callable, tuple]] = []


def case(*arguments):
    """A function to be called with these; a tuple is the shape of an array."""

    def add(function):
        CASES.append((function, arguments))
        return function

    return add


@case((20,), 3)
def while_loop(x, n):
    k = 0
    while k < n:
        x = x * 2 + 1
        k = k + 1
    return x


@case((20,), 5)
def cond_in_loop(x, n):
    y = x * 0
    for i in pk.range(n):
        if i % 2 == 0:
            y = y + x
        else:
            y = y * 2
    return y


@case((20,), 5)
def cond_swap(x, n):
    a = x + 1
    b = x * 2
    for i in pk.range(n):
        if i % 3 == 0:
            a, b = b, a
        else:
            a = a + b
    return a, b


@case((20,), (20,))
def inplace_args(x, y):
    x[1:-1] = x[1:-1] + y[:-2]
    y[...] = x * 2
    return pk.sum(x)


@case((30,), 4)
def inplace_loop(x, n):
    for _ in pk.range(n):
        x[1:-1] = 0.5 * (x[2:] + x[:-2])


@case((30,), (30,), 4)
def two_fields(u, v, n):
    for _ in pk.range(n):
        un = u + 0.1 * v
        v = v - 0.1 * u
        u = un
    return u, v


@case((10, 12), 3)
def wave(u, n):
    p = u.copy()
    for _ in pk.range(n):
        new = 2 * u - p
        lap = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1]
        new[1:-1, 1:-1] += 0.1 * lap
        p = u
        u = new
    return u, p


@case((10, 12), 3)
def accumulate(u, n):
    total = pk.zeros_like(u)
    for _ in pk.range(n):
        u = np.sin(u)
        total += u
    return total, u


@case((16, 16))
def cholesky_like(a):
    b = a @ a.T
    d = pk.sum(b, axis=0)
    return b / d, d, pk.max(b), pk.mean(b, axis=1)


@case((8, 9), (8, 9))
def where_etc(x, y):
    z = np.where(x > y, x, y)
    return z, np.minimum(x, y), (x > y), pk.any(x > 0.9), pk.argmax(x)


@case((100,))
def stats(x):
    m = pk.mean(x)
    v = pk.mean((x - m) ** 2)
    return (x - m) / np.sqrt(v + 1e-5), m, v


@case((6, 7), (7, 3))
def mlp(x, w):
    h = np.tanh(x @ w)
    return pk.sum(h * h), h


@case((40,), 3)
def nested(x, n):
    for _ in pk.range(n):
        y = x
        for _ in pk.range(2):
            y = y * 0.5 + x
        x = x + y
    return x


@case((5, 5), 2)
def power_iter(a, n):
    v = pk.ones(5)
    for _ in pk.range(n):
        w = a @ v
        v = w / np.sqrt(pk.sum(w * w))
    return v, v @ (a @ v)


@case((12,), 3)
def stack_hist(x, n):
    h = pk.zeros((4, 12))
    h[0] = x
    for i in pk.range(n):
        x = x * 2
        h[i + 1] = x
    return h


@case((12,))
def rev(x):
    return x[::-1], x[::2] + 1, x[3:-2]


@case((12,))
def inp(x):
    y = x[2:5]
    z = pk.concatenate((x, y))
    return z, pk.reshape(z, (3, 5))


@case((4, 5), (4, 5))
def both(x, y):
    x[...] = y
    y[...] = x * 2


@case((7,))
def ret_arg(x):
    x += 1
    return x


@case((33,), 6)
def three(x, n):
    a, b, c = x, x * 2, x * 3
    for _ in pk.range(n):
        t = a + b
        a = b
        b = c
        c = t
    return a, b, c


@case((33,), 6)
def same_init(x, n):
    a = b = x
    for _ in pk.range(n):
        a = a + b * 0.5
    return a, b


@case((9,), 2.5, 3)
def scal(x, c, n):
    s = c
    for _ in pk.range(n):
        s = s * 1.5
        x = x * s
    return x, s


@case((30,), 5)
def while_stencil(x, n):
    k = 0
    while k < n:
        y = x.copy()
        y[1:-1] = 0.5 * (x[2:] + x[:-2])
        x = y
        k = k + 1
    return x


@case((30,), (30,), 0.001)
def until_small(x, y, limit):
    change = 1.0
    while change > limit:
        new = 0.5 * (x + y)
        y = x * 0.9
        change = np.sum((new - x) * (new - x))
        x = new
    return x, y, change


@case((20,), 3)
def while_in_for(x, n):
    for _ in pk.range(n):
        k = 0
        y = x * 2
        while k < 2:
            z = y.copy()
            z[1:] = y[:-1] + x[1:]
            y = z
            k = k + 1
        x = y * 0.5 + x
    return x


@case((20,), 3)
def for_in_while(x, n):
    k = 0
    while k < n:
        y = x
        for _ in pk.range(3):
            z = y.copy()
            z[1:] = 0.5 * y[:-1] + x[1:]
            y = z
        x = y
        k = k + 1
    return x


@case((20,), (20,), 5)
def branch_stencil(x, y, n):
    for i in pk.range(n):
        z = x.copy()
        if i % 2 == 0:
            z[1:-1] = x[2:] + x[:-2]
        else:
            z[1:-1] = y[1:-1] - x[:-2]
        y = x
        x = z
    return x, y


@case((20,), (20,), 4)
def loop_in_branch_in_loop(x, y, n):
    a = x * 1.5
    for i in pk.range(n):
        if i % 2 == 0:
            for _ in pk.range(3):
                c = a + x * 0.3
                c[1:-1] += a[:-2] * 0.5
                a = c
        else:
            c = y.copy()
            c[1:-1] = 0.3 * (y[2:] + a[:-2])
            a = c
    return a


@case((20,), (20,), 3)
def while_with_loops(x, y, n):
    a, b = x * 1.5, y
    k = 0
    while k < 3:
        for _ in pk.range(n):
            for _ in pk.range(2):
                c = b.copy()
                c[1:-1] = 0.3 * (b[2:] + a[:-2])
                b = c
            a, b = b, a
        k = k + 1
    return a, b


def leaves(value):
    if value is None:
        return []
    if isinstance(value, tuple):
        return [leaf for item in value for leaf in leaves(item)]
    return [value]
