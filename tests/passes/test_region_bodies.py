"""Many ops with regions that differ in their bodies alone: common subexpressions are found among them, in time."""

from __future__ import annotations

import pytest
from mlir import ir

from pykern.dialect import attributes as kern
from pykern.dialect.context import new_context
from pykern.passes.analysis.cost_model.code_size import FEWEST_ALIKE
from pykern.passes.framework import Upstream, run_pass
from pykern.passes.region_bodies import told_apart


def generic(name: str, operand: str, number: float, dims: str = "%empty") -> str:
    return f"""
  %{name} = linalg.generic {{indexing_maps = [#map, #map], iterator_types = ["parallel"]}}
      ins({operand} : tensor<8xf64>) outs({dims} : tensor<8xf64>) {{
  ^bb0(%in: f64, %out: f64):
    %c = arith.constant {number} : f64
    %p = arith.mulf %in, %c : f64
    %s = arith.addf %p, %in : f64
    linalg.yield %s : f64
  }} -> tensor<8xf64>"""


def terms(numbers: list[float]) -> str:
    """A sum of ops over one operand, each with a tensor of its own to go into."""
    lines = ["#map = affine_map<(d0) -> (d0)>", "func.func @f(%a: tensor<8xf64>) -> tensor<8xf64> {"]
    total = "%a"
    for j, number in enumerate(numbers):
        lines.append(f"  %e{j} = tensor.empty() : tensor<8xf64>{generic(f'm{j}', '%a', number, f'%e{j}')}")
        lines.append(f"  %t{j} = arith.addf {total}, %m{j} : tensor<8xf64>")
        total = f"%t{j}"
    return "\n".join([*lines, f"  return {total} : tensor<8xf64>", "}"])


def branches(count: int, kinds: int) -> str:
    """Conditions on one value, whose branches are one of so many."""
    lines = ["func.func @f(%c: i1, %x: f64) -> f64 {"]
    total = "%x"
    for j in range(count):
        lines.append(
            f"  %r{j} = scf.if %c -> f64 {{\n    %k = arith.constant {j % kinds}.5 : f64\n"
            f"    %q = arith.mulf %x, %k : f64\n    scf.yield %q : f64\n  }} else {{\n    scf.yield %x : f64\n  }}\n"
            f"  %t{j} = arith.addf {total}, %r{j} : f64"
        )
        total = f"%t{j}"
    return "\n".join([*lines, f"  return {total} : f64", "}"])


def cleaned(text: str) -> str:
    with new_context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        run_pass(Upstream("canonicalize,cse", bodies=True), module)
        return str(module)


@pytest.mark.slow
@pytest.mark.timeout(100)
def test_very_many() -> None:
    """Upstream alone compares each with each: some minutes."""
    text = cleaned(terms([j + 0.5 for j in range(12000)]))
    assert text.count("linalg.generic") == 12000
    assert kern.BODY not in text


@pytest.mark.parametrize("count", [FEWEST_ALIKE // 4, 2 * FEWEST_ALIKE])
def test_those_with_one_body_are_one(count: int) -> None:
    numbers = [float(j % 5 + 2) for j in range(count)]
    text = cleaned(terms(numbers))
    assert text.count("linalg.generic") == 5
    assert kern.BODY not in text


@pytest.mark.parametrize("count", [FEWEST_ALIKE // 4, 2 * FEWEST_ALIKE])
def test_branches_with_one_body_are_one(count: int) -> None:
    text = cleaned(branches(count, 3))
    assert text.count("scf.if") in (0, 3)  # none where canonicalization made selects of them
    assert text.count("arith.mulf") == 3
    assert kern.BODY not in text


def test_marks_are_the_same_where_bodies_are() -> None:
    with new_context(), ir.Location.unknown():
        module = ir.Module.parse(terms([float(j % 7) for j in range(FEWEST_ALIKE)]))
        with told_apart(module):
            marks = [
                ir.IntegerAttr(op.attributes[kern.BODY]).value
                for op in module.body.operations[0].regions[0].blocks[0].operations
                if op.operation.name == "linalg.generic"
            ]
        assert marks == [j % 7 for j in range(FEWEST_ALIKE)]
        assert kern.BODY not in str(module)


def test_few_are_left_alone() -> None:
    with new_context(), ir.Location.unknown():
        module = ir.Module.parse(terms([float(j) for j in range(FEWEST_ALIKE - 1)]))
        with told_apart(module):
            assert kern.BODY not in str(module)
