"""An index below zero counts from the end where it is a constant: a literal, a captured or a static one."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk

LAST = -1
WIDTH = 3


@pk.kernel
def literal(out, x):
    out[-1] = x[-2, -1]


@pk.kernel
def captured(out, x):
    out[LAST] = x[LAST - 1, WIDTH - 4]


@pk.kernel
def static(out, x, k: pk.static):
    out[k] = x[k - 1, 2 * k + 1]


def closure(k: int):
    @pk.kernel
    def of_closure(out, x):
        out[-k] = x[-k - 1, -k]

    return of_closure


@pk.kernel
def atomic(out, x):
    pk.atomic_add(out, LAST, x[-2, LAST])


@pk.func
def element(x, i, k):
    return x[i, k]


@pk.kernel
def named(out, x):
    k, both = -1, (-2, -1)
    out[k] = element(x, both[0], k)


@pk.kernel
def spread(out, x):
    place = (
        len(x) - 2,
        -1,
    )
    for k in pk.unroll(range(-1, 0)):
        pk.atomic_add(
            out,
            k,
            x[place],
        )


@pytest.mark.parametrize(
    ("kernel", "given"),
    [
        (literal, {}),
        (captured, {}),
        (static, {"k": -1}),
        (closure(1), {}),
        (atomic, {}),
        (named, {}),
        (spread, {}),
    ],
)
def test_constants_count_from_the_end(kernel, given, device):
    out, x = np.zeros(4), np.arange(15.0).reshape(5, 3)
    kernel(out, x, **given, ndrange=1, device=device)
    assert out.tolist() == [0, 0, 0, x[-2, -1]]


@pk.kernel(debug=True)
def computed(out, x, k):
    out[k] = x[0, 0]


@pytest.mark.parametrize("k", [-1, np.int32(-1)])
def test_a_number_that_is_passed_does_not(k, device):
    with pytest.raises(pk.OutOfBounds):
        computed(np.zeros(4), np.zeros((2, 2)), k, ndrange=1, device=device)
