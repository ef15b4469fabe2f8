"""Calls in another form than compiled entries know, and whether Python's way of a call runs in them."""

from __future__ import annotations

import functools
import time

import numpy as np
import pytest

import pykern as pk
from pykern.api.jit import ProgramBase
from pykern.api.kernel import KernelBase
from pykern.compiler.service import service
from pykern.obtain.adapter_code import adapter_code
from pykern.obtain.entry_code import entry_code


@functools.cache
def code_is_there():
    """The code that adapts calls is not waited for otherwise."""
    for code in (entry_code, adapter_code):
        if code.obtain(1) is None:
            service().start()
        until = time.monotonic() + 120
        while code.obtain(1) is None and time.monotonic() < until:
            time.sleep(0.05)
        assert code.address, "the compiler gave no code"


@pytest.fixture
def python_calls(monkeypatch):
    """One item for each call that goes through Python; kernels and programs have to be made later."""
    code_is_there()
    seen = []
    for kind, way in ((KernelBase, "_launch"), (ProgramBase, "_run")):
        real = getattr(kind, way)
        monkeypatch.setattr(kind, way, lambda self, *a, real=real: (seen.append(self), real(self, *a))[1])
    return seen


def fast(python_calls, call, warm=4):
    """Make a call often enough for its entry to be there, then once more: no Python may run."""
    for _ in range(warm):
        call()
    python_calls.clear()
    result = call()
    assert not python_calls, "the call went through Python"
    return result


def slow(python_calls, call):
    """Make a call that Python has to look at; what it raises goes on."""
    python_calls.clear()
    try:
        return call()
    finally:
        assert python_calls, "compiled code took the call"


def make_axpy():
    """``o = a * x + y``, with entries of its own."""

    @pk.kernel
    def axpy(o, x, y, a=2.0):
        i = pk.index()
        o[i] = a * x[i] + y[i]

    return axpy


def make_copy():
    @pk.kernel
    def copied(o, x):
        i = pk.index()
        o[i] = x[i]

    return copied


def make_copy_2d():
    @pk.kernel
    def copied(o, x):
        i, j = pk.index()
        o[i, j] = x[i, j]

    return copied


def vectors(n=7, dtype=np.float32, seed=0):
    """Three arrays, small enough for any dtype."""
    values = np.random.default_rng(seed).integers(0, 9, (3, n))
    return [row.astype(dtype) for row in values]


class Renamed(np.ndarray):
    """An array by another name."""
