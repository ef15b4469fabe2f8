"""Mistakes that checkers find: each line that ends in a comment is one."""

from __future__ import annotations

import numpy as np

import pykern as pk


@pk.kernel
def k(y: pk.f64[:], n: int) -> None:
    y[pk.index()] = n


@pk.jit
def total(a: int) -> float:
    return a * 2.0


y = np.zeros(8)
k(y, 3, ndrange=8, blocks=4)  # error
k(y, 3, ndrange="8")  # error
k(y, 3, ndrange=8, workgroup="8")  # error
k(y, 3, ndrange=8, device=3)  # error
pk.kernel(threads=4)  # error
pk.nothing(1)  # error
text: str = total(1)  # error
k.lover(y, 3)  # error
