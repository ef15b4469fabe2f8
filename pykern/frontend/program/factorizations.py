"""Factors of batches of matrices with their derivatives: QR, singular values, symmetric eigenvalues, pseudo-inverse.

Comes in: arrays (batch, m, n) of f32 or f64. Goes out: factors, computed by the kernels of `factorization_kernels`.
The derivatives are those of J. Townsend, "Differentiating the singular value decomposition", 2016, of M. Giles, "An
extended collection of matrix derivative results for forward and reverse mode automatic differentiation", 2008, and, of
pseudo-inverses, of G. H. Golub and V. Pereyra, 1973. Vectors of equal values are no functions of the matrix: what would
flow through their difference is left out.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from pykern.frontend.program import arguments, factorization_kernels, linear_systems
from pykern.frontend.program.composition import Composer, number, numbers
from pykern.frontend.program.differentiated_functions import Differentiated, call
from pykern.frontend.program.values import Cell
from pykern.frontend.values import FunctionValue, Scalar, TupleValue, TypeValue, Value

if TYPE_CHECKING:
    from pykern.frontend.program.translator import ProgramTranslator


def _made(made: Composer, source: object, *given: Cell) -> list[Cell]:
    found = made.t.called_with(made.node, FunctionValue(source), list(given), {})  # type: ignore[arg-type]
    assert isinstance(found, TupleValue)
    return [made.array(part) for part in found.items]


def _zeros(made: Composer, like: Cell, *shape: int) -> Cell:
    return made.cell("zeros", numbers(shape), TypeValue(like.dtype))


def _t(made: Composer, x: Cell) -> Cell:
    return made.cell("swapaxes", x, number(1), number(2))


def _mm(made: Composer, *factors: Cell) -> Cell:
    found = factors[0]
    for factor in factors[1:]:
        found = made.cell("matmul", found, factor)
    return found


def _op(made: Composer, symbol: str, a: Value, b: Value) -> Cell:
    return made.array(made.op(symbol, a, b))


def _column(made: Composer, x: Cell) -> Cell:
    return made.reshaped(x, *x.shape, 1)


def _row(made: Composer, x: Cell) -> Cell:
    return made.reshaped(x, x.shape[0], 1, x.shape[1])


def _inverse(made: Composer, x: Cell) -> Cell:
    """One over each number, and 0 of 0."""
    is_zero = made.op("==", x, number(0.0))
    return made.array(
        made.call(
            "where",
            is_zero,
            number(0.0),
            made.op("/", number(1.0), made.call("where", is_zero, number(1.0), x)),
        )
    )


def _differences(made: Composer, x: Cell) -> Cell:
    """``1 / (x[j] - x[i])`` at i, j; 0 where both are equal, as on the diagonal."""
    return _inverse(made, _op(made, "-", _row(made, x), _column(made, x)))


def _diagonal(made: Composer, x: Cell) -> Cell:
    """The diagonals of matrices."""
    one = linear_systems.identity(made, x)
    return made.cell("sum", _op(made, "*", x, one), number(2))


def _diagonals(made: Composer, x: Cell, n: int) -> Cell:
    """Matrices with vectors on their diagonals."""
    one = made.cell("eye", number(n), dtype=TypeValue(x.dtype))
    return _op(made, "*", _column(made, x), one)


# -- symmetric eigenvalues ------------------------------------------------------------------------


def eigen(made: Composer, a: Cell) -> tuple[Cell, Cell]:
    """Values in rising order, and vectors as columns, of symmetric matrices."""
    values, vectors = call(made, _EIGEN, a)
    return values, vectors


def _eigen_primal(made: Composer, a: Cell) -> list[Cell]:
    batch, n, _ = a.shape
    nothing = _zeros(made, a, batch, n)
    values, rows = _made(made, factorization_kernels.eigen(a.dtype.name), a, nothing, nothing)
    return [values, _t(made, rows)]


def _eigen_reverse(made: Composer, a: Cell, w: Cell, v: Cell, gw: Cell, gv: Cell) -> list[Cell]:
    """``v (diag(w') + F * (v.T v')) v.T``, F one over differences; the symmetric half."""
    inner = _op(made, "*", _differences(made, w), _mm(made, _t(made, v), gv))
    inner = _op(made, "+", inner, _diagonals(made, gw, w.shape[1]))
    half = _op(made, "*", _op(made, "+", inner, _t(made, inner)), Scalar(a.dtype, const=0.5))
    return [_mm(made, v, half, _t(made, v))]


def _eigen_forward(made: Composer, a: Cell, w: Cell, v: Cell, da: Cell) -> list[Cell]:
    inner = _mm(made, _t(made, v), da, v)
    return [_diagonal(made, inner), _mm(made, v, _op(made, "*", _differences(made, w), inner))]


_EIGEN = Differentiated("linalg.eigh", _eigen_primal, _eigen_reverse, _eigen_forward)


# -- singular values ------------------------------------------------------------------------------


def singular(made: Composer, a: Cell) -> tuple[Cell, Cell, Cell]:
    """``u, s, vt`` with as many values as the shorter side has."""
    if a.shape[1] < a.shape[2]:
        u, s, vt = singular(made, _t(made, a))
        return _t(made, vt), s, _t(made, u)
    u, s, v = call(made, _SINGULAR, a)
    return u, s, _t(made, v)


def completed(made: Composer, a: Cell) -> Cell:
    """The left vectors that belong to no value: an orthonormal base of what the columns of tall matrices leave."""
    batch, m, n = a.shape
    columns = _t(made, made.cell("stop_gradient", a))
    room = made.cell("concatenate", TupleValue((columns, _zeros(made, a, batch, m - n, m))), number(1))
    u = _singular_rows(made, room, n)[0]
    return made.cell("stop_gradient", _t(made, made.part(u, 1, n, m)))


def _singular_rows(made: Composer, columns: Cell, n: int) -> list[Cell]:
    batch = columns.shape[0]
    source = factorization_kernels.singular(columns.dtype.name)
    return _made(made, source, columns, _zeros(made, columns, batch, n, n), _zeros(made, columns, batch, n))


def _singular_primal(made: Composer, a: Cell) -> list[Cell]:
    u, s, v = _singular_rows(made, _t(made, a), a.shape[2])
    return [_t(made, u), s, _t(made, v)]


def _singular_reverse(
    made: Composer, a: Cell, u: Cell, s: Cell, v: Cell, gu: Cell, gs: Cell, gv: Cell
) -> list[Cell]:
    f, inverse = _differences(made, _op(made, "*", s, s)), _row(made, _inverse(made, s))
    of_u, of_v = _mm(made, _t(made, u), gu), _mm(made, _t(made, v), gv)
    left = _op(made, "*", f, _op(made, "-", of_u, _t(made, of_u)))
    right = _op(made, "*", f, _op(made, "-", of_v, _t(made, of_v)))
    inner = _op(made, "+", _op(made, "*", left, _row(made, s)), _op(made, "*", right, _column(made, s)))
    inner = _op(made, "+", inner, _diagonals(made, gs, s.shape[1]))
    outer = _op(made, "*", _op(made, "-", gu, _mm(made, u, of_u)), inverse)
    across = _op(made, "*", _op(made, "-", gv, _mm(made, v, of_v)), inverse)
    found = _mm(made, _op(made, "+", _mm(made, u, inner), outer), _t(made, v))
    return [_op(made, "+", found, _mm(made, u, _t(made, across)))]


def _singular_forward(made: Composer, a: Cell, u: Cell, s: Cell, v: Cell, da: Cell) -> list[Cell]:
    f, inverse = _differences(made, _op(made, "*", s, s)), _row(made, _inverse(made, s))
    moved, back = _mm(made, da, v), _mm(made, _t(made, da), u)
    inner = _mm(made, _t(made, u), moved)
    along, beside = _op(made, "*", inner, _row(made, s)), _op(made, "*", inner, _column(made, s))
    du = _mm(made, u, _op(made, "*", f, _op(made, "+", along, _t(made, along))))
    dv = _mm(made, v, _op(made, "*", f, _op(made, "+", beside, _t(made, beside))))
    outer = _op(made, "*", _op(made, "-", moved, _mm(made, u, inner)), inverse)
    across = _op(made, "*", _op(made, "-", back, _mm(made, v, _t(made, inner))), inverse)
    return [_op(made, "+", du, outer), _diagonal(made, inner), _op(made, "+", dv, across)]


_SINGULAR = Differentiated("linalg.svd", _singular_primal, _singular_reverse, _singular_forward)


# -- QR -------------------------------------------------------------------------------------------


def orthogonal(made: Composer, a: Cell) -> tuple[Cell, Cell]:
    """``q, r``, with as many columns of `q` as the shorter side has."""
    _, m, n = a.shape
    if m >= n:
        q, r = call(made, _ORTHOGONAL, a)
        return q, r
    q, r = orthogonal(made, made.part(a, 2, 0, m))
    rest = _mm(made, _t(made, q), made.part(a, 2, m, n))
    return q, made.cell("concatenate", TupleValue((r, rest)), number(2))


def orthogonal_complement(made: Composer, a: Cell) -> Cell:
    """The columns of `q` behind those of a tall matrix."""
    _, m, n = a.shape
    rows = _orthogonal_rows(made, made.cell("stop_gradient", a), m)[1]
    return made.cell("stop_gradient", _t(made, made.part(rows, 1, n, m)))


def _orthogonal_rows(made: Composer, a: Cell, count: int) -> list[Cell]:
    batch, m, n = a.shape
    spaces = (_zeros(made, a, batch, n, m), _zeros(made, a, batch, count, m))
    return _made(made, factorization_kernels.qr(a.dtype.name), _t(made, a), *spaces)


def _orthogonal_primal(made: Composer, a: Cell) -> list[Cell]:
    n = a.shape[2]
    columns, rows = _orthogonal_rows(made, a, n)
    return [_t(made, rows), _t(made, made.part(columns, 2, 0, n))]


def _over(made: Composer, x: Cell, r: Cell) -> Cell:
    """``x r^-1``"""
    return _t(made, linear_systems.solve(made, _t(made, r), _t(made, x)))


def _orthogonal_reverse(made: Composer, a: Cell, q: Cell, r: Cell, gq: Cell, gr: Cell) -> list[Cell]:
    """``(q' + q s) r^-T``, where s is symmetric with the lower triangle of ``r r'.T - q'.T q``."""
    whole = _op(made, "-", _mm(made, r, _t(made, gr)), _mm(made, _t(made, gq), q))
    lower = made.cell("tril", whole)
    both = _op(made, "+", lower, _t(made, made.cell("tril", whole, number(-1))))
    return [_over(made, _op(made, "+", gq, _mm(made, q, both)), _t(made, r))]


def _orthogonal_forward(made: Composer, a: Cell, q: Cell, r: Cell, da: Cell) -> list[Cell]:
    over = _over(made, da, r)
    inner = _mm(made, _t(made, q), over)
    lower = made.cell("tril", inner, number(-1))
    turning = _op(made, "-", lower, _t(made, lower))
    dq = _op(made, "+", over, _mm(made, q, _op(made, "-", turning, inner)))
    return [dq, _mm(made, _op(made, "-", inner, turning), r)]


_ORTHOGONAL = Differentiated("linalg.qr", _orthogonal_primal, _orthogonal_reverse, _orthogonal_forward)


# -- pseudo-inverse -------------------------------------------------------------------------------


def pseudo_inverse(made: Composer, a: Cell, least: float) -> Cell:
    """The pseudo-inverse, without the singular values that are `least` times the greatest one or smaller."""

    def primal(m: Composer, x: Cell) -> list[Cell]:
        u, s, vt = singular(m, x)
        bound = m.op("*", m.part(s, 1, 0, 1), number(least))
        kept = m.array(m.call("where", m.op(">", s, bound), s, number(0.0)))
        weights = _column(m, _inverse(m, kept))
        return [_mm(m, _t(m, vt), _op(m, "*", weights, _t(m, u)))]

    name = f"linalg.pinv.{least!r}"
    return call(made, Differentiated(name, primal, _inverse_reverse, _inverse_forward), a)[0]


def _projected(made: Composer, a: Cell, p: Cell) -> tuple[Cell, Cell]:
    """``1 - a p`` and ``1 - p a``"""
    found = (_mm(made, a, p), _mm(made, p, a))
    left, right = (_op(made, "-", linear_systems.identity(made, x), x) for x in found)
    return left, right


def _inverse_reverse(made: Composer, a: Cell, p: Cell, g: Cell) -> list[Cell]:
    left, right = _projected(made, a, p)
    pt, gt = _t(made, p), _t(made, g)
    outside = _op(made, "+", _mm(made, left, gt, p, pt), _mm(made, pt, p, gt, right))
    return [_op(made, "-", outside, _mm(made, pt, g, pt))]


def _inverse_forward(made: Composer, a: Cell, p: Cell, da: Cell) -> list[Cell]:
    left, right = _projected(made, a, p)
    pt, dt = _t(made, p), _t(made, da)
    outside = _op(made, "+", _mm(made, p, pt, dt, left), _mm(made, right, dt, pt, p))
    return [_op(made, "-", outside, _mm(made, p, da, p))]


# -- what texts call ------------------------------------------------------------------------------


def _factors(name: str, count: Callable[[Composer, Cell], tuple[Cell, ...]]) -> Callable:
    """A function of matrices (batch, m, n), as texts call it."""

    def apply(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
        given = arguments.bind(t, node, name, "a", args, keywords)
        made = Composer(t, node)
        return TupleValue(count(made, made.array(given["a"])))

    return apply


def _pseudo_inverse(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    given = arguments.bind(t, node, "pseudo_inverse", "a least", args, keywords)
    made, least = Composer(t, node), given["least"]
    if not isinstance(least, Scalar) or not isinstance(least.const, int | float):
        raise t.type_error(node, "the smallest singular value that counts is a number known when compiling",
                           "write a constant for `rcond`")  # fmt: skip
    return pseudo_inverse(made, made.array(given["a"]), float(least.const))


HANDLERS: dict[str, Callable] = {
    "eigen_factors": _factors("eigen_factors", eigen),
    "singular_factors": _factors("singular_factors", singular),
    "orthogonal_factors": _factors("orthogonal_factors", orthogonal),
    "singular_complement": _factors("singular_complement", lambda made, a: (completed(made, a),)),
    "orthogonal_complement": _factors(
        "orthogonal_complement", lambda made, a: (orthogonal_complement(made, a),)
    ),
    "pseudo_inverse": _pseudo_inverse,
}
