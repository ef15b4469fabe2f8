"""Kernels may be called what pykern's own functions and those of the C library are called."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import pykern as pk
from tests.cases.texts import imported

NAMES = (
    "tell",
    "resize",
    "tape_grow",
    "push",
    "malloc",
    "free",
    "write",
    "abort",
    "sin",
    "main",
    "pk_run",
    "pk_part",
)
TEXT = """
import pykern as pk


@pk.kernel
def {name}(y, x):
    i = pk.index()
    kept = pk.private(3, pk.f64)
    kept[i % 3] = pk.sin(x[i])
    v = kept[i % 3]
    k = 0
    while k < i % 5 + 3:
        v = v * x[i]
        k += 1
    y[i] = v
    if x[i] > 100:
        print(x[i])
"""


@pytest.mark.parametrize("name", NAMES)
def test_a_name_of_our_own(name: str, tmp_path: Path) -> None:
    file = tmp_path / "named.py"
    module = imported(file, TEXT.format(name=name))
    kernel = getattr(module, name)
    x = np.linspace(0.2, 1.0, 11)
    y, steps = np.zeros(11), np.arange(11) % 5 + 3
    kernel(y, x, ndrange=11)
    np.testing.assert_allclose(y, np.sin(x) * x**steps)
    slopes = np.zeros(11)
    pk.autodiff(kernel)(pk.Dup(y, np.ones(11)), pk.Dup(x, slopes), ndrange=11)
    np.testing.assert_allclose(slopes, np.cos(x) * x**steps + np.sin(x) * steps * x ** (steps - 1))
