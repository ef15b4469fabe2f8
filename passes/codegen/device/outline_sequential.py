"""The pass: a loop over single elements becomes a kernel of one work-item: the host does not step through it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith, memref

from pykern.dialect import attributes as kern
from pykern.dialect.memory import PrivateOp
from pykern.passes.analysis.cost_model.devices import SCALAR_ELEMENTS
from pykern.passes.analysis.space import space_of
from pykern.passes.codegen.device.copies import copy_to_generic
from pykern.passes.codegen.device.kernel import Kernel, KernelContext, is_pure
from pykern.passes.codegen.device.scatter import launch_scatter, scatter_of
from pykern.passes.framework import Pass, Upstream, run_pass
from pykern.passes.ir.clone import clone
from pykern.passes.ir.memory import SAME_ELEMENTS
from pykern.passes.ir.values import free_values
from pykern.passes.kernels import find, identity, kernels, named, programs

CONTROL = ("scf.for", "scf.if", "scf.while", "scf.yield", "scf.condition")


@dataclass(frozen=True)
class OutlineSequential(Pass):
    """Turn loops whose iterations touch a few elements into kernels of one work-item; where they add values up at
    computed places (`scatter`), of a work-item a value.

    In:  programs on buffers. Out: the same with a `kern.launch` in place of such a loop; numbers it results in
         go through buffers of one element.
    """

    name: ClassVar[str] = "kern-outline-sequential"

    def run(self, module: ir.Module) -> None:
        for program in programs(module):
            place = KernelContext(ir.Module.create(program.location), program, suffix="loop")
            for loop in _loops(program):
                scatter = scatter_of(loop)
                if scatter is not None:
                    launch_scatter(place, scatter)
                    loop.erase()
                else:
                    _outline(place, loop)
            if not list(kernels(place.module)):
                continue
            _to_scalar_code(place.module)
            for kernel in list(kernels(place.module)):
                kernel.detach_from_parent()
                module.body.append(kernel)


def _loops(op: ir.Operation) -> list[ir.Operation]:
    """The outermost loops that may be outlined."""
    if op.name == "scf.for" and _is_scalar(op):
        return [op]
    if op.name.startswith("linalg."):
        return []
    blocks = [block for region in op.regions for block in region.blocks]
    return [found for block in blocks for inner in block.operations for found in _loops(inner.operation)]


def _is_scalar(loop: ir.Operation) -> bool:
    if any(isinstance(r.type, ir.MemRefType) for r in loop.results):
        return False
    inside = find(loop, lambda op: True)
    generics = [op for op in inside if op.name == "linalg.generic"]
    bodies = {identity(inner) for op in generics for inner in find(op, lambda o: True)}
    return all(_fits(op) for op in inside if identity(op) not in bodies)


def _fits(op: ir.Operation) -> bool:
    if op.name in CONTROL:
        return not any(isinstance(v.type, ir.MemRefType) for v in (*op.operands, *op.results))
    if op.name == "linalg.generic":
        return space_of(op).iterations <= SCALAR_ELEMENTS
    if op.name == "memref.copy":
        return _elements(op.operands[0]) <= SCALAR_ELEMENTS
    if op.name == "memref.alloc":
        return not list(op.operands) and _elements(op.results[0]) <= SCALAR_ELEMENTS
    return op.name in (*SAME_ELEMENTS, "memref.subview", "memref.load", "memref.store") or is_pure(op)


def _elements(value: ir.Value) -> int:
    kind = ir.MemRefType(value.type)
    return math.prod(kind.shape) if kind.has_static_shape else SCALAR_ELEMENTS + 1


def _outline(place: KernelContext, loop: ir.Operation) -> None:
    with ir.InsertionPoint(loop), loop.location:
        results = [memref.AllocOp(ir.MemRefType.get([], r.type), [], []).result for r in loop.results]
    with Kernel(place, loop, (1,), (1,)) as kernel:
        del kernel.function.attributes[kern.NOALIAS]
        known = {value: kernel.value(value) for value in free_values(loop)}
        targets = [kernel.value(v) for v in results]
        first = kernel.zero()
        copy = clone(loop, lambda v: known.get(v, v))
        for each in (copy, *named(copy, "scf.for")):
            with ir.InsertionPoint(each):
                each.operands[0] = arith.AddIOp(each.operands[0], first).result
        for value, target in zip(copy.results, targets, strict=True):
            memref.StoreOp(value, target, [])
    with ir.InsertionPoint(loop), loop.location:
        for result, buffer in zip(loop.results, results, strict=True):
            result.replace_all_uses_with(memref.LoadOp(buffer, []).result)
    loop.erase()


def _to_scalar_code(module: ir.Module) -> None:
    """Loads, stores and loops; small buffers are the work-item's own."""
    for copy in named(module.operation, "memref.copy"):
        copy_to_generic(copy)
    run_pass(Upstream("func.func(convert-linalg-to-loops)"), module)
    run_pass(Upstream("fold-memref-alias-ops,lower-affine,canonicalize,cse"), module)
    for kernel in kernels(module):
        for op in named(kernel, "memref.alloc"):
            kind = ir.MemRefType(op.results[0].type)
            with ir.InsertionPoint.at_block_begin(kernel.regions[0].blocks[0]), op.location:
                private = PrivateOp.create(tuple(kind.shape), kind.element_type)
            op.results[0].replace_all_uses_with(private)
            op.erase()
