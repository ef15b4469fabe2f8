"""Every scalar rule inside linalg bodies and outside: reverse against forward mode and differences."""

from __future__ import annotations

import numpy as np
import pytest

from pykern.passes.autodiff.rules import table
from tests.autodiff.tensor_programs import Program, assert_differences, inner
from tests.cases.tensor_texts import function, generic, tensor

N = 9
V = tensor(N)

# operands by name: p in (1.1, 2.5), u in (-0.9, 0.9), q like p
OPERANDS = {
    "math.acosh": "p", "math.log": "p", "math.log2": "p", "math.log10": "p", "math.sqrt": "p", "math.rsqrt": "p",
    "arith.divf": "up", "arith.remf": "pu", "math.powf": "pu", "math.fma": "upq", "math.atan2": "up",
}  # fmt: skip
STEPS = {"arith.remf", "math.floor", "math.ceil", "math.trunc", "math.round", "math.roundeven"}
CASTS = {"arith.extf", "arith.truncf"}


def arity(op: str) -> int:
    return len(table.RULES[op])


def body(op: str) -> str:
    """Lines that compute %r from %a, %b, %c."""
    if op in CASTS:
        return "%t = arith.truncf %a : f64 to f32\n%r = arith.extf %t : f32 to f64"
    if op == "arith.select":
        return "%t = arith.cmpf ogt, %a, %b : f64\n%r = arith.select %t, %a, %b : f64"
    if op == "math.fpowi":
        return "%t = arith.constant 3 : i32\n%r = math.fpowi %a, %t : f64, i32"
    values = "%a, %b, %c"[: 4 * arity(op) - 2]
    return f"%r = {op} {values} : f64"


def operands(op: str) -> str:
    count = 1 if op == "math.fpowi" else 2 if op == "arith.select" else arity(op)
    return OPERANDS.get(op, "upq"[:count])


OPS = sorted(table.RULES)


@pytest.fixture(scope="module")
def pointwise() -> Program:
    """One result an op, of tensors p, u and q."""
    text = ""
    for k, op in enumerate(OPS):
        names = operands(op)
        maps = "(i) -> " + ", ".join(["(i)"] * (len(names) + 1))
        lines = body(op).replace("%r", "%out") + "\nlinalg.yield %out : f64"
        text += f"%e{k} = tensor.empty() : {V}\n"
        text += generic(f"%y{k}", [f"%{n}: {V}" for n in names], f"%e{k}: {V}", maps, "p", lines) + "\n"
    arguments = f"%p: {V}, %u: {V}, %q: {V}"
    return Program(function(arguments, text, [f"%y{k}: {V}" for k in range(len(OPS))]), (0, 1, 2))


@pytest.fixture(scope="module")
def scalars() -> Program:
    """The same on scalars of the function, outside of linalg."""
    text = ""
    for k, op in enumerate(OPS):
        lines = body(op).replace("%t", f"%t{k}").replace("%r", f"%y{k}")
        for place, name in enumerate(operands(op)):
            lines = lines.replace(f"%{'abc'[place]},", f"%{name},").replace(f"%{'abc'[place]} ", f"%{name} ")
        text += lines + "\n"
    return Program(
        function("%p: f64, %u: f64, %q: f64", text, [f"%y{k}: f64" for k in range(len(OPS))]), (0, 1, 2)
    )


def check_one(program: Program, op: str, arguments: list, rng: np.random.Generator) -> None:
    """Only the result of `op` is seeded; the others stay zero, also where their slope is infinite."""
    number = OPS.index(op)
    results = program.call("f", *arguments)
    seeds = [np.zeros_like(r) for r in results]
    seeds[number] = rng.standard_normal(results[number].shape)
    direction = [rng.standard_normal(np.shape(a)) for a in arguments]
    gradient = program.call("f.vjp", *arguments, *seeds)[len(OPS) :]
    tangents = program.call("f.jvp", *arguments, *direction)[len(OPS) :]
    left, right = inner([seeds[number]], [tangents[number]]), inner(gradient, direction)
    scale = sum(float(np.sum(np.abs(g * d))) for g, d in zip(gradient, direction, strict=True))
    assert abs(left - right) <= (1e-6 if op in CASTS else 1e-12) * max(scale, 1e-30)
    if op not in CASTS:
        assert_differences(
            lambda *a: [program.call("f", *a)[number]], (0, 1, 2), arguments, direction, [tangents[number]]
        )
    if op not in STEPS:
        assert np.any(tangents[number] != 0)


def drawn(rng: np.random.Generator, *size: int) -> list:
    signs = np.where(rng.random(size) < 0.5, -1.0, 1.0)
    return [
        1.1 + 1.4 * rng.random(size),
        signs * (0.2 + 0.7 * rng.random(size)),
        1.1 + 1.4 * rng.random(size),
    ]


@pytest.mark.parametrize("op", OPS)
def test_in_a_body(op, pointwise, rng):
    check_one(pointwise, op, drawn(rng, N), rng)


@pytest.mark.parametrize("op", OPS)
def test_on_scalars(op, scalars, rng):
    check_one(scalars, op, [float(a) for a in drawn(rng)], rng)
