"""Random chains of conversions on the path of a derivative, and random choices, against rules written in NumPy and JAX.

A conversion between floats has derivative 1, one through an integer or a condition 0, whatever the types. A choice
sends nothing to the side not taken, which JAX does where operands of that side are replaced first ("double where").
"""

from __future__ import annotations

import random

import jax
import ml_dtypes
import numpy as np
import pytest

import pykern as pk
from tests.cases.seeds import seeds
from tests.cases.texts import defined

FLOATS = {"f64": np.float64, "f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16}
STORAGE = ("f8e4m3", "f8e5m2")
STEPS = ("i8", "i32", "i64", "u16", "u32", "bool_")
VALUES = np.array([0.5, 1.0, 1.5, -2.0, 3.0, 0.25])
"""Every type holds them, but for integers and conditions, which hold what they make of them."""

KERNEL = """
import pykern as pk
@pk.kernel
def kernel(y, x):
    i = pk.index()
    v = x[i]
{steps}
    y[i] = v
"""
PROGRAM = """
import pykern as pk
@pk.jit
def program(x):
    v = x
{steps}
    return v
"""


def compiled(text: str, name: str) -> dict:
    """What the text defines; its lines are known by the name, as those of a file."""
    return defined(text, name)


def chain(choose: random.Random) -> tuple[list[str], float]:
    """Lines that change `v`, and the derivative of the last by the first."""
    lines, slope = [], 1.0
    for _ in range(choose.randint(1, 5)):
        kind = choose.random()
        if kind < 0.6:
            lines.append(f"v = pk.cast(v, pk.{choose.choice([*FLOATS, *STORAGE])})")
        elif kind < 0.85:
            factor = choose.choice([2.0, 0.5, -1.0])
            lines.append(f"v = v * {factor}")
            slope *= factor
        else:
            lines.append(
                f"v = pk.cast(pk.cast(v, pk.{choose.choice(STEPS)}), pk.{choose.choice(list(FLOATS))})"
            )
            slope = 0.0
    lines.append("v = pk.cast(v, pk.f64)" if choose.random() < 0.3 else "v = v * 1.0")
    return lines, slope


def ones(count: int, dtype: type) -> np.ndarray:
    return np.ones(count, dtype)


@pytest.mark.parametrize("seed", seeds(6))
def test_chains_of_conversions(seed):
    choose = random.Random(seed)
    lines, slope = chain(choose)
    source, target = (choose.choice(list(FLOATS.values())) for _ in range(2))
    steps = "\n".join(f"    {line}" for line in lines)
    x, n = VALUES.astype(source), len(VALUES)
    kernel = compiled(KERNEL.format(steps=steps), f"<conversions {seed} kernel>")["kernel"]
    for level in ("direct", "raised"):
        if level == "raised" and any(name in steps for name in STORAGE):
            continue  # whole arrays of fp8 have no derivative of this level
        dx = np.zeros(n, source)
        pk.autodiff(kernel, level=level)(
            pk.Dup(np.zeros(n, target), ones(n, target)), pk.Dup(x, dx), ndrange=n
        )
        np.testing.assert_array_equal(dx.astype(float), slope, err_msg=f"{level}\n{steps}")
    tangent = np.zeros(n, target)
    pk.autodiff(kernel, mode="forward")(
        pk.Dup(np.zeros(n, target), tangent), pk.Dup(x, ones(n, source)), ndrange=n
    )
    np.testing.assert_array_equal(tangent.astype(float), slope, err_msg=steps)
    if any(name in steps for name in STORAGE):
        return
    program = compiled(PROGRAM.format(steps=steps), f"<conversions {seed} program>")["program"]
    value, pull = pk.vjp(program, x)
    np.testing.assert_array_equal(pull(np.ones(n, value.dtype))[0].astype(float), slope, err_msg=steps)
    found = pk.jvp(program, (x,), (ones(n, source),))[1]
    np.testing.assert_array_equal(found.astype(float), slope, err_msg=steps)


RISKY = ("pk.sqrt({0})", "pk.log({0})", "1.0 / {0}", "{0} ** 0.5", "pk.sin({0}) / {0}", "pk.log1p({0} - 1.0)")
CHOICE = """
import {module} as pk
from tests.cases.texts import defined
{decorator}
def program(x, z):
{lines}
    return v.sum()
"""


def choices(choose: random.Random, doubled: bool) -> list[str]:
    """Lines of a program that takes what is defined only where it is; `doubled`: nothing else is computed at all."""
    lines = ["v = x * 1.0"]
    for n in range(choose.randint(1, 4)):
        form, given = choose.choice(RISKY), choose.choice(["x", "abs(x)", "x * z"])
        condition, other = choose.choice([f"{given} > 0", f"{given} > 0.3"]), choose.choice(["0.0", "v", "x"])
        joined = choose.choice(["v + {0}", "v * {0}", "{0} - v"])
        lines.append(f"a{n} = {given}")
        lines.append(f"c{n} = {condition}")
        if doubled:
            lines.append(f"a{n} = pk.where(c{n}, a{n}, 1.0)")
        lines.append(f"r{n} = {form.format(f'a{n}')}")
        lines.append(f"v = {joined.format(f'pk.where(c{n}, r{n}, {other})')}")
    return lines


@pytest.mark.parametrize("seed", seeds(6))
def test_choices(seed):
    x = np.array([0.0, -1.0, 0.7, 2.5, -0.0, 0.2])
    z = np.array([1.0, -0.5, 0.0, 2.0, 1.5, -1.0])
    text = "\n".join(f"    {line}" for line in choices(random.Random(seed), doubled=False))
    ours = compiled(CHOICE.format(module="pykern", decorator="@pk.jit", lines=text), f"<choices {seed}>")[
        "program"
    ]
    text = "\n".join(f"    {line}" for line in choices(random.Random(seed), doubled=True))
    theirs = compiled(
        CHOICE.format(module="jax.numpy", decorator="", lines=text), f"<choices {seed} in JAX>"
    )["program"]
    with jax.enable_x64(True):
        expected = [np.asarray(g) for g in jax.grad(theirs, (0, 1))(x, z)]
        moved = jax.jvp(theirs, (x, z), (z, x))[1]
        twice = np.asarray(jax.jvp(jax.grad(theirs), (x, z), (z, x))[1])
    for found, right in zip(pk.grad(ours, (0, 1))(x, z), expected, strict=True):
        np.testing.assert_allclose(found, right, rtol=1e-10, atol=1e-12, err_msg=text)
    np.testing.assert_allclose(pk.jvp(ours, (x, z), (z, x))[1], moved, rtol=1e-10, err_msg=text)
    found = pk.jvp(pk.grad(ours), (x, z), (z, x))[1]
    np.testing.assert_allclose(found, twice, rtol=1e-9, atol=1e-11, err_msg=text)
