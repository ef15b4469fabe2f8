"""Kernels that tests make operators of."""

from __future__ import annotations

import pykern as pk
import pykern.torch as pkt


@pk.kernel
def axpy(o, x, y, a):
    i = pk.index()
    o[i] = pk.exp(a * x[i]) + y[i]


def axpy_expected(x, y, a):
    return (a * x).exp() + y


axpy_ = pkt.op(axpy)
saxpy = pkt.op(axpy, out={"o": pkt.like("x")}, ndrange=lambda x, y, a: x.shape)
