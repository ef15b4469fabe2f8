"""Results that a launch fills are not filled with zeros before; all others are."""

from __future__ import annotations

import pytest

import pykern as pk
import pykern.torch as pkt
from pykern.capture.whole_writes import filled
from pykern.pytest_plugin import need_package

torch = need_package("torch")


@pk.kernel
def doubled(o, x):
    i = pk.index()
    y = 2 * x[i]
    if y > 0:
        y += 1
    o[i] = y


@pk.kernel
def summed(o, x):
    i, j = pk.index()
    n = o.shape[1]
    total = 0.0
    for k in range(n):
        total += x[i, k]
    o[i, j] = total


@pk.kernel
def guarded(o, x):
    i = pk.index()
    if x[i] > 0:
        o[i] = x[i]


@pk.kernel
def left(o, x):
    i = pk.index()
    if x[i] < 0:
        return
    o[i] = x[i]


@pk.kernel
def added(o, x):
    i = pk.index()
    o[i] = 1.0
    o[i] += x[i]


@pk.kernel
def read(o, x):
    i = pk.index()
    o[i] = x[i] + o[i]


@pk.kernel
def elsewhere(o, x):
    i = pk.index()
    i = i // 2
    o[i] = x[i]


@pk.kernel
def crossed(o, x):
    i, j = pk.index()
    o[j, i] = x[i, j]


@pk.kernel
def constant(o, x):
    i, j = pk.index()
    o[i, 0] = x[i, j]


def test_what_is_filled():
    found = {k.__name__: filled(k.captured()[0]) for k in (doubled, summed)}
    assert found == {"doubled": {"o": 1}, "summed": {"o": 2}}
    for kernel in (guarded, left, added, read, elsewhere, crossed, constant):
        assert filled(kernel.captured()[0]) == {}, kernel.__name__


def results(kernel, x, space, monkeypatch):
    """Of three calls, and how often memory was not filled, which holds 7 here."""
    like, unfilled = torch.empty_like, []

    def sevens(*args, **keywords):
        unfilled.append(like(*args, **keywords).fill_(7))
        return unfilled[-1]

    monkeypatch.setitem(pkt.direct._NAMES, "empty_like", sevens)
    op = pkt.op(kernel, out={"o": pkt.like("x")}, ndrange=space)
    return [op(x), op(x), op(x)], len(unfilled)


@pytest.mark.parametrize(
    ("kernel", "space", "inside"),
    [
        (doubled, lambda x: x.shape, slice(None)),
        (doubled, lambda x: x.shape[0], slice(None)),
        (doubled, lambda x: x.shape[0] - 2, slice(0, -2)),
        (doubled, lambda x: (range(1, x.shape[0]),), slice(1, None)),
        (guarded, lambda x: x.shape, slice(None)),
    ],
)
def test_what_is_not_written_is_zero(kernel, space, inside, monkeypatch):
    x = torch.randn(6)
    value = 2 * x + (x > 0) if kernel is doubled else x.clamp(0)
    expected = torch.zeros(6)
    expected[inside] = value[inside]
    found, unfilled = results(kernel, x, space, monkeypatch)
    assert unfilled == (3 if kernel is doubled and space(x) == x.shape else 0)
    for each in found:
        torch.testing.assert_close(each, expected)


def test_gradients_of_a_filled_result():
    op = pkt.op(doubled, out={"o": pkt.like("x")}, ndrange=lambda x: x.shape)
    x = torch.randn(5, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(op, x, check_forward_ad=True)
