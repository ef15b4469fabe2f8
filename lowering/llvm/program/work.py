"""How long an array program takes, about: so short that other threads of Python may wait for it, or not.

Comes in: the module when its programs are on buffers and their loops are linalg ops still. Goes out: elementary
operations. What nobody knows, loops until a condition and kernels that have loops, is `UNKNOWN`.
"""

from __future__ import annotations

import math

from mlir import ir

from pykern.passes.ir.structured import loop_lengths
from pykern.passes.kernels import body, find, is_constant, kernels, programs

UNKNOWN = 1 << 62
LOOPS = ("scf.for", "scf.while", "scf.forall", "scf.parallel")


def work_of(module: ir.Module) -> int:
    """Elementary operations of the module's program."""
    launched = {ir.StringAttr(k.attributes["sym_name"]).value: k for k in kernels(module)}
    return min(UNKNOWN, _block(body(programs(module)[0]), launched))


def _block(block: ir.Block, launched: dict[str, ir.Operation]) -> int:
    return sum(_op(op.operation, launched) for op in block.operations)


def _op(op: ir.Operation, launched: dict[str, ir.Operation]) -> int:
    if op.name == "linalg.generic":
        return math.prod(loop_lengths(op)) * (
            len(list(op.regions[0].blocks[0].operations)) + len(op.operands)
        )
    if op.name.startswith(("linalg.", "memref.copy")):
        return max(map(_elements, op.operands), default=1)
    if op.name == "scf.for":
        bounds = [is_constant(v) for v in list(op.operands)[:3]]
        if None in bounds:
            return UNKNOWN
        low, high, step = (int(b or 0) for b in bounds)
        return len(range(low, high, step)) * _block(op.regions[0].blocks[0], launched)
    if op.name == "scf.if":
        return sum(_block(block, launched) for region in op.regions for block in region.blocks)
    if op.name == "kern.launch":
        return _launch(op, launched)
    return UNKNOWN if len(op.regions) or op.name.endswith("call") else 1


def _launch(op: ir.Operation, launched: dict[str, ir.Operation]) -> int:
    kernel = launched.get(op.opview.kernel)
    if kernel is None or find(kernel, lambda inner: inner.name in LOOPS or inner.name.endswith("call")):
        return UNKNOWN
    return math.prod(op.opview.ndrange) * len(find(kernel, lambda inner: True))


def _elements(value: ir.Value) -> int:
    return math.prod(value.type.shape) if isinstance(value.type, ir.ShapedType) else 1
