"""Every rule of the tables against derivatives computed with 40 digits."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from mlir import ir

from pykern.dialect.context import new_context
from pykern.passes.autodiff.rules import table
from tests.cases.jit import Compiled

SMOOTH = (-2.5, 2.5)
FUNCTIONS = {
    "arith.addf": (lambda x, y: x + y, SMOOTH),
    "arith.subf": (lambda x, y: x - y, SMOOTH),
    "arith.mulf": (lambda x, y: x * y, SMOOTH),
    "arith.divf": (lambda x, y: x / y, (0.3, 2.5)),
    "arith.remf": (lambda x, y: x - y * int(x / y), (0.3, 2.5)),
    "arith.negf": (lambda x: -x, SMOOTH),
    "arith.maximumf": (max, SMOOTH),
    "arith.minimumf": (min, SMOOTH),
    "arith.maxnumf": (max, SMOOTH),
    "arith.minnumf": (min, SMOOTH),
    "math.sqrt": (mpmath.sqrt, (0.1, 4)),
    "math.rsqrt": (lambda x: 1 / mpmath.sqrt(x), (0.1, 4)),
    "math.cbrt": (mpmath.cbrt, (0.1, 4)),
    "math.exp": (mpmath.exp, SMOOTH),
    "math.exp2": (lambda x: mpmath.mpf(2) ** x, SMOOTH),
    "math.expm1": (mpmath.expm1, SMOOTH),
    "math.log": (mpmath.log, (0.1, 4)),
    "math.log2": (lambda x: mpmath.log(x, 2), (0.1, 4)),
    "math.log10": (mpmath.log10, (0.1, 4)),
    "math.log1p": (mpmath.log1p, (-0.9, 4)),
    "math.sin": (mpmath.sin, SMOOTH),
    "math.cos": (mpmath.cos, SMOOTH),
    "math.tan": (mpmath.tan, (-1.4, 1.4)),
    "math.asin": (mpmath.asin, (-0.95, 0.95)),
    "math.acos": (mpmath.acos, (-0.95, 0.95)),
    "math.atan": (mpmath.atan, SMOOTH),
    "math.sinh": (mpmath.sinh, SMOOTH),
    "math.cosh": (mpmath.cosh, SMOOTH),
    "math.tanh": (mpmath.tanh, SMOOTH),
    "math.asinh": (mpmath.asinh, SMOOTH),
    "math.acosh": (mpmath.acosh, (1.1, 4)),
    "math.atanh": (mpmath.atanh, (-0.95, 0.95)),
    "math.atan2": (lambda x, y: mpmath.atan2(x, y), (0.2, 3)),
    "math.erf": (mpmath.erf, SMOOTH),
    "math.erfc": (mpmath.erfc, SMOOTH),
    "math.powf": (lambda x, y: x**y, (0.2, 3)),
    "math.fma": (lambda x, y, z: x * y + z, SMOOTH),
    "math.absf": (abs, SMOOTH),
    "math.copysign": (lambda x, y: abs(x) * mpmath.sign(y), SMOOTH),
    "math.floor": (mpmath.floor, SMOOTH),
    "math.ceil": (mpmath.ceil, SMOOTH),
    "math.trunc": (lambda x: mpmath.mpf(int(x)), SMOOTH),
    "math.round": (mpmath.nint, SMOOTH),
    "math.roundeven": (mpmath.nint, SMOOTH),
}
ELSEWHERE = {"arith.select", "arith.extf", "arith.truncf", "math.fpowi"}
"""Held by the tests below and by whole kernels."""

LOWER = "convert-math-to-funcs,convert-math-to-llvm,convert-math-to-libm"
BODY = """
func.func @f(%v: memref<?x{n}xf64>, %d: memref<?x{n}xf64>) attributes {{llvm.emit_c_interface}} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = memref.dim %v, %c0 : memref<?x{n}xf64>
  scf.for %i = %c0 to %rows step %c1 {{
    {loads}
    %r = {op} {operands} : f64
    "test.here"(%r) : (f64) -> ()
  }}
  return
}}
"""


def test_every_rule_has_a_case():
    assert set(table.RULES) == set(FUNCTIONS) | ELSEWHERE


class EmitPartials:
    """Stands in for a pass: the partial derivatives, with the adjoint 1, into the second array."""

    def run(self, module: ir.Module) -> None:
        found = []
        module.operation.walk(lambda op: found.append(op) or ir.WalkResult.ADVANCE)
        marker = next(op for op in found if op.name == "test.here")
        op = marker.operands[0].owner
        with ir.InsertionPoint(marker), ir.Location.unknown():
            from mlir.dialects import arith, memref

            kernel = op.operation.parent.operation.parent.operation
            out = kernel.regions[0].blocks[0].arguments[1]
            row = op.operation.parent.operation.regions[0].blocks[0].arguments[0]
            one = arith.constant(ir.F64Type.get(), 1.0)
            for number in range(len(op.operands)):
                given = table.vjp(op, number, table.reads(op, number), one)
                if given is None:
                    given = arith.constant(ir.F64Type.get(), 0.0)
                memref.store(given, out, [row, arith.constant(ir.IndexType.get(), number)])
        marker.erase()


def partials(name: str, points: np.ndarray) -> np.ndarray:
    n = points.shape[1]
    loads = "\n".join(
        f"%k{i} = arith.constant {i} : index\n%x{i} = memref.load %v[%i, %k{i}] : memref<?x{n}xf64>"
        for i in range(n)
    )
    text = BODY.format(n=n, loads=loads, op=name, operands=", ".join(f"%x{i}" for i in range(n)))
    with new_context() as context, ir.Location.unknown():
        context.allow_unregistered_dialects = True
        module = ir.Module.parse(text)
        EmitPartials().run(module)
        lowered = str(module)
    from pykern.passes.framework import Upstream

    out = np.empty_like(points)
    Compiled(lowered, [Upstream(LOWER)])("f", points, out)
    return out


@pytest.mark.parametrize("name", FUNCTIONS)
def test_rule(name):
    function, (low, high) = FUNCTIONS[name]
    count = len(table.RULES[name])
    random = np.random.default_rng(len(name))
    points = random.uniform(low, high, (8, count))
    found = partials(name, points)
    with mpmath.workdps(40):
        for point, row in zip(points, found, strict=True):
            at = tuple(mpmath.mpf(float(p)) for p in point)
            for i in range(count):
                order = tuple(int(i == k) for k in range(count)) if count > 1 else 1
                expected = mpmath.diff(function, at if count > 1 else at[0], order)
                np.testing.assert_allclose(row[i], float(expected), rtol=3e-14, atol=1e-15)


def test_kinks_and_edges():
    """Where there is no derivative the choice is JAX's, and a zero stays a zero."""
    tie = np.array([[1.5, 1.5]])
    np.testing.assert_array_equal(partials("arith.maximumf", tie), [[0.5, 0.5]])
    np.testing.assert_array_equal(partials("math.absf", np.array([[0.0], [-0.0]])), [[0.0], [0.0]])
    powers = partials("math.powf", np.array([[0.0, 2.0], [0.0, 0.0], [2.0, 0.0]]))
    np.testing.assert_allclose(powers, [[0, 0], [0, 0], [0, np.log(2)]])
