"""A product of matrices by an instruction that a subgroup multiplies small matrices with: tensor cores.

Comes in: the elements of a product of f16 or bf16 in a kernel, and a `MatrixTile`. Goes out: the kernel's body. Factors
lie in shared memory as words of two terms, zeros beyond their edges; sums stay in registers, in f32, until they are
stored. Which lane holds which elements: `pykern.dialect.matrices`.
"""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir
from mlir.dialects import arith, memref, scf

from pykern.dialect.index_space import GlobalIdOp, GroupIdOp, LocalIdOp
from pykern.dialect.matrices import COLUMNS, FACTOR_TYPES, LANES, QUAD, ROWS, TERMS, MultiplyMatricesOp
from pykern.dialect.memory import BarrierOp, SharedOp
from pykern.passes.analysis.cost_model.devices import MATRIX_DEPTH, MATRIX_PADDING
from pykern.passes.codegen.device.product_space import ProductElements, added, scaled
from pykern.passes.ir.constants import constant
from pykern.passes.ir.structured import element_types
from pykern.passes.kernels import index_constant

LINE_WORDS = MATRIX_DEPTH // 2 + MATRIX_PADDING
"""Words from one row or column in shared memory to the next."""


@dataclass(frozen=True)
class MatrixTile:
    """What a group computes: rows and columns, and the subgroups along both."""

    rows: int
    columns: int
    row_subgroups: int
    column_subgroups: int

    @property
    def items(self) -> int:
        return LANES * self.row_subgroups * self.column_subgroups

    @property
    def own_rows(self) -> int:
        """Rows of a subgroup."""
        return self.rows // self.row_subgroups

    @property
    def own_columns(self) -> int:
        """Columns of a subgroup."""
        return self.columns // self.column_subgroups


def why_not(op: ir.Operation, unit: str) -> str | None:
    """Why a product is not computed by such instructions; None where it is."""
    left, right, out = map(str, element_types(op.operands))
    if left not in FACTOR_TYPES or left != right:
        return f"its factors are {left} and {right}, and f16 or bf16 would be rounded"
    if out != "f32":
        return f"its sums are {out}"
    return None if unit else "this target has none for 16-bit floats"


class MatrixProduct:
    """The kernel."""

    def __init__(self, elements: ProductElements, tile: MatrixTile) -> None:
        self.elements, self.product, self.tile = elements, elements.product, tile
        self.fragments = tile.own_rows // ROWS, tile.own_columns // COLUMNS

    def emit(self) -> None:
        elements, product, tile = self.elements, self.product, self.tile
        word = ir.IntegerType.get_signless(32)
        self.element = element_types(elements.points.operands)[0]
        lines = tile.rows, tile.columns
        shared = [SharedOp.create((count * LINE_WORDS,), word) for count in lines]
        self.number = LocalIdOp.create(2)
        elements.place(product.batch, GlobalIdOp.create(0))
        origins = [scaled(GroupIdOp.create(axis + 1), lines[axis]) for axis in (0, 1)]
        own = self._own_corner()
        self.quad, self.in_quad = _split(_split(self.number, LANES)[1], QUAD)
        zero = constant(ir.F32Type.get(), 0)
        loop = scf.ForOp(
            index_constant(0),
            index_constant(product.count(product.terms)),
            index_constant(MATRIX_DEPTH),
            [zero] * (QUAD * self.fragments[0] * self.fragments[1]),
        )
        with ir.InsertionPoint(loop.body):
            for n in (0, 1):
                self._fetch(n, shared[n], lines[n], origins[n], loop.induction_variable)
            BarrierOp.create()
            sums = self._multiply(shared, own, list(loop.inner_iter_args))
            BarrierOp.create()
            scf.YieldOp(sums)
        self._store(list(loop.results), [added(*each) for each in zip(origins, own, strict=True)])

    def _own_corner(self) -> tuple[ir.Value, ir.Value]:
        """The first row and column of the subgroup in the tile."""
        subgroup = _split(self.number, LANES)[0]
        down, across = _split(subgroup, self.tile.column_subgroups)
        return scaled(down, self.tile.own_rows), scaled(across, self.tile.own_columns)

    def _fetch(self, n: int, shared: ir.Value, lines: int, origin: ir.Value, begin: ir.Value) -> None:
        """Work-items side by side fetch what lies side by side, two terms each."""
        words = MATRIX_DEPTH // 2
        by_terms = self.product.lies_by_terms(n)
        for part in range(lines * words // self.tile.items):
            cell = added(self.number, part * self.tile.items)
            outer, inner = _split(cell, words if by_terms else lines)
            line, word = (outer, inner) if by_terms else (inner, outer)
            term = added(begin, scaled(word, 2))
            low, high = (self.elements.factor(n, added(origin, line), added(term, k)) for k in (0, 1))
            memref.StoreOp(_packed(low, high), shared, [added(scaled(line, LINE_WORDS), word)])

    def _multiply(
        self, shared: list[ir.Value], own: tuple[ir.Value, ir.Value], held: list[ir.Value]
    ) -> list[ir.Value]:
        sums = [held[n : n + QUAD] for n in range(0, len(held), QUAD)]
        down, across = self.fragments
        for first in range(0, MATRIX_DEPTH // 2, TERMS // 2):
            left = [self._words(shared[0], own[0], ROWS * r, (0, ROWS // 2), first) for r in range(down)]
            right = [self._words(shared[1], own[1], COLUMNS * c, (0,), first) for c in range(across)]
            sums = [
                MultiplyMatricesOp.create(left[r], right[c], sums[r * across + c], self.element)
                for r in range(down)
                for c in range(across)
            ]
        return [each for four in sums for each in four]

    def _words(
        self, shared: ir.Value, own: ir.Value, line: int, halves: tuple[int, ...], first: int
    ) -> list[ir.Value]:
        """A lane's words of a factor: of its lines, then of the same lines four words on."""
        begin = scaled(added(own, self.quad), LINE_WORDS)
        begin = added(begin, self.in_quad)
        return [
            memref.LoadOp(shared, [added(begin, (line + half) * LINE_WORDS + first + QUAD * k)]).result
            for k in (0, 1)
            for half in halves
        ]

    def _store(self, sums: list[ir.Value], corner: list[ir.Value]) -> None:
        across = self.fragments[1]
        row, column = added(corner[0], self.quad), added(corner[1], scaled(self.in_quad, 2))
        for number, value in enumerate(sums):
            fragment, cell = divmod(number, QUAD)
            at = added(row, fragment // across * ROWS + cell // 2 * (ROWS // 2))
            along = added(column, fragment % across * COLUMNS + cell % 2)
            branch = scf.IfOp(self.elements.inside(at, along))
            with ir.InsertionPoint(branch.then_block):
                self.elements.finish(at, along, value)
                scf.YieldOp([])


def _split(value: ir.Value, by: int) -> tuple[ir.Value, ir.Value]:
    """Quotient and remainder."""
    size = index_constant(by)
    return arith.DivUIOp(value, size).result, arith.RemUIOp(value, size).result


def _packed(low: ir.Value, high: ir.Value) -> ir.Value:
    """Two 16-bit floats as a word."""
    half, word = ir.IntegerType.get_signless(16), ir.IntegerType.get_signless(32)
    low, high = (arith.ExtUIOp(word, arith.BitcastOp(half, v).result).result for v in (low, high))
    return arith.OrIOp(low, arith.ShLIOp(high, constant(word, 16)).result).result
