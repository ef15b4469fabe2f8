"""What a kernel computes and does not take has no say, also through memory, loops and collectives; at every level.

`X` holds zeros and negative numbers, at which roots have infinite derivatives or none; the expected slopes are those
of the formula with the root taken of positive numbers alone.
"""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk

X = np.array([0.0, -1.0, 2.0, 4.0, -0.0, 0.25])
N = len(X)
with np.errstate(all="ignore"):
    ROOT = np.where(X > 0, 0.5 / np.sqrt(X), 0.0)
    ROOT2 = np.where(X > 0, -0.25 * X**-1.5, 0.0)
    FOURTH = np.where(X > 0, 0.25 * X**-0.75, 0.0)
    FOURTH2 = np.where(X > 0, -0.1875 * X**-1.75, 0.0)


@pk.kernel
def private(y, x):
    i = pk.index()
    p = pk.private(2, pk.f64)
    p[0] = pk.sqrt(x[i])
    p[1] = 1.0
    y[i] = p[0] if x[i] > 0 else 0.0


@pk.kernel
def private_in_a_branch(y, x):
    i = pk.index()
    p = pk.private(2, pk.f64)
    p[i % 2] = pk.sqrt(x[i])
    if x[i] > 0:
        y[i] = p[i % 2]
    else:
        y[i] = 0.0


@pk.kernel
def private_steps(y, x):
    i = pk.index()
    p = pk.private(3, pk.f64)
    p[0] = x[i]
    for k in range(2):
        p[k + 1] = pk.sqrt(p[k])
    y[i] = p[2] if x[i] > 0 else 0.0


@pk.kernel
def private_overwritten(y, x):
    i = pk.index()
    p = pk.private(1, pk.f64)
    p[0] = pk.sqrt(x[i])
    if not x[i] > 0:
        p[0] = 0.0
    y[i] = p[0]


@pk.kernel
def private_in_a_while(y, x):
    i = pk.index()
    p = pk.private(4, pk.f64)
    m = 0
    while m < 4:
        p[m] = pk.sqrt(x[i])
        m += 1
    m = 0
    t = 0.0
    while m < 4:
        if m == 2 and x[i] > 0:
            t += p[m]
        m += 1
    y[i] = t


@pk.kernel
def output(y, x):
    i = pk.index()
    y[i] = pk.sqrt(x[i])
    y[i] = y[i] if x[i] > 0 else 0.0


@pk.kernel
def output_overwritten(y, x):
    i = pk.index()
    y[i] = pk.sqrt(x[i])
    if not x[i] > 0:
        y[i] = 0.0


@pk.kernel
def shared(y, x):
    i, lane = pk.index(), pk.local_index()
    s = pk.shared(6, pk.f64)
    s[lane] = pk.sqrt(x[i])
    pk.barrier()
    v = s[5 - lane]
    y[i] = v if x[5 - i] > 0 else 0.0


@pk.kernel
def counted(y, x):
    i = pk.index()
    t = x[i]
    for _ in range(2):
        t = pk.sqrt(t)
    y[i] = t if x[i] > 0 else 0.0


@pk.kernel
def until(y, x):
    i = pk.index()
    t = x[i]
    k = 0
    while k < 2:
        t = pk.sqrt(t)
        k += 1
    y[i] = t if x[i] > 0 else 0.0


@pk.kernel
def until_and_chosen(y, x):
    i = pk.index()
    r = 0.0
    k = 0
    while k < 3:
        s = pk.sqrt(x[i])
        r = s if (x[i] > 0 and k == 1) else r
        k += 1
    y[i] = r


@pk.kernel
def left_early(y, x):
    i = pk.index()
    t = 0.0
    for k in range(3):
        s = pk.sqrt(x[i])
        if not x[i] > 0:
            break
        if k == 1:
            t = s
    y[i] = t


@pk.kernel
def of_the_last_trip(y, x):
    i = pk.index()
    t = 1 / x[i]
    for k in range(3):
        t = pk.sqrt(x[i]) if k == 2 else 1 / t
    y[i] = t if x[i] > 0 else 0.0


@pk.kernel
def of_the_group(y, x):
    i = pk.index()
    total = pk.group_reduce(pk.sqrt(x[i]), "add")
    y[i] = total if x[i] > 100.0 else (pk.sqrt(x[i]) if x[i] > 0 else 0.0)


@pk.kernel
def of_the_lanes(y, x):
    i = pk.index()
    total = pk.subgroup_scan(pk.sqrt(x[i]), "add")
    y[i] = total if x[i] > 100.0 else (pk.sqrt(x[i]) if x[i] > 0 else 0.0)


KERNELS = {
    private: (ROOT, ROOT2, 1),
    private_in_a_branch: (ROOT, ROOT2, 1),
    private_steps: (FOURTH, FOURTH2, 1),
    private_overwritten: (ROOT, ROOT2, 1),
    private_in_a_while: (ROOT, ROOT2, 1),
    output: (ROOT, ROOT2, 2),
    output_overwritten: (ROOT, ROOT2, 2),
    shared: (ROOT, ROOT2, 1),
    counted: (FOURTH, FOURTH2, 2),
    until: (FOURTH, FOURTH2, 1),
    until_and_chosen: (ROOT, ROOT2, 1),
    left_early: (ROOT, ROOT2, 1),
    of_the_last_trip: (ROOT, ROOT2, 2),
    of_the_group: (ROOT, ROOT2, 1),
    of_the_lanes: (ROOT, ROOT2, 1),
}
"""The slopes, the curvatures, and how many levels there are."""
CASES = [(k, level) for k, (_, _, levels) in KERNELS.items() for level in ("direct", "raised")[:levels]]


def launch(kernel):
    return (
        {"ndrange": N, "workgroup": N} if kernel in (shared, of_the_group, of_the_lanes) else {"ndrange": N}
    )


@pytest.mark.parametrize(("kernel", "level"), CASES)
def test_reverse_and_forward(kernel, level):
    slope, _, _ = KERNELS[kernel]
    x, dy, dx, tangent = X.copy(), np.ones(N), np.ones(N), np.zeros(N)
    pk.autodiff(kernel, level=level)(pk.Dup(np.zeros(N), dy), pk.Dup(x, dx), **launch(kernel))
    np.testing.assert_allclose(dx, 1 + slope, rtol=1e-12)
    np.testing.assert_array_equal(dy, 0.0)
    pk.autodiff(kernel, mode="forward")(pk.Dup(np.zeros(N), tangent), pk.Dup(x, np.ones(N)), **launch(kernel))
    np.testing.assert_allclose(tangent.sum(), slope.sum(), rtol=1e-12)


@pytest.mark.parametrize("kernel", KERNELS)
def test_forward_over_reverse(kernel):
    """Shadows have tangents: zeros that say that nothing flows are no flows that are zero."""
    reverse = pk.autodiff(kernel, level="direct")._kernel((0, 1))
    v, curvature = np.arange(1.0, 7.0), np.zeros(N)
    constants = [pk.Dup(np.zeros(N), np.zeros(N)), pk.Dup(np.ones(N), np.zeros(N))]
    pk.autodiff(reverse, mode="forward")(
        *constants, pk.Dup(X.copy(), v), pk.Dup(np.zeros(N), curvature), **launch(kernel)
    )
    np.testing.assert_allclose(curvature, KERNELS[kernel][1] * v, rtol=1e-12)


@pk.kernel
def scaled_in_memory(y, x, c):
    i = pk.index()
    p = pk.private(1, pk.f64)
    p[0] = pk.sqrt(x[i])
    y[i] = p[0] * c[i]


def test_a_flow_that_is_zero_has_a_derivative_of_its_own():
    """d/dc of d/dx of sqrt(x) c is 1 / (2 sqrt(x)), also where c is zero; and what is taken is told, as in JAX."""
    x, c = np.array([4.0, 0.25, 0.0]), np.array([0.0, -0.0, 0.0])
    reverse = pk.autodiff(scaled_in_memory, level="direct")._kernel((0, 1))
    found = np.zeros(3)
    pk.autodiff(reverse, mode="forward")(
        np.zeros(3), np.ones(3), x, pk.Dup(np.zeros(3), found), pk.Dup(c, np.ones(3)), ndrange=3
    )
    np.testing.assert_allclose(found, [0.25, 1.0, np.inf])


@pytest.mark.parametrize("kernel", [private, shared, output])
def test_f32(kernel):
    x, dy, dx = X.astype(np.float32), np.ones(N, np.float32), np.zeros(N, np.float32)
    pk.autodiff(kernel, level="direct")(pk.Dup(np.zeros_like(x), dy), pk.Dup(x, dx), **launch(kernel))
    np.testing.assert_allclose(dx, ROOT, rtol=1e-6)
