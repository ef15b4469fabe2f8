"""Differentiation of tensor programs, op by op: reverse against forward mode against differences."""

from __future__ import annotations

import numpy as np
import pytest

from tests.passes.autodiff_programs import Program, check
from tests.passes.autodiff_texts import (
    ADD,
    function,
    layernorm,
    reduced,
    softmax,
    tensor,
)

N, M = 5, 7


def sample(rng: np.random.Generator, *sizes: int) -> np.ndarray:
    return rng.standard_normal(sizes)


@pytest.mark.parametrize("make", [softmax, layernorm])
def test_layers(make, rng):
    program = Program(make(N, M), (0,) if make is softmax else (0, 1, 2))
    x = [sample(rng, N, M)] if make is softmax else [sample(rng, N, M), sample(rng, M), sample(rng, M)]
    check(program, x, rng)


REDUCTIONS = {
    "sum": (ADD, "%zero"),
    "difference": ("%r = arith.subf %o, %v : f64", "%zero"),
    "fma": ("%r = math.fma %v, %v, %o : f64", "%zero"),
    "masked": (
        "%p = arith.cmpf ogt, %a, %zero : f64\n%q = arith.addf %v, %o : f64\n%r = arith.select %p, %q, %o : f64",
        "%zero",
    ),
    "max": ("%r = arith.maximumf %v, %o : f64", "%low"),
    "min": ("%r = arith.minnumf %o, %v : f64", "%high"),
    "max by select": ("%p = arith.cmpf ogt, %v, %o : f64\n%r = arith.select %p, %v, %o : f64", "%low"),
    "min by select": ("%p = arith.cmpf ogt, %v, %o : f64\n%r = arith.select %p, %o, %v : f64", "%high"),
    "max from half": ("%r = arith.maximumf %v, %o : f64", "%half"),
    "product": ("%r = arith.mulf %o, %v : f64", "%one"),
    "horner": ("%p = arith.mulf %o, %half : f64\n%r = arith.addf %p, %v : f64", "%one"),
    "logistic": ("%p = arith.mulf %o, %v : f64\n%r = math.tanh %p : f64", "%half"),
}


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name, rng):
    text = reduced("%y", "%x", (N, M), *REDUCTIONS[name], before="%v = math.sin %a : f64")
    program = Program(function(f"%x: {tensor(N, M)}", text, [f"%y: {tensor(N)}"]))
    check(program, [sample(rng, N, M)], rng)
