"""Products of rows and small matrices in a kernel: ``a @ b``, ``A[i] @ v``, ``np.outer``, ``np.linalg.det``, ``inv``.

Comes in: rows of one or two dimensions. Goes out: a number, or a row whose elements are sums of products. Determinants
and inverses are those of 2 x 2 and 3 x 3, by their formulas, so their size must be known when compiling.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable
from typing import TYPE_CHECKING

from pykern.frontend import arithmetic, row_reductions, rows
from pykern.frontend.casts import convert
from pykern.frontend.rows import Row, Rows, is_row
from pykern.frontend.slices import transposed
from pykern.frontend.values import Scalar, Value, describe
from pykern.types import f64, weak_int

if TYPE_CHECKING:
    from pykern.frontend.calls import Calls
    from pykern.frontend.operations import Operations


def product(t: Operations, node: ast.AST, left: Value, right: Value) -> Value:
    """``left @ right`` of rows of one or two dimensions. Raises `KernelTypeError` for what is none."""
    if not (is_row(left) and is_row(right)):
        wrong = right if is_row(left) else left
        raise t.type_error(node, f"`@` takes rows in kernels, not {describe(wrong)}",
                           "write a loop that adds products, or `@` in a @pk.jit program")  # fmt: skip
    for side in (left, right):
        if len(side.shape) > 2:
            raise t.type_error(node, f"`@` takes rows of one or two dimensions in kernels, not {describe(side)}",
                               "write a loop over the first dimension, or `@` in a @pk.jit program")  # fmt: skip
    if len(left.shape) == len(right.shape) == 1:
        return row_reductions.dot(t, node, left, right)
    across = transposed(t, node, right)
    shape = [*rows.lengths(t, left)[:-1], *rows.lengths(t, across)[:-1]]
    rows.joined(t, node, rows.lengths(t, left)[-1:], rows.lengths(t, across)[-1:])

    def element(
        t: Operations, node: ast.expr, operands: tuple[Value, ...], indices: tuple[Scalar, ...]
    ) -> Scalar:
        own = list(indices)
        sides = [operands[0], operands[1]]
        for n, side in enumerate(operands):
            if rows.rank_of(side) == 2:
                sides[n] = t.item(node, side, own.pop(0))  # type: ignore[arg-type, attr-defined]
        return row_reductions.dot(t, node, *sides)

    return rows.formula(t, node, [left, across], element, shape)  # type: ignore[arg-type]


def outer(t: Calls, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    """``np.outer(a, b)``."""
    if len(args) != 2 or keywords or not all(is_row(v) and len(v.shape) == 1 for v in args):
        raise t.type_error(node, "`outer` takes two rows of one dimension", "write np.outer(x[i], y[i])")
    shape = [length for v in args for length in rows.lengths(t, v)]

    def element(t: Calls, node: ast.AST, operands: tuple[Value, ...], indices: tuple[Scalar, ...]) -> Scalar:
        a, b = (rows.element_of(t, node, v, (k,)) for v, k in zip(operands, indices, strict=True))
        with t.operands_of(node):
            return arithmetic.binary("*", a, b, t.fastmath)

    return rows.formula(t, node, args, element, shape)


def transpose(t: Calls, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    """``np.transpose(a)``."""
    if len(args) != 1 or keywords or not is_row(args[0]):
        raise t.type_error(
            node, "`transpose` takes one row in kernels", "write np.transpose(x[i]), or x[i].T"
        )
    return transposed(t, node, args[0])


def trace(t: Calls, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    """The sum of the diagonal."""
    if len(args) != 1 or keywords or not is_row(args[0]) or len(args[0].shape) != 2:
        raise t.type_error(node, "`trace` takes one row of two dimensions", "write np.trace(x[i])")
    length = rows.joined(t, node, *([v] for v in rows.lengths(t, args[0])))  # type: ignore[arg-type]
    diagonal = rows.view(t, node, args[0], [], length, lambda _, own: (*own, *own))
    return row_reductions.call(t, node, "sum", diagonal, [], {})


def determinant(t: Calls, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    """``np.linalg.det`` of matrices up to 4 x 4."""
    m = _matrix(t, node, args, keywords)
    with t.operands_of(node):
        return _Formulas(t.fastmath).determinant(m)


def inverse(t: Calls, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    """``np.linalg.inv`` of matrices up to 4 x 4: the adjugate over the determinant."""
    m = _matrix(t, node, args, keywords)
    f = _Formulas(t.fastmath)
    with t.operands_of(node):
        scale = f.of("/", Scalar(m[0][0].dtype, const=1.0), f.determinant(m))
        n = len(m)
        found = [f.of("*", f.cofactor(m, k, i), scale) for i in range(n) for k in range(n)]
        return rows.of_numbers(t, node, found, shape=[n, n])


def solution(t: Calls, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    """``np.linalg.solve(a, b)``, of matrices up to 4 x 4: the inverse times the right-hand side."""
    if len(args) != 2 or keywords or not is_row(args[1]):
        raise t.type_error(node, "`solve` takes a matrix and a row", "write np.linalg.solve(a[i], b[i])")
    return product(t, node, inverse(t, node, args[:1], {}), args[1])  # type: ignore[arg-type]


class _Formulas:
    """Of matrices of numbers, given as lists."""

    def __init__(self, fastmath: bool) -> None:
        self.fastmath = fastmath

    def of(self, op: str, a: Scalar, b: Scalar) -> Scalar:
        return arithmetic.binary(op, a, b, self.fastmath)

    def minor(self, a: Scalar, b: Scalar, c: Scalar, d: Scalar) -> Scalar:
        """``a * d - b * c``."""
        return self.of("-", self.of("*", a, d), self.of("*", b, c))

    def determinant(self, m: list[list[Scalar]]) -> Scalar:
        if len(m) == 1:
            return m[0][0]
        if len(m) == 2:
            return self.minor(*m[0], *m[1])
        terms = [self.of("*", m[0][k], self.cofactor(m, 0, k)) for k in range(len(m))]
        return functools.reduce(lambda a, b: self.of("+", a, b), terms)

    def cofactor(self, m: list[list[Scalar]], i: int, k: int) -> Scalar:
        if len(m) == 1:
            return Scalar(m[0][0].dtype, const=1.0)
        if len(m) != 3:
            found = self.determinant([line[:k] + line[k + 1 :] for line in m[:i] + m[i + 1 :]])
            return arithmetic.negate(found) if (i + k) % 2 else found
        (a, b), (c, d) = (((i + 1) % 3, (i + 2) % 3), ((k + 1) % 3, (k + 2) % 3))
        return self.minor(m[a][c], m[a][d], m[b][c], m[b][d])


def _matrix(t: Calls, node: ast.Call, args: list[Value], keywords: dict) -> list[list[Scalar]]:
    name = ast.unparse(node.func)
    if len(args) != 1 or keywords or not is_row(args[0]) or len(args[0].shape) != 2:
        raise t.type_error(
            node, f"`{name}` takes one row of two dimensions in kernels", f"write {name}(x[i])"
        )
    matrix: Rows = args[0]
    if isinstance(matrix, Row):
        rows.check_fresh(t, node, matrix)
    shape = rows.lengths(t, matrix)
    known = next((length.const for length in shape if length.is_const), None)
    if known not in (1, 2, 3, 4) or any(length.is_const and length.const != known for length in shape):
        raise t.type_error(node, f"`{name}` takes matrices up to 4 x 4, and this is {describe(matrix)}",
                           f"say how large it is: {name}(x[i, :3, :3])")  # fmt: skip
    rows.joined(t, node, shape, [_number(known)] * 2)  # type: ignore[arg-type]
    dtype = matrix.dtype.loaded if matrix.dtype.is_float else f64
    return [
        [
            convert(rows.element_of(t, node, matrix, (_number(i), _number(k))), dtype)
            for k in range(known)  # type: ignore[arg-type]
        ]
        for i in range(known)  # type: ignore[arg-type]
    ]


def _number(value: int) -> Scalar:
    return Scalar(weak_int, const=value)


HANDLERS: dict[str, Callable] = {
    "outer": outer, "transpose": transpose, "trace": trace, "linalg.det": determinant, "linalg.inv": inverse,
    "linalg.solve": solution,
}  # fmt: skip
