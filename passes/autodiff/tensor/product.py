"""Products of all factors but one, by prefix and suffix products: right where factors are zero."""

from __future__ import annotations

import math
from dataclasses import dataclass

from mlir import ir
from mlir.dialects import arith, scf, tensor

from pykern.passes.autodiff.tensor.builder import GenericBuilder, Output, elementwise
from pykern.passes.autodiff.tensor.frame import Frame
from pykern.passes.autodiff.tensor.scope import Scope
from pykern.passes.autodiff.tensor.stack import peek, push
from pykern.passes.autodiff.tensor.values import affine, full, shape
from pykern.passes.ir.accumulators import accumulation
from pykern.passes.ir.lengths import as_value, empty, minus
from pykern.passes.ir.structured import Structured


@dataclass(frozen=True)
class Others:
    """`of_contribution`, read at `map` of the op's loops, and `of_init`, like the result."""

    of_contribution: ir.Value
    map: ir.AffineMap
    of_init: ir.Value


def other_factors(op: Structured, output: int, scope: Scope) -> Others:
    """For a result ``init * c_0 * ... * c_n``: at each c_k, and at init, the product of the others."""
    contribution = accumulation(op, output).contribution
    assert contribution is not None
    kept = [expression.position for expression in op.output_map(output).results]
    reduced = [d for d in range(op.loops) if d not in kept]
    map = affine(op.loops, [ir.AffineExpr.get_dim(d) for d in (*reduced, *kept)])
    sizes = [op.extents[d] for d in (*reduced, *kept)]
    builder = GenericBuilder(op.loops, lambda: op.extents)
    with builder.body:
        value = Frame(op, scope, builder).primal.value(contribution)
    factors = builder.finish([Output(empty(sizes, value.type), map, value)])[0]

    count, rest = math.prod(sizes[: len(reduced)]), sizes[len(reduced) :]
    groups = [list(range(len(reduced))), *([d] for d in range(len(reduced), len(sizes)))]
    flat = ir.RankedTensorType.get([count, *rest], value.type)
    factors = tensor.collapse_shape(flat, factors, groups)
    before, _ = _running(factors, count, scope.value(op.outputs[output]), backwards=False)
    after, all_factors = _running(factors, count, full(rest, value.type, 1.0), backwards=True)
    others = elementwise(arith.mulf, [before, after])
    others = tensor.expand_shape(ir.RankedTensorType.get(sizes, value.type), others, groups, [], sizes)
    return Others(others, map, all_factors)


def _running(factors: ir.Value, count: int, start: ir.Value, backwards: bool) -> tuple[ir.Value, ir.Value]:
    """At each k the product of `start` and the factors before (after) k; and of all."""
    products = empty(shape(factors), factors.type.element_type)
    loop = scf.ForOp(as_value(0), as_value(count), as_value(1), [start, products])
    with ir.InsertionPoint(loop.body):
        k = minus(count - 1, loop.induction_variable) if backwards else loop.induction_variable
        product, products = loop.inner_iter_args
        products = push(products, product, k)
        scf.YieldOp([elementwise(arith.mulf, [product, peek(factors, k, product.type)]), products])
    return loop.results[1], loop.results[0]
