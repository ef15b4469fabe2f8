"""A small right factor that lies along its terms is transposed once, and the product reads it in vectors.

Comes in: a product, and the processor. Goes out: the copy that transposes the factor, in front of the op, which now
reads it; or nothing, where packed tiles are as quick: they transpose it, too, but copy the left factor as well.

    y[n, m] = x[m, k] * w[n, k]    ->    t[k, n] = w[n, k];  y[n, m] = x[m, k] * t[k, n]
"""

from __future__ import annotations

from dataclasses import replace

from mlir import ir
from mlir.dialects import memref

from pykern.environment.machine import Cpu
from pykern.passes.analysis.cost_model.lengths import FEWEST_COPIED
from pykern.passes.analysis.masks import needed
from pykern.passes.codegen.cpu.contraction.cost_model import schedule_for
from pykern.passes.codegen.cpu.contraction.narrow import dot_for
from pykern.passes.codegen.cpu.contraction.nests import problem_of
from pykern.passes.codegen.cpu.contraction.product import Product
from pykern.passes.fusion.prologues import prologue_of
from pykern.passes.ir import structured
from pykern.passes.ir.structured import indexing_maps, set_indexing_maps


def is_better_transposed(product: Product, target: Cpu) -> bool:
    """Whether the right factor is better transposed in memory."""
    problem = problem_of(product)
    if problem.unit_right or not (problem.simple and problem.packable) or problem.m < FEWEST_COPIED:
        return False
    if product.ordered or needed(product.op) or dot_for(product, target) is not None:
        return False
    right, number = product.strides(1), product.numbers[1]
    if right[product.k[0]] != 1 or len(product.parts(1)) != 2 or prologue_of(product.op, number) is not None:
        return False
    if len(ir.MemRefType(product.op.operands[number].type).shape) != 2:
        return False
    return schedule_for(replace(problem, unit_right=True), target).form == "direct"


def transpose_right(product: Product) -> ir.Operation:
    """The copy, a linalg.generic; the product's op reads it from here on."""
    op, number = product.op, product.numbers[1]
    source = op.operands[number]
    kind = ir.MemRefType(source.type)
    rows, columns = kind.shape
    swapped = ir.AffineMap.get_permutation([1, 0])
    with ir.InsertionPoint(op), op.location:
        copy = memref.AllocOp(ir.MemRefType.get([columns, rows], kind.element_type), [], []).result
        made = structured.copy(source, copy, [swapped, ir.AffineMap.get_identity(2)])
    reads = indexing_maps(op)
    was = reads[number]
    reads[number] = ir.AffineMap.get(was.n_dims, 0, list(reversed(list(was.results))))
    set_indexing_maps(op, reads)
    op.operands[number] = copy
    return made
