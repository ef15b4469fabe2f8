"""A matrix product of which only the diagonal is read computes only the diagonal.

Comes in: tensors. Goes out: ``np.diag(a @ b)``, and so ``np.trace(a @ b)``, in n * n multiplications, not n * n * n:

    before: c[i, j] += a[i, k] * b[k, j];  d[i] = c[i, i]
    after:  d[i] += a[i, k] * b[k, i]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir

from pykern.passes.analysis.contraction import multiplies
from pykern.passes.framework import Pass
from pykern.passes.ir.clone import clone_block, terminator_operands
from pykern.passes.ir.lengths import empty
from pykern.passes.ir.structured import generic, indexing_maps, is_fill, reduction_loops
from pykern.passes.ir.values import made_by
from pykern.passes.kernels import body, named, replace


@dataclass(frozen=True)
class ComputeDiagonals(Pass):
    """Compute only those elements of a matrix product that are read, where its only reader takes a diagonal.

    In:  linalg.generic on tensors: a product, and its only reader, which uses one loop for two dimensions (`c[i, i]`).
    Out: a sum of products for each element that is read. The product has no uses any more; canonicalization erases it.
    """

    name: ClassVar[str] = "kern-compute-diagonals"
    looks_for: ClassVar[tuple[str, ...]] = ("linalg.generic",)

    def run(self, module: ir.Module) -> None:
        for op in named(module.operation, "linalg.generic"):
            if _takes_diagonal(op):
                product = made_by(op.operands[0], "linalg.generic")
                if product is not None and _is_product(product):
                    _compute(op, product)


def _takes_diagonal(op: ir.Operation) -> bool:
    """Whether the op copies elements of an array, and uses one loop as the index of two dimensions."""
    if len(op.operands) != 2 or len(op.results) != 1:
        return False  # first: of most ops no more has to be looked at
    block = body(op)
    if (
        block.operations[0].operation.name != "linalg.yield"
        or terminator_operands(block)[0] != block.arguments[0]
    ):
        return False
    maps = indexing_maps(op)
    if any(reduction_loops(op)):
        return False
    places = list(maps[0].results)
    is_plain = all(isinstance(e, ir.AffineDimExpr) for e in places)
    return (
        is_plain
        and maps[1] == ir.AffineMap.get_identity(maps[0].n_dims)
        and len(set(map(str, places))) < len(places)
    )


def _is_product(op: ir.Operation) -> bool:
    """Whether an op is a sum of products that starts from one number for all elements, and has one use."""
    if not multiplies(op) or len(list(op.results[0].uses)) != 1:
        return False
    start = made_by(op.operands[2], "linalg.generic")
    return (
        start is not None
        and is_fill(start)
        and len(start.operands) == 2
        and all(isinstance(e, ir.AffineDimExpr) for one in indexing_maps(op) for e in one.results)
    )


def _compute(reader: ir.Operation, product: ir.Operation) -> None:
    read, maps, sums = indexing_maps(reader)[0], indexing_maps(product), reduction_loops(product)
    loops = read.n_dims
    at: dict[int, ir.AffineExpr] = {}
    for place, own in zip(read.results, maps[2].results, strict=True):
        at[ir.AffineDimExpr(own).position] = place
    for loop in [n for n, is_sum in enumerate(sums) if is_sum]:
        at[loop] = ir.AffineExpr.get_dim(loops)
        loops += 1
    accesses = [
        ir.AffineMap.get(loops, 0, [at[ir.AffineDimExpr(e).position] for e in one.results])
        for one in maps[:2]
    ]
    own = ir.AffineMap.get(loops, 0, [ir.AffineExpr.get_dim(d) for d in range(read.n_dims)])
    kind = ir.RankedTensorType(reader.results[0].type)
    with ir.InsertionPoint(reader), reader.location:
        start = made_by(product.operands[2], "linalg.generic")
        assert start is not None
        none = ir.AffineMap.get(read.n_dims, 0, [])
        everywhere = ir.AffineMap.get_identity(read.n_dims)
        filled = generic(
            [start.operands[0]],
            [empty(list(kind.shape), kind.element_type)],
            [none, everywhere],
            [False] * read.n_dims,
        )
        with ir.InsertionPoint(body(filled)):
            ir.Operation.create("linalg.yield", operands=[body(filled).arguments[0]])
        is_sum = [n >= read.n_dims for n in range(loops)]
        made = generic(list(product.operands)[:2], [filled.results[0]], [*accesses, own], is_sum)
        with ir.InsertionPoint(body(made)):
            known = dict(zip(body(product).arguments, body(made).arguments, strict=True))
            ir.Operation.create("linalg.yield", operands=clone_block(body(product), known))
    replace(reader, [made.results[0]])
