"""Whether the body of a structured op is that of a contraction, for the CPU and for devices.

Comes in: a `linalg.generic` of two inputs and an output. Goes out: whether it adds up products of the two, which may be
converted before, and that conversion. Which dimensions are rows, columns and terms is asked of its maps elsewhere.
"""

from __future__ import annotations

from mlir import ir

from pykern.passes.kernels import body

CONVERSIONS = {"arith.extf", "arith.extsi", "arith.extui", "arith.sitofp", "arith.uitofp"}
"""What may happen to an element of a factor before it is multiplied."""


def multiplies(op: ir.Operation) -> bool:
    """Whether the body is `out + convert(a) * convert(b)`."""
    block = body(op)
    if len(block.arguments) != 3:
        return False
    *ops, end = [o.operation for o in block.operations]
    if len(ops) < 2 or end.name != "linalg.yield":
        return False
    *conversions, product, total = ops
    if product.name not in ("arith.mulf", "arith.muli") or total.name != product.name.replace("mul", "add"):
        return False
    if any(o.name not in CONVERSIONS for o in conversions):
        return False
    a, b, out = block.arguments
    sources = [_source(v) for v in product.operands]
    pairs = sources in ([a, b], [b, a])
    sums = set(total.operands) == {out, product.results[0]}
    return pairs and sums and end.operands[0] == total.results[0] and a != b


def convert(op: ir.Operation, operand: int, value: ir.Value) -> ir.Value:
    """What the body of a product makes of an element of an operand, or of a vector of them."""
    use = _use(body(op).arguments[operand])
    while use.name in CONVERSIONS:
        kind = use.results[0].type
        if isinstance(value.type, ir.VectorType):
            kind = ir.VectorType.get(list(ir.VectorType(value.type).shape), kind)
        value = ir.Operation.create(use.name, [kind], [value]).results[0]
        use = _use(use.results[0])
    return value


def _use(value: ir.Value) -> ir.Operation:
    return next(iter(value.uses)).owner.operation


def _source(value: ir.Value) -> ir.Value:
    """The block argument that a value is a conversion of."""
    while not isinstance(value.owner, ir.Block) and value.owner.operation.name in CONVERSIONS:
        value = value.owner.operation.operands[0]
    return value
