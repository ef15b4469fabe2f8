"""Functions of `numpy.linalg`: solve, inv, det, slogdet, cholesky, matrix_power.

Comes in: a call. Goes out: its value. Matrices are brought to one form here, a batch of them of f32 or f64;
`linear_systems` computes. Where NumPy raises `LinAlgError`, the values are NaN, as in JAX.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from pykern.data.promotion import promote
from pykern.frontend.program import arguments, elementwise, linear_systems
from pykern.frontend.program.composition import Composer, number, numbers
from pykern.frontend.program.tile_lengths import refuse
from pykern.frontend.program.values import Cell
from pykern.frontend.values import TupleValue, TypeValue, Value
from pykern.types import DType, f64

if TYPE_CHECKING:
    from pykern.frontend.program.translator import ProgramTranslator


def _solve(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    """``a @ x == b``: a vector `b` is one right-hand side, any other has columns of them."""
    given = arguments.bind(t, node, "np.linalg.solve", "a b", args, keywords)
    made = Composer(t, node)
    a, b = _square(made, given["a"], "np.linalg.solve"), made.array(given["b"])
    n = a.shape[-1]
    is_vector = len(b.shape) == 1
    if not b.shape or b.shape[-1 if is_vector else -2] != n:
        raise t.type_error(node, f"the right-hand sides have {n} rows, as the matrix has, and this is {b.description}",
                           "write b[:, None] for a column")  # fmt: skip
    kind = _float(made, a, b)
    b = _typed(made, b, kind)
    b = made.reshaped(b, n, 1) if is_vector else b
    batch = elementwise.broadcast_shapes(t, node, [Cell(x.dtype, x.shape[:-2], x.ssa) for x in (a, b)])
    x = linear_systems.solve(made, _batched(made, _typed(made, a, kind), batch), _batched(made, b, batch))
    return _result(made, x, *batch, n) if is_vector else _result(made, x, *batch, *b.shape[-2:])


def _inv(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    given = arguments.bind(t, node, "np.linalg.inv", "a", args, keywords)
    made = Composer(t, node)
    return _inverse(made, _square(made, given["a"], "np.linalg.inv"))


def _inverse(made: Composer, a: Cell) -> Cell:
    whole = _batched(made, _typed(made, a, _float(made, a)), a.shape[:-2])
    found = linear_systems.solve(made, whole, linear_systems.identity(made, whole))
    return _result(made, found, *a.shape)


def _slogdet(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    """The sign of the determinant, and the logarithm of its absolute value."""
    given = arguments.bind(t, node, "np.linalg.slogdet", "a", args, keywords)
    made = Composer(t, node)
    a = _square(made, given["a"], "np.linalg.slogdet")
    return TupleValue(_determinant(made, a), "SlogdetResult", ("sign", "logabsdet"))


def _determinant(made: Composer, a: Cell) -> tuple[Value, Value]:
    """Sign and logarithm of the determinants."""
    batch, kind = a.shape[:-2], TypeValue(_float(made, a))
    if not a.size:
        one, none = (made.cell(name, numbers(batch), kind) for name in ("ones", "zeros"))
        return _result(made, one, *batch), _result(made, none, *batch)
    whole = _batched(made, _typed(made, a, kind.dtype), batch)
    sign, logarithm = linear_systems.determinant(made, whole)
    return _result(made, sign, *batch), _result(made, logarithm, *batch)


def _det(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    """Of up to 3 rows a polynomial, with a derivative also where it is zero; else as NumPy does, by `slogdet`."""
    given = arguments.bind(t, node, "np.linalg.det", "a", args, keywords)
    made = Composer(t, node)
    a = _square(made, given["a"], "np.linalg.det")
    if a.size and a.shape[-1] <= 3:
        return _expanded(made, _typed(made, a, _float(made, a)))
    sign, logarithm = _determinant(made, a)
    return made.op("*", sign, made.call("exp", logarithm))


def _expanded(made: Composer, a: Cell) -> Value:
    """The determinants of matrices of 1 to 3 rows, along the first row."""
    rank, n = len(a.shape), a.shape[-1]

    def at(i: int, j: int) -> Cell:
        return made.element(made.element(a, rank - 2, i), rank - 2, j)

    def minor(j: int, k: int) -> Value:
        return made.op(
            "-", made.op("*", at(n - 2, j), at(n - 1, k)), made.op("*", at(n - 2, k), at(n - 1, j))
        )

    if n == 1:
        return _result(made, at(0, 0), *a.shape[:-2])
    if n == 2:
        return minor(0, 1)
    first, second, third = (
        made.op("*", at(0, j), minor(*pair)) for j, pair in enumerate(((1, 2), (0, 2), (0, 1)))
    )
    return made.op("+", made.op("-", first, second), third)


def _cholesky(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    """The lower factor, of the lower triangle; with `upper` the upper one, of the upper triangle."""
    given = arguments.bind(t, node, "np.linalg.cholesky", "a upper=", args, keywords)
    made = Composer(t, node)
    a = _square(made, given["a"], "np.linalg.cholesky")
    kind = _float(made, a)
    if not a.size:
        return made.call("zeros", numbers(a.shape), TypeValue(kind))
    is_upper = arguments.flag(t, node, given["upper"], "`upper`")
    whole = _batched(made, _typed(made, a, kind), a.shape[:-2])
    if is_upper:
        whole = made.cell("swapaxes", whole, number(1), number(2))
    found = linear_systems.cholesky(made, whole)
    if is_upper:
        found = made.cell("swapaxes", found, number(1), number(2))
    return _result(made, found, *a.shape)


def _matrix_power(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    """Squares, multiplied as the bits of the power say; of a negative power those of the inverse."""
    given = arguments.bind(t, node, "np.linalg.matrix_power", "a n", args, keywords)
    made = Composer(t, node)
    a = _square(made, given["a"], "np.linalg.matrix_power")
    power = arguments.integer(t, node, given["n"], "the power")
    if power == 0:
        one = made.cell("eye", number(a.shape[-1]), dtype=TypeValue(a.dtype))
        return made.call("copy", made.cell("broadcast_to", one, numbers(a.shape)))
    square = _inverse(made, a) if power < 0 else a
    found: Cell | None = None
    bits = abs(power)
    while bits:
        if bits & 1:
            found = square if found is None else made.cell("matmul", found, square)
        bits >>= 1
        if bits:
            square = made.cell("matmul", square, square)
    assert found is not None
    return found


# -- matrices in one form -------------------------------------------------------------------------


def _square(made: Composer, value: Value, name: str) -> Cell:
    a = made.array(value)
    refuse(made.t, made.node, a.shape[-2:], f"`{name}` goes along")
    if len(a.shape) < 2 or a.shape[-1] != a.shape[-2]:
        raise made.t.type_error(made.node, f"`{name}` takes square matrices, not {a.description}",
                                "its last two axes have one length")  # fmt: skip
    return a


def _float(made: Composer, *given: Cell) -> DType:
    """f64, or f32 where all are; what has 16 bits is refused, as by NumPy."""
    for x in given:
        if x.dtype.is_float and x.dtype.bits < 32:
            raise made.t.type_error(made.node, f"{x.description} has too few digits for this",
                                    "convert it: a.astype(np.float32)")  # fmt: skip
    kind = given[0].dtype
    for x in given[1:]:
        kind = promote(kind, x.dtype)
    return kind if kind.is_float and all(x.dtype.is_float for x in given) else f64


def _typed(made: Composer, x: Cell, kind: DType) -> Cell:
    return x if x.dtype == kind else made.array(made.cast(x, kind))


def _batched(made: Composer, x: Cell, batch: tuple[int, ...]) -> Cell:
    """The matrices of a batch along one axis."""
    whole = made.cell("broadcast_to", x, numbers((*batch, *x.shape[-2:])))
    return made.reshaped(whole, math.prod(batch), *x.shape[-2:])


def _result(made: Composer, x: Cell, *shape: int) -> Cell:
    """`x` in a shape, as an array of its own, or a number where there are no axes."""
    found = made.reshaped(x, *shape)
    return Cell(found.dtype, found.shape, found.ssa, is_scalar=not shape)


HANDLERS: dict[str, Callable] = {
    "linalg.solve": _solve, "linalg.inv": _inv, "linalg.det": _det, "linalg.slogdet": _slogdet,
    "linalg.cholesky": _cholesky, "linalg.matrix_power": _matrix_power,
}  # fmt: skip
