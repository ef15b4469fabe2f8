"""Branches and loops mean what they mean in Python: each function runs as it is, and as part of a kernel."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk


@pk.func
def elif_chain(i, n):
    if i < 2:
        r = 1
    elif i == n:
        r = 20
    elif i % 3 == 0:
        r = 300
    else:
        r = 4000
    return r + i


@pk.func
def early_returns(i, n):
    if i > n:
        return -1
    for a in range(n):
        for b in range(a):
            if a * b == i:
                return a * 100 + b
        if a == i - 2:
            return 7
    return 9


@pk.func
def break_and_continue(i, n):
    s = 0
    for a in range(n):
        if a == i % 5:
            continue
        for b in range(10):
            if b > a:
                break
            if (a + b) % 3 == 0:
                continue
            s += a * 10 + b
        s += 1000
        if s > 900 * i:
            break
    return s


@pk.func
def loop_else(i, n):
    r = 0
    for k in range(2, n):
        if i == k * k:
            r = k
            break
    else:
        r = -5
    c = 0
    while c < i:
        c += 3
        if c == 9:
            break
    else:
        r += 100
    return r * 10 + c


@pk.func
def while_with_both(i, n):
    c = i
    steps = 0
    while c != 1 and steps < 30:
        steps += 1
        if c % 2 == 0:
            c //= 2
            continue
        c = 3 * c + 1
        if c > 50 * n:
            break
    return steps * 1000 + c % 1000


@pk.func
def while_true(i, n):
    k = 0
    while True:
        if k * k > i:
            return k
        k += 1
        if k > n:
            break
    return -k


@pk.func
def steps_down(i, n):
    s = 0
    for k in range(n, i - 4, -3):
        s = s * 3 + k
    for k in range(5, 5 - i, -1):
        s += k
    for k in range(0, 10, -1):
        s += 1000 * k
    return s


@pk.func
def steps_of_a_variable(i, n):
    s = 0
    step = i - 4
    if step == 0:
        step = 7
    for k in range(n * (1 if step > 0 else 3), n * 2, step):
        s = s * 5 + k
    return s


@pk.func
def target_after_the_loop(i, n):
    k = -7
    for k in range(3, i, 2):  # noqa: B007 - read after the loop
        pass
    return k


@pk.func
def target_changed_inside(i, n):
    s = 0
    for k in range(n):
        k = k * k
        s += k
        n = 1
    return s + n


@pk.func
def same_target_twice(i, n):
    s = 0
    for k in range(i):
        for k in range(k, 4):  # noqa: B020 - the form under test
            s += k
        s = s * 2 + k
    return s


@pk.func
def conditional_expressions(i, n):
    a = i if i < n else n if i < 2 * n else -1
    b = (a + 1 if a % 2 else a - 1) if a > 0 else 50
    return a * 100 + b


@pk.func
def chains(i, n):
    a = 1 if 2 < i < n else 0
    b = 10 if 0 <= i - 3 < 4 != n else 0
    c = 100 if i == i < n > 2 >= 1 else 0
    d = 1000 if not 1 < i <= 3 else 0
    return a + b + c + d


@pk.func
def and_or_not(i, n):
    a = 1 if (i > 2 and i < 5) or i == n else 0
    b = 2 if not (i % 2 or i > 6) else 0
    c = 4 if i and n and not i == 3 else 0  # noqa: SIM201 - the form under test
    return a + b + c


@pk.func
def values_of_and_or(i, n):
    return (i % 3 or 17) * 100 + (i % 4 and 5)


@pk.func
def walrus(i, n):
    s = k = 0
    while (k := s * s + i) < 60:
        s += 1
        if (r := k % 7) == 3:
            s += r
    return s * 100 + k


@pk.func
def swaps(i, n):
    a, b, c = i, n, 1
    for _ in range(i):
        a, b = b, a + b
        (a, b), c = (a % 97, b % 89), c + a % 3
    return a * 10000 + b * 100 + c


@pk.func
def unrolled(i, n):
    s = 0
    for k in pk.unroll(range(6, 0, -2)):
        if k == i:
            continue
        s = s * 7 + k
        if s > 30 * i:
            break
    for k in (3, 1, 4):
        s += k * i
    return s


@pk.func
def type_of_a_name_grows(i, n):
    r = 0
    for k in range(i):
        r = r + k * 0.5
    return int(r * 4)


@pk.func
def nothing(i, n):
    if i > 3:
        pass
    else:
        ...
    for _ in range(0):
        i = 100
    while False:
        i = 200
    return i


FUNCTIONS = [v for v in list(globals().values()) if isinstance(v, type(elif_chain))]


def applied(function):
    @pk.kernel
    def run(out, n):
        i = pk.index()
        out[i] = function(i, n)

    return run


def test_there_are_functions():
    assert len(FUNCTIONS) >= 20


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_as_python(function, device):
    out = np.zeros(12, np.int64)
    applied(function)(out, 6, ndrange=12, device=device)
    assert out.tolist() == [function(i, 6) for i in range(12)]


# -- what is not evaluated ----------------------------------------------------------------------


@pk.kernel(debug=True)
def guarded_loads(out, x, table):
    i = pk.index()
    n = len(x)
    left = i > 0 and x[i - 1] > 0.5
    right = i + 1 >= n or x[i + 1] > 0.5
    chosen = x[i + 2] if i + 2 < n else -1.0
    looked_up = table[int(x[i] * 10) - 5] if x[i] >= 0.5 else 0
    chain = i - 3 >= 0 and x[i - 3] < x[i] and (i + 3 >= n or x[i + 3] < x[i])
    out[0, i] = left
    out[1, i] = right
    out[2, i] = chosen
    out[3, i] = looked_up
    out[4, i] = chain


def test_a_load_behind_its_guard_is_not_done(device, rng):
    x, table = rng.random(17), rng.random(5)
    out = np.zeros((5, 17))
    guarded_loads(out, x, table, ndrange=17, device=device)
    n = 17
    for i in range(n):
        chain = i >= 3 and x[i - 3] < x[i] and (i + 3 >= n or x[i + 3] < x[i])
        wanted = [
            i > 0 and x[i - 1] > 0.5, i + 1 >= n or x[i + 1] > 0.5, x[i + 2] if i + 2 < n else -1.0,
            table[int(x[i] * 10) - 5] if x[i] >= 0.5 else 0, chain,
        ]  # fmt: skip
        assert out[:, i].tolist() == [float(w) for w in wanted]


@pk.kernel(debug=True)
def scan_to_a_bound(out, x, bound):
    i = pk.index()
    j = i
    while j < len(x) and x[j] < bound:
        j += 1
    out[i] = j


def test_the_test_of_a_while_short_circuits(device, rng):
    x = rng.random(23)
    out = np.zeros(23, np.int64)
    scan_to_a_bound(out, x, 0.7, ndrange=23, device=device)
    stops = [next((j for j in range(i, 23) if x[j] >= 0.7), 23) for i in range(23)]
    assert out.tolist() == stops


@pk.kernel(debug=True)
def chain_that_guards(y, x, j):
    i = pk.index()
    y[i] = 1 if 0 <= j[i] < x[j[i]] <= i + 3 != 4 else 0


def test_a_chain_stops_at_what_is_false(device):
    j, x, y = np.array([0, -1, 2]), np.array([3, 0, 5]), np.zeros(3)
    chain_that_guards(y, x, j, ndrange=3, device=device).wait()
    np.testing.assert_array_equal(y, [1, 0, 1])


TABLE = ((1.0, 2.0, 3.0), (4.0, 5.0, 6.0))


@pk.kernel
def tuples_by_counters(out, x):
    i = pk.index()
    taps, total = (x[i], 10.0, x[i] * x[i]), 0.0
    for r in range(2):
        for c in range(2, -1, -1):
            if c == 1 and r == 0:
                continue
            total += TABLE[r][c] * taps[2 - c]
    out[i] = total


def test_a_counter_chooses_from_a_tuple(device, rng):
    x, out = rng.random(7), np.zeros(7)
    tuples_by_counters(out, x, ndrange=7, device=device).wait()
    want = sum(TABLE[r][c] * (x, 10.0, x * x)[2 - c] for r in range(2) for c in range(3) if (r, c) != (0, 1))
    np.testing.assert_allclose(out, want, rtol=1e-14)
    longer = pk.kernel(takes_by_a_long_loop.__wrapped__)
    with pytest.raises(pk.errors.KernelTypeError, match="`k % 3` is known only when this runs"):
        longer.lower(x, ndrange=7)


@pk.kernel
def takes_by_a_long_loop(x):
    for k in range(65):
        x[pk.index()] += TABLE[0][k % 3]


@pytest.mark.parametrize("device", ["cpu", "python", "opencl"], indirect=True)
def test_the_counter_after_a_loop_with_else(device, rng):
    """Where the loop is left early it is the counter's, else what `else` assigns: also after no iteration."""

    @pk.kernel
    def first_above(o, p, x, lengths):
        i = pk.index()
        for j in range(lengths[i]):
            if x[i, j] > 0.8:
                break
        else:
            j = -5
        o[i] = j
        for k in range(lengths[i], 0, -1):
            if x[i, k - 1] > 0.8:
                break
        else:
            k = 0
        p[i] = k

    x, lengths = rng.random((40, 9)), rng.integers(0, 10, 40)
    o, p, x, lengths = (
        pk.asarray(v, device=device) for v in (np.zeros(40, int), np.zeros(40, int), x, lengths)
    )
    first_above(o, p, x, lengths, ndrange=40)
    rows = [row[:n] > 0.8 for row, n in zip(x.numpy(), lengths.numpy(), strict=True)]
    np.testing.assert_array_equal(o.numpy(), [row.argmax() if row.any() else -5 for row in rows])
    np.testing.assert_array_equal(p.numpy(), [row.nonzero()[0][-1] + 1 if row.any() else 0 for row in rows])
