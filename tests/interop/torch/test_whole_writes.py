"""Results that a launch fills are not filled with zeros before; all others are."""

from __future__ import annotations

import functools

import pytest

import pykern as pk
import pykern.torch as pkt
from pykern.capture.whole_writes import filled
from pykern.errors import KernelTypeError
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
    unfilled = []

    def sevens(made, *args, **keywords):
        unfilled.append(made(*args, **keywords).fill_(7))
        return unfilled[-1]

    for name in ("empty_like", "empty_strided"):
        made = pkt.direct._NAMES[name]
        monkeypatch.setitem(pkt.direct._NAMES, name, functools.partial(sevens, made))
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


@pk.kernel
def negated(o, x):
    i, j = pk.index()
    o[i, j] = -x[i, j]


def test_results_of_repeated_calls_lie_as_those_of_pytorch():
    op = pkt.op(negated, out={"o": pkt.like("x")}, ndrange=lambda x: x.shape)
    x = torch.randn(6, 4)
    given = [x, x[:3], x.t(), x, x[:, 1:2], x[:0], torch.nn.Parameter(x), x[1:2]]
    for one in given * 2:
        with torch.no_grad():
            found, expected = op(one), torch.empty_like(one)
        torch.testing.assert_close(found, -one.detach())
        assert type(found) is torch.Tensor and not found.requires_grad
        assert found.stride() == expected.stride() or 1 in found.shape or not found.numel()
        assert found.is_contiguous() == expected.is_contiguous()
    with torch.inference_mode():
        assert op(x).is_inference()
    assert not op(x).is_inference()


def test_a_result_of_another_dtype():
    op = pkt.op(negated, out={"o": pkt.like("x", dtype=torch.float64)}, ndrange=lambda x: x.shape)
    x = torch.randn(5, 3)
    for one in (x, x, x[1:], x.t()):
        torch.testing.assert_close(op(one), -one.double())


def test_tensors_without_lengths_in_memory_are_refused_after_others():
    op = pkt.op(negated, out={"o": pkt.like("x")}, ndrange=lambda x: x.shape)
    x = torch.randn(4, 4)
    for _ in range(2):
        op(x)
        with pytest.raises((KernelTypeError, RuntimeError)):
            op(x.to_sparse())
        torch.testing.assert_close(op(x), -x)
    assert op(x.to("meta")).is_meta
    with torch.device("meta"):
        torch.testing.assert_close(op(x), -x)
