"""`pk.check_grads` finds derivatives that are wrong: at one entry of many, in one mode, small ones beside large."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk
from pykern.derivatives.checked_functions import CheckedKernel

random = np.random.default_rng(7)


@pk.kernel
def wrong_at_one_entry(y, x, place):
    i = pk.index()
    v = x[i]
    y[i] = v * v * 0.5 + pk.stop_gradient(v) * (1.0 if i == place else 0.0)


@pk.jit
def wrong_at_one_place(x, y):
    """What is stopped moves the value, as a rule that is wrong in both modes would."""
    z = pk.concatenate([x, y])
    return (z * z).sum() + pk.stop_gradient(z[777])


def test_one_entry_of_many_that_is_wrong_in_both_modes():
    x = random.random(5000)
    with pytest.raises(AssertionError, match=r"gradient by `x\[3210\]` is .*, central differences give"):
        pk.check_grads(wrong_at_one_entry, (np.zeros(5000), x, 3210), ndrange=5000, entries=8)
    pk.check_grads(wrong_at_one_entry, (np.zeros(5000), x, -1), ndrange=5000, entries=8)
    with pytest.raises(AssertionError, match=r"gradient by `y\[277\]`"):
        pk.check_grads(wrong_at_one_place, (x[:500], x[500:1000]), entries=4)


@pk.jit
def small_beside_large(x):
    large = pk.where(pk.arange(8) % 2 == 0, 1e8, 1.0)
    return (x * large).sum() + 2.0 * pk.stop_gradient(x[3])


def test_one_entry_among_others_that_are_much_larger():
    with pytest.raises(AssertionError, match=r"gradient by `x\[3\]`"):
        pk.check_grads(small_beside_large, (random.random(8),))


def test_what_forward_mode_alone_gets_wrong_is_named(monkeypatch):
    right = CheckedKernel.forward

    def forward(self, values, tangents):
        found = right(self, values, tangents)
        found[0][17] *= 1.01
        return found

    monkeypatch.setattr(CheckedKernel, "forward", forward)
    with pytest.raises(AssertionError, match=r"tangent of `y\[17\]`"):
        pk.check_grads(wrong_at_one_entry, (np.zeros(50), random.random(50), -1), ndrange=50)


def test_values_far_from_one():
    @pk.jit
    def f(x, y):
        return (pk.sin(x * 1e-6) * y).sum()

    pk.check_grads(f, (1e6 * random.random(300), 1e-3 * random.random(300)))


def test_kinks_beside_an_entry_are_no_fault():
    """Steps along 20000 entries cross some kinks: shorter ones do not."""

    @pk.jit
    def f(x):
        return pk.maximum(x, 0.0).sum() + abs(x - 0.25).sum()

    pk.check_grads(f, (random.uniform(-1, 1, 20000),), entries=2)
