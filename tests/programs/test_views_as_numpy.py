"""Views in array programs: written and read as NumPy's, whichever of array and view is written first."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk


def read_in_a_loop_that_writes(x, n):
    v = x[1:]
    s = 0.0
    for _i in range(n):
        s = s + v.sum()
        x[1] = x[1] + 1
    return s


def read_while_the_array_is_written(x, n):
    v = x[1:]
    y = np.zeros(3)
    for _i in range(n):
        y += v[:3]
        x[1:] = v * 0.5 + 1
    return y


def a_view_of_a_view_in_a_loop(x, n):
    u = x[1:-1]
    w = u[1:]
    for _i in range(n):
        u += 1
        w *= 0.5
        x[0] = w.sum()
    return x, u, w


def backwards_and_overlapping(x, n):
    u, v = x[::-1], x[2:]
    u[0] = 7.0
    v[0] = 3
    u[1:3] = v[:2]
    return u * 1, v + 0


def of_a_new_array_in_branches(x, n):
    y = x * 2
    a, b = y[:2], y[2:]
    a[:] = b[:2]
    b -= a.sum()
    if n > 5:
        a += 1
    else:
        a -= 1
    return y, a, b


def rows_transposes_and_blocks(x, n):
    m = np.zeros((5, 5))
    for i in range(5):
        r = m[i]
        r[:] = x
        r[i] = -1
    for r in m[1:3]:
        r += 10
    t = m.T
    t[0] = 5
    t[1:, 2] += n
    d = m[1:-1, 1:-1]
    d[:] = d + m[:-2, 1:-1]
    return m, t, d


def given_to_functions_and_masks(x, n):
    def bump(v, k):
        v += k

    bump(x[:2], 3)
    bump(x[2:], n)
    h = x[1:4]
    bump(h, 2)
    h[h > 3] = 0
    return x, h


def in_a_while_loop(x, n):
    u = x[1:]
    k = 0
    while k < n:
        u *= 0.5
        u[0] = x[0] + k
        k += 1
    return u.copy(), x


def flipped_and_of_an_array_whose_name_is_bound_anew(x, n):
    f = np.flip(x)
    f[0] = 9
    f += 1
    w = x[1:]
    x = x * 2
    w[0] = 5
    return f, w, x


def complex_parts(x, n):
    z = x + 1j * x
    a, b = z[:2], z[2:]
    a += 1
    b[:] = a[0]
    return z, a, b


def given_as_out_sorted_and_filled(x, n):
    u = x[1:]
    np.add(u, 1, out=u)
    np.sqrt(u, out=u)
    u.sort()
    u.fill(2) if n > 1000 else None
    return x


def kept_in_a_list(x, n):
    p = [x[:2], x[2:]]
    for v in p:
        v += 1
    p[0][:] = p[1][:2]
    return x, p[0]


def written_in_one_branch(x, n):
    u = x[1:]
    if x[0] < n:
        u[0] = 9
        y = u.sum()
    else:
        y = u.sum()
    return x, u * 1, y


def returned_by_functions(x, n):
    def part(a):
        return a[1:3]

    p = part(x)
    p[:] = 0
    q = part(part(np.arange(10.0)))
    q += 1
    return x, p, q


def rows_in_a_list(x, n):
    y = np.zeros((3, 4))
    rows = list(y)
    rows[1][:] = 5
    for k, r in enumerate(rows):
        r[k] = k + 1
    return y


def steps_on_both_sides(x, n):
    y = x
    y[1:3] = 7
    z = y[::2]
    z[:] = z[::-1]
    return x, y, z


def overlapping_copies(x, n):
    u = x[:3]
    w = x[1:4]
    u[:] = w
    w[:] = u
    return x


def masks_and_lists_of_indices(x, n):
    u = x[1:4]
    u[u > 2] += 10
    x[2] = -1
    m = u.max()
    u[[0, 2]] = [m, 3]
    return x, m


def a_column_in_a_while_loop(x, n):
    t = np.zeros((4, 4))
    t[1] = np.arange(4.0)
    c = t[:, 1]
    while c[1] < n:
        c += 1
    return t, c


def elements_in_nested_loops(x, n):
    u = x[1:]
    s = 0.0
    for i in range(3):
        for _q in range(n):
            u[i] = u[i] * 0.5 + x[0]
        s += x.sum()
        x[0] += 0.25
    return s, u


def when_the_array_loses_its_name(x, n):
    u = x[1:]
    x = np.ones(5)
    u[0] = 5
    x[1] = 3
    return u, x


def when_the_whole_is_computed_anew(x, n):
    a = np.zeros(4)
    b = a[:2]
    a = a + 1
    b += 3
    return a, b


def of_several_dimensions(x, n):
    a = np.zeros((2, 3, 4))
    v = a[1].T[1:]
    v[0] = 3
    v += 1
    w = v[1, 2:3]
    w[0] = 8
    return a, v, w


def rows_that_change_places(x, n):
    """NumPy reads the first row when the second one is written: both are the same."""
    y = np.stack((x, x * n))
    y[0], y[1] = y[1], y[0]
    return y


def beside_a_write_in_one_expression(x, n):
    """NumPy takes the part first, and reads it when everything beside it has been done."""

    def first(p):
        p[0] = n
        return p[1]

    return x[:1] + first(x), x[:1], first(x)


def in_a_tuple_that_is_returned(x, n):
    pair = (x[:1], n)
    x[0] = 3
    return pair


FUNCTIONS = [
    rows_that_change_places,
    beside_a_write_in_one_expression,
    in_a_tuple_that_is_returned,
    read_in_a_loop_that_writes,
    read_while_the_array_is_written,
    a_view_of_a_view_in_a_loop,
    backwards_and_overlapping,
    of_a_new_array_in_branches,
    rows_transposes_and_blocks,
    given_to_functions_and_masks,
    in_a_while_loop,
    flipped_and_of_an_array_whose_name_is_bound_anew,
    complex_parts,
    given_as_out_sorted_and_filled,
    kept_in_a_list,
    written_in_one_branch,
    returned_by_functions,
    rows_in_a_list,
    steps_on_both_sides,
    overlapping_copies,
    masks_and_lists_of_indices,
    a_column_in_a_while_loop,
    elements_in_nested_loops,
    when_the_array_loses_its_name,
    when_the_whole_is_computed_anew,
    of_several_dimensions,
]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_as_numpy(function):
    mine, theirs = np.arange(5.0), np.arange(5.0)
    found, wanted = pk.jit(function)(mine, 4), function(theirs, 4)
    np.testing.assert_array_equal(mine, theirs)
    for one, other in zip(*(r if isinstance(r, tuple) else (r,) for r in (found, wanted)), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-15)


def test_in_a_loop_that_stays():
    """It has too many rounds for copies of its body."""
    for function in (read_in_a_loop_that_writes, a_view_of_a_view_in_a_loop):
        mine, theirs = np.arange(5.0), np.arange(5.0)
        found, wanted = pk.jit(function)(mine, 150), function(theirs, 150)
        np.testing.assert_array_equal(mine, theirs)
        np.testing.assert_allclose(
            found[-1] if isinstance(found, tuple) else found,
            wanted[-1] if isinstance(wanted, tuple) else wanted,
        )


@pk.kernel
def double(y, x):
    i = pk.index()
    y[i] = 2 * x[i]


def test_launches_into_views():
    @pk.jit
    def program(x):
        row, column = x[0], x[:, 1]
        double(row[1:], x[1, :2].copy(), ndrange=2)
        double(column, column + 1, ndrange=2)
        return row.sum()

    mine = np.arange(6.0).reshape(2, 3)
    assert program(mine) == 0 + 2 * (6 + 1) + 8
    np.testing.assert_array_equal(mine, [[0, 14, 8], [3, 10, 5]])


def test_gradient_of_what_is_written_through_a_view():
    @pk.jit
    def energy(x):
        y = x * x
        inside = y[1:-1]
        inside *= 3
        inside[0] = x[0]
        return y.sum()

    x = np.random.default_rng(0).random(6)
    wanted = 2 * x * np.array([1, 0, 3, 3, 3, 1]) + np.array([1, 0, 0, 0, 0, 0])
    np.testing.assert_allclose(pk.grad(energy)(x), wanted)


def test_a_view_that_a_branch_chooses_is_refused():
    @pk.jit
    def chosen(x):
        if x[0] > 0:
            part = x[:2]
        else:
            part = x[2:]
        part += 1
        return part

    with pytest.raises(pk.KernelTypeError, match="on some path it is the same"):
        chosen(np.ones(4))
