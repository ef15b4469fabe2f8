"""Linear systems, determinants and Cholesky factors of batches of matrices, with their derivatives.

Comes in: arrays (batch, n, n) of f32 or f64. Goes out: arrays made by a kernel that works on one matrix in each
work-item: Gaussian elimination with partial pivoting, or Cholesky's factorisation, eight columns at a time, so that a
row of the rest is read and written once for eight (G. H. Golub and C. F. Van Loan, Matrix Computations, 4th edition,
sections 3.2 and 4.2). A matrix that has no solution or no factor gives NaN.

The derivatives are those of M. Giles, "An extended collection of matrix derivative results for forward and reverse mode
automatic differentiation", 2008.
"""

from __future__ import annotations

import math

from pykern.data.source import Builtin, CapturedKernel, Constant, FunctionSource, KernelOptions
from pykern.frontend.program.composition import Composer, number, numbers
from pykern.frontend.program.differentiated_functions import Differentiated, call
from pykern.frontend.program.values import Cell
from pykern.frontend.values import FunctionValue, Scalar, TupleValue, TypeValue
from pykern.passes.analysis.cost_model.registers import ELIMINATED_COLUMNS
from pykern.types import bool_

_FACTORS = "\n        ".join(f"f{k} = c[r, i, first + {k}]" for k in range(ELIMINATED_COLUMNS))
_COLUMN = "\n        ".join(f"f{k} = c[r, first + {k}, i]" for k in range(ELIMINATED_COLUMNS))
_TERMS = " + ".join(f"f{k} * c[r, first + {k}, j]" for k in range(ELIMINATED_COLUMNS))

_PIVOT = """\
def eliminate_column(c, r, k, last):
    n = c.shape[1]
    best = k
    most = abs(c[r, k, k])
    for i in range(k + 1, n):
        size = abs(c[r, i, k])
        if size > most:
            most = size
            best = i
    if best != k:
        for j in range(c.shape[2]):
            held = c[r, k, j]
            c[r, k, j] = c[r, best, j]
            c[r, best, j] = held
    pivot = c[r, k, k]
    for i in range(k + 1, n):
        factor = c[r, i, k] / pivot
        c[r, i, k] = factor
        for j in range(k + 1, last):
            c[r, i, j] -= factor * c[r, k, j]
    return best != k
"""
_ROWS = f"""\
def reduce_rows(c, r, first, last):
    for i in range(first + 1, last):
        for k in range(first, i):
            factor = c[r, i, k]
            for j in range(last, c.shape[2]):
                c[r, i, j] -= factor * c[r, k, j]
    for i in range(last, c.shape[1]):
        {_FACTORS}
        for j in range(last, c.shape[2]):
            c[r, i, j] -= {_TERMS}
"""
_ELIMINATE = f"""\
def eliminate(c, r):
    n = c.shape[1]
    is_odd = False
    whole = n // {ELIMINATED_COLUMNS} * {ELIMINATED_COLUMNS}
    for first in range(0, whole, {ELIMINATED_COLUMNS}):
        for k in range(first, first + {ELIMINATED_COLUMNS}):
            if eliminate_column(c, r, k, first + {ELIMINATED_COLUMNS}):
                is_odd = not is_odd
        reduce_rows(c, r, first, first + {ELIMINATED_COLUMNS})
    for k in range(whole, n):
        if eliminate_column(c, r, k, c.shape[2]):
            is_odd = not is_odd
    return is_odd
"""
_SUBSTITUTE = """\
def substitute(c, r):
    n = c.shape[1]
    for back in range(n):
        k = n - 1 - back
        for i in range(k + 1, n):
            factor = c[r, k, i]
            for j in range(n, c.shape[2]):
                c[r, k, j] -= factor * c[r, i, j]
        pivot = c[r, k, k]
        for j in range(n, c.shape[2]):
            c[r, k, j] = c[r, k, j] / pivot
"""
_SOLVE = """\
def solve_rows(c):
    r = index()
    n = c.shape[1]
    eliminate(c, r)
    is_singular = False
    for k in range(n):
        if c[r, k, k] == 0:
            is_singular = True
    if is_singular:
        for k in range(n):
            for j in range(n, c.shape[2]):
                c[r, k, j] = nan
    else:
        substitute(c, r)
"""
_DETERMINANT = """\
def determinant_rows(c, sign, logarithm):
    r = index()
    is_negative = eliminate(c, r)
    is_singular = False
    logarithm[r] = 0
    for k in range(c.shape[1]):
        pivot = c[r, k, k]
        if pivot < 0:
            is_negative = not is_negative
        if pivot == 0:
            is_singular = True
        logarithm[r] += log(abs(pivot))
    sign[r] = 1
    if is_negative:
        sign[r] = -1
    if is_singular:
        sign[r] = 0
        logarithm[r] = -inf
    elif isnan(logarithm[r]):
        sign[r] = nan
"""
_CHOLESKY = f"""\
def cholesky_rows(c):
    r = index()
    n = c.shape[1]
    is_positive = True
    whole = n // {ELIMINATED_COLUMNS} * {ELIMINATED_COLUMNS}
    for first in range(0, n, {ELIMINATED_COLUMNS}):
        last = min(first + {ELIMINATED_COLUMNS}, n)
        for k in range(first, last):
            for i in range(first, k):
                factor = c[r, i, k]
                for j in range(k, n):
                    c[r, k, j] -= factor * c[r, i, j]
            pivot = c[r, k, k]
            if not pivot > 0:
                is_positive = False
            root = sqrt(pivot)
            for j in range(k, n):
                c[r, k, j] = c[r, k, j] / root
        for i in range(last, n):
            {_COLUMN.replace("        ", "            ")}
            for j in range(i, n):
                c[r, i, j] -= {_TERMS}
    if not is_positive:
        for k in range(n):
            for j in range(n):
                c[r, k, j] = nan
"""
_LAUNCH = """\
def launched(given):
    rows = copy(given)
    {kernel}(rows, ndrange=given.shape[0])
    return rows
"""
_LAUNCH_DETERMINANT = """\
def launched(given):
    rows = copy(given)
    sign = empty((given.shape[0],), given.dtype)
    logarithm = empty((given.shape[0],), given.dtype)
    determinant_rows(rows, sign, logarithm, ndrange=given.shape[0])
    return sign, logarithm
"""
_FILE = "<pykern.linalg>"
_BUILTINS = ("abs", "copy", "empty", "index", "isnan", "log", "min", "range", "sqrt")
_NAMES = (
    *((name, Builtin(name)) for name in _BUILTINS),
    ("nan", Constant(math.nan)),
    ("inf", Constant(math.inf)),
)


def _source(name: str, text: str, *called: FunctionSource) -> FunctionSource:
    used = tuple((n, capture) for n, capture in _NAMES if n in text)
    return FunctionSource(name, _FILE, 1, text, (*used, *((f.name, f) for f in called)))


def _launch(name: str, text: str, launch: str, *called: FunctionSource) -> FunctionSource:
    kernel = CapturedKernel(_source(name, text, *called), (), KernelOptions(False, False))
    own = _source("launched", launch.format(kernel=name))
    return FunctionSource("launched", _FILE, 1, own.text, (*own.captures, (name, kernel)))


_ELIMINATION = _source(
    "eliminate", _ELIMINATE, _source("eliminate_column", _PIVOT), _source("reduce_rows", _ROWS)
)
_OF_SOLVE = _launch("solve_rows", _SOLVE, _LAUNCH, _ELIMINATION, _source("substitute", _SUBSTITUTE))
_OF_DETERMINANT = _launch("determinant_rows", _DETERMINANT, _LAUNCH_DETERMINANT, _ELIMINATION)
_OF_CHOLESKY = _launch("cholesky_rows", _CHOLESKY, _LAUNCH)


# -- a @ x == b -----------------------------------------------------------------------------------


def solve(made: Composer, a: Cell, b: Cell) -> Cell:
    """The solutions (batch, n, m) for right-hand sides (batch, n, m)."""
    if not b.size:
        return made.cell("zeros", numbers(b.shape), TypeValue(b.dtype))
    return call(made, _SOLVED, a, b)[0]


def identity(made: Composer, a: Cell) -> Cell:
    """Of each matrix of `a` the unit matrix."""
    one = made.cell("eye", number(a.shape[-1]), dtype=TypeValue(a.dtype))
    return made.cell("broadcast_to", one, numbers(a.shape))


def _solved(made: Composer, a: Cell, b: Cell) -> list[Cell]:
    n = a.shape[-1]
    rows = made.cell("concatenate", TupleValue((a, b)), number(2))
    rows = made.array(made.t.called_with(made.node, FunctionValue(_OF_SOLVE), [rows], {}))
    return [made.part(rows, 2, n, n + b.shape[-1])]


def _solved_reverse(made: Composer, a: Cell, b: Cell, x: Cell, g: Cell) -> list[Cell]:
    """``b' = a.T \\ x'``, ``a' = -b' x.T``."""
    flowing = solve(made, _transposed(made, a), g)
    return [_product(made, _negative(made, flowing), _transposed(made, x)), flowing]


def _solved_forward(made: Composer, a: Cell, b: Cell, x: Cell, da: Cell, db: Cell) -> list[Cell]:
    """``dx = a \\ (db - da x)``."""
    return [solve(made, a, made.array(made.op("-", db, _product(made, da, x))))]


_SOLVED = Differentiated("linalg.solve", _solved, _solved_reverse, _solved_forward)


# -- determinants ---------------------------------------------------------------------------------


def determinant(made: Composer, a: Cell) -> tuple[Cell, Cell]:
    """Sign, and logarithm of the absolute value, of each determinant."""
    sign, logarithm = call(made, _FACTORED, a)
    return sign, logarithm


def _factored(made: Composer, a: Cell) -> list[Cell]:
    found = made.t.called_with(made.node, FunctionValue(_OF_DETERMINANT), [a], {})
    assert isinstance(found, TupleValue)
    return [made.array(part) for part in found.items]


def _factored_reverse(made: Composer, a: Cell, sign: Cell, log: Cell, of_sign: Cell, g: Cell) -> list[Cell]:
    """``a' = g inv(a).T``; the sign is constant."""
    seed = made.op("*", made.reshaped(g, g.size, 1, 1), identity(made, a))
    return [solve(made, _transposed(made, a), made.array(seed))]


def _factored_forward(made: Composer, a: Cell, sign: Cell, log: Cell, da: Cell) -> list[Cell]:
    """``trace(a \\ da)``."""
    moved = made.cell("moveaxis", solve(made, a, da), number(0), number(-1))
    return [made.cell("zeros_like", sign), made.cell("trace", moved)]


_FACTORED = Differentiated("linalg.slogdet", _factored, _factored_reverse, _factored_forward)


# -- Cholesky's factor ----------------------------------------------------------------------------


def cholesky(made: Composer, a: Cell) -> Cell:
    """The lower factor of each matrix, of which the lower triangle is read."""
    return call(made, _ROOT, a)[0]


def _root(made: Composer, a: Cell) -> list[Cell]:
    upper = _transposed(made, a)
    rows = made.array(made.t.called_with(made.node, FunctionValue(_OF_CHOLESKY), [upper], {}))
    return [made.cell("tril", _transposed(made, rows))]


def _root_reverse(made: Composer, a: Cell, root: Cell, g: Cell) -> list[Cell]:
    """``s = root.T \\ half(root.T g) / root``; what flows to both triangles flows to the lower one."""
    above = _transposed(made, root)
    inner = _half_triangle(made, _product(made, above, g))
    turned = _transposed(made, solve(made, above, inner))
    s = solve(made, above, turned)
    both = made.array(made.op("+", s, _transposed(made, s)))
    return [_half_triangle(made, both)]


def _root_forward(made: Composer, a: Cell, root: Cell, da: Cell) -> list[Cell]:
    """``root half(root \\ da / root.T)``, of the symmetric matrix that `da` is the lower triangle of."""
    half = _half_triangle(made, da)
    whole = made.array(made.op("+", half, _transposed(made, half)))
    once = _transposed(made, solve(made, root, whole))
    return [_product(made, root, _half_triangle(made, solve(made, root, once)))]


_ROOT = Differentiated("linalg.cholesky", _root, _root_reverse, _root_forward)


def _half_triangle(made: Composer, x: Cell) -> Cell:
    """The lower triangle with half of the diagonal."""
    n = x.shape[-1]
    is_diagonal = made.cell("eye", number(n), dtype=TypeValue(bool_))
    halved = made.op("*", x, Scalar(x.dtype, const=0.5))
    return made.cell("tril", made.array(made.call("where", is_diagonal, halved, x)))


def _transposed(made: Composer, x: Cell) -> Cell:
    return made.cell("swapaxes", x, number(1), number(2))


def _product(made: Composer, a: Cell, b: Cell) -> Cell:
    return made.cell("matmul", a, b)


def _negative(made: Composer, x: Cell) -> Cell:
    return made.cell("negative", x)
