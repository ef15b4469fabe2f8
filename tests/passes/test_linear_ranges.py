"""Indices that are linear in ranges, as of rolled and padded arrays, against the same arithmetic on numbers."""

from __future__ import annotations

from random import Random

import pytest
from mlir import ir

from pykern.dialect.context import new_context
from pykern.passes.analysis.linear_ranges import linear_ranges
from pykern.passes.kernels import named

_BODY = """
func.func @f() -> tensor<{length}xindex> {{
  %e = tensor.empty() : tensor<{length}xindex>
  %r = linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}}
      outs(%e : tensor<{length}xindex>) {{
  ^bb0(%o: index):
    %v0 = linalg.index 0 : index
    {lines}
    linalg.yield %v{last} : index
  }} -> tensor<{length}xindex>
  return %r : tensor<{length}xindex>
}}
"""


def rest(a: int, b: int) -> int:
    """What `arith.remsi` gives: the sign is that of the number."""
    return a - b * (a // b if a >= 0 else -(-a // b))


OPS = {"addi": lambda a, b: a + b, "subi": lambda a, b: a - b, "minsi": min, "maxsi": max, "remsi": rest}


@pytest.mark.parametrize("seed", range(60))
def test_ranges_give_the_same_numbers(seed: int) -> None:
    random = Random(seed)
    length, lines = random.randint(1, 30), []
    values = [list(range(length))]
    for n in range(1, random.randint(3, 6)):
        a, number = random.randrange(n), random.randint(20, 40)
        name = random.choice([*OPS, "select"])
        lines.append(f"%c{n} = arith.constant {number} : index")
        if name == "select":
            lines += [f"%t{n} = arith.cmpi slt, %v{a}, %c{n} : index",
                      f"%v{n} = arith.select %t{n}, %v{a}, %v{n - 1} : index"]  # fmt: skip
            values.append([x if x < number else y for x, y in zip(values[a], values[n - 1], strict=True)])
        else:
            lines.append(f"%v{n} = arith.{name} %v{a}, %c{n} : index")
            values.append([OPS[name](x, number) for x in values[a]])
    text = _BODY.format(length=length, lines="\n".join(lines), last=len(values) - 1)
    with new_context():
        module = ir.Module.parse(text)
        (end,) = named(module.operation, "linalg.yield")
        found = linear_ranges(end.operands[0], [length])
    assert found is not None
    covered = [n for each in found[1] for n in range(each.low, each.high)]
    assert covered in (list(range(length)), [0])
    for each in found[1]:
        for n in range(each.low, each.high):
            assert each.slope * n + each.start == values[-1][n]
