"""What fails while a derivative is built is told, and the compiler lives on: nothing half-written ends its process."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

import pykern as pk

SCRIPT = """
import importlib
import sys
import numpy as np
import pykern as pk
from pykern.errors import NotDifferentiable

clone = importlib.import_module("pykern.passes.ir.clone")
kind = {"interrupt": KeyboardInterrupt, "refusal": NotDifferentiable, "fault": RuntimeError}[sys.argv[1]]
right = clone.replace_operands


def failing(number):
    def replace_operands(op, replaced):
        nonlocal number
        number -= 1
        if number == 0:
            raise kind("here")
        right(op, replaced)
    return replace_operands


def loss(x):
    u = pk.copy(x)
    for _ in pk.range(3):
        u[1:-1] = u[1:-1] + pk.where(u[1:-1] > 0.3, pk.sqrt(u[1:-1]), u[2:] * u[:-2])
        if u[0] > 5.0:
            u = u * x
    return (u * u).sum()


x = np.linspace(0.1, 1.0, 5)
expected = pk.grad(pk.jit(loss))(x)
product = pk.hvp(pk.jit(loss), (x,), (x,))
for number in (2, 9, 30):
    for derivative in (lambda f: pk.grad(f)(x), lambda f: pk.hvp(f, (x,), (x,)), lambda f: pk.vjp(f, x)):
        clone.replace_operands = failing(number)
        try:
            derivative(pk.jit(loss))
        except kind:
            print("told")
        clone.replace_operands = right
np.testing.assert_array_equal(pk.grad(pk.jit(loss))(x), expected)
np.testing.assert_array_equal(pk.hvp(pk.jit(loss), (x,), (x,)), product)
print("alive")
"""


@pytest.mark.parametrize("kind", ["interrupt", "refusal", "fault"])
def test_an_exception_between_two_copies(kind, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    settings = {"PYKERN_COMPILER": "inprocess", "PYKERN_CACHE": "0", "XDG_CACHE_HOME": str(tmp_path)}
    ran = subprocess.run(
        [sys.executable, str(script), kind],
        capture_output=True, text=True, check=False, env={**os.environ, **settings},
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr[-3000:]
    assert ran.stdout.split().count("told") == 9
    assert ran.stdout.split()[-1] == "alive"


@pk.jit
def scalar_branches(x, a, b):
    y = x
    if x > 0.0:
        if a > 1.0:
            y = pk.exp(x) * a
        else:
            y = pk.sqrt(x) * b
        y = y * y
    else:
        y = x * x
        if b > 0.0:
            y = y * pk.sin(b)
    return y


@pytest.mark.parametrize("given", [(1.5, 2.0, 1.0), (1.5, 0.5, -1.0), (-1.5, 2.0, 1.0), (-1.5, 2.0, -1.0)])
def test_branches_that_canonicalization_joins_with_their_reverse(given):
    """The halves of a vjp were cut through one branch that computed the value and the cotangents."""
    value, pull = pk.vjp(scalar_branches, *given)
    assert value == scalar_branches(*given)
    for number, found in enumerate(pull(1.0)):
        ends = []
        for step in (1e-6, -1e-6):
            moved = list(given)
            moved[number] += step
            ends.append(scalar_branches(*moved))
        np.testing.assert_allclose(found, (ends[0] - ends[1]) / 2e-6, rtol=1e-6, atol=1e-7)
