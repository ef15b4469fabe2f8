"""Random tensor programs: reverse against forward mode, and forward mode against differences."""

from __future__ import annotations

import pytest

from tests.autodiff.tensor_programs import Program, check
from tests.cases.random_tensor_programs import N, Writer, X
from tests.cases.tensor_texts import function


@pytest.mark.parametrize("seed", [*range(20), 131])
def test_random_programs(seed, rng):
    writer = Writer(seed)
    values = ["%x", "%w"]
    text = writer.statements(values, 8, 2)
    checkpoint = ("all", "every(2)", "binomial(2)")[seed % 3]
    results = [f"{values[-1]}: {X}", f"{values[-3]}: {X}"]
    program = Program(function(f"%x: {X}, %w: {X}", text, results), (0, 1), checkpoint)
    arguments = list(rng.standard_normal((2, N, N)))
    check(program, arguments, rng, dot_tolerance=1e-11)
