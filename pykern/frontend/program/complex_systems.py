"""Systems of complex equations: twice as many real ones.

Comes in: complex matrices and right-hand sides. Goes out: the solution of real equations, whose matrix is
`[[A.real, -A.imag], [A.imag, A.real]]`. Read next: `linear_algebra`, which solves them.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from pykern.frontend.complex_numbers import pair
from pykern.frontend.program.complex_arrays import zeros
from pykern.frontend.program.values import Cell
from pykern.frontend.values import ComplexValue, Scalar, TupleValue, Value
from pykern.types import weak_int

if TYPE_CHECKING:
    from pykern.frontend.program.translator import ProgramTranslator

SYSTEMS = {"linalg.solve", "linalg.inv"}


def solved(t: ProgramTranslator, node: ast.Call, name: str, given: list[Value]) -> Value:
    """`np.linalg.solve(a, b)` or `np.linalg.inv(a)` of complex values."""
    halves = [value.items[0] if isinstance(value, ComplexValue) else value for value in given]
    if not _fit(halves):
        return t.called_with_name(node, name, halves, {})  # says what is wrong
    real, imag = _parts(given[0])
    negative = t.binary(node, ast.Sub(), Scalar(weak_int, const=0), imag)
    above, below = _beside(t, node, (real, negative), -1), _beside(t, node, (imag, real), -1)
    whole = _beside(t, node, (above, below), -2)
    if name == "linalg.inv":
        inverse = t.called_with_name(node, name, [whole], {})
        left = _halves(t, node, inverse, -1)[0]
        return pair(*_halves(t, node, left, -2))
    sides = _parts(given[1])
    axis = -1 if len(sides[0].shape) == 1 else -2
    found = t.called_with_name(node, name, [whole, _beside(t, node, sides, axis)], {})
    return pair(*_halves(t, node, found, axis))


def _fit(halves: list[Value]) -> bool:
    """Whether a matrix is square, and its right-hand sides have as many rows."""
    shapes = [half.shape if isinstance(half, Cell) else () for half in halves]
    if len(shapes[0]) < 2 or shapes[0][-1] != shapes[0][-2]:
        return False
    return all(bool(shape) and shape[-2:][0] == shapes[0][-1] for shape in shapes[1:])


def _parts(value: Value) -> tuple[Cell, Cell]:
    if isinstance(value, ComplexValue):
        real, imag = value.items
        assert isinstance(real, Cell) and isinstance(imag, Cell)
        return real, imag
    assert isinstance(value, Cell)
    return value, zeros(value)


def _beside(t: ProgramTranslator, node: ast.Call, parts: tuple[Value, ...], axis: int) -> Value:
    return t.called_with_name(
        node, "concatenate", [TupleValue(parts)], {"axis": Scalar(weak_int, const=axis)}
    )


def _halves(t: ProgramTranslator, node: ast.Call, value: Value, axis: int) -> tuple[Value, ...]:
    count = Scalar(weak_int, const=2)
    made = t.called_with_name(node, "split", [value, count], {"axis": Scalar(weak_int, const=axis)})
    assert isinstance(made, TupleValue)
    return made.items
