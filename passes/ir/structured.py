"""Structured ops of linalg: their loops, the maps of their operands, and how one is built.

Comes in: a `linalg.generic`, or another op of linalg that has maps. Goes out: what passes ask of it. The attributes
`indexing_maps` and `iterator_types` are read and written here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from mlir import ir
from mlir.dialects import linalg

from pykern.passes.ir.memory import outputs_of
from pykern.passes.ir.values import free_values

MAPS, ITERATORS, SEGMENTS = "indexing_maps", "iterator_types", "operandSegmentSizes"


def indexing_maps(op: ir.Operation) -> list[ir.AffineMap]:
    """For each operand, the map from loops to indices; named ops have one, too."""
    maps = op.attributes[MAPS] if MAPS in op.attributes else linalg.get_indexing_maps(op)
    return [ir.AffineMapAttr(each).value for each in ir.ArrayAttr(maps)]


def set_indexing_maps(op: ir.Operation, maps: Sequence[ir.AffineMap]) -> None:
    """Read and write the operands of a `linalg.generic` by other maps."""
    op.attributes[MAPS] = _maps(maps)


def reduction_loops(op: ir.Operation) -> list[bool]:
    """For each loop of a `linalg.generic`, whether it is a reduction; the others are parallel."""
    return ["reduction" in str(kind) for kind in ir.ArrayAttr(op.attributes[ITERATORS])]


def reduces(op: ir.Operation) -> bool:
    """Whether a `linalg.generic` has a reduction loop."""
    return any(reduction_loops(op))


def loop_count(op: ir.Operation) -> int:
    """The number of loops of a `linalg.generic`."""
    return len(ir.ArrayAttr(op.attributes[ITERATORS]))


def loop_lengths(op: ir.Operation) -> list[int]:
    """The length of each loop, as the shapes of operands tell it; `ShapedType.get_dynamic_size()` where they do not.

    A loop that no operand has as an index by itself is a `KeyError`: the verifier refuses such ops.
    """
    maps = indexing_maps(op)
    found: dict[int, int] = {}
    for value, one in zip(op.operands, maps, strict=True):
        if isinstance(value.type, ir.ShapedType):
            for length, index in zip(ir.ShapedType(value.type).shape, one.results, strict=True):
                if isinstance(index, ir.AffineDimExpr):
                    found.setdefault(index.position, length)
    return [found[loop] for loop in range(maps[0].n_dims)]


def dimensions_in(expression: ir.AffineExpr) -> set[int]:
    """The loops that an index depends on."""
    if isinstance(expression, ir.AffineDimExpr):
        return {expression.position}
    if isinstance(expression, ir.AffineBinaryExpr):
        return dimensions_in(expression.lhs) | dimensions_in(expression.rhs)
    return set()


def loops_in(one: ir.AffineMap) -> set[int]:
    """The loops that the indices of a map depend on."""
    return {d for expression in one.results for d in dimensions_in(expression)}


def element_types(values: Sequence[ir.Value]) -> list[ir.Type]:
    """What the body of a structured op gets of each operand: an element, or the number itself."""
    return [
        ir.ShapedType(v.type).element_type if isinstance(v.type, ir.ShapedType) else v.type for v in values
    ]


def is_scalar_arithmetic(ops: Sequence[ir.Operation]) -> bool:
    """Whether all compute one number from numbers and nothing else: they may be done anywhere, any number of times."""
    return all(
        op.name.startswith(("arith.", "math.")) and len(op.results) == 1 and not op.regions for op in ops
    )


def is_elementwise(op: ir.Operation, indices: bool = False) -> bool:
    """Whether a `linalg.generic` computes each element of its one output from elements of its inputs, by arithmetic.

    `indices`: it may also read where the element is.
    """
    if (
        op.name != "linalg.generic"
        or list(ir.DenseI32ArrayAttr(op.attributes[SEGMENTS]))[1] != 1
        or reduces(op)
    ):
        return False
    block = op.regions[0].blocks[0]
    *inside, _ = (each.operation for each in block.operations)
    reads_output = any(True for _ in block.arguments[len(block.arguments) - 1].uses)
    if reads_output or loops_in(indexing_maps(op)[-1]) != set(range(loop_count(op))):
        return False
    return is_scalar_arithmetic([each for each in inside if not (indices and each.name == "linalg.index")])


def is_fill(op: ir.Operation) -> bool:
    """Whether it is a linalg.generic on tensors that reads none: the same scalar everywhere."""
    if op.name != "linalg.generic" or len(op.results) != 1:
        return False
    if any(isinstance(v.type, ir.RankedTensorType) for v in list(op.operands)[:-1]):
        return False
    *inside, _ = (each.operation for each in op.regions[0].blocks[0].operations)
    return is_scalar_arithmetic(inside)  # what looks elements up reads a tensor, too


def is_structured(op: ir.Operation) -> bool:
    """A linalg op with a body over elements."""
    return op.name.startswith("linalg.") and len(op.regions) == 1 and op.name != "linalg.softmax"


class Structured:
    """A linalg op, named or generic; `arguments` are its body's, inputs first."""

    def __init__(self, op: ir.Operation) -> None:
        self.op = op
        self.operands = list(op.operands)
        count = len(self.operands) - outputs_of(op)
        self.inputs, self.outputs = self.operands[:count], self.operands[count:]
        self.maps = indexing_maps(op)
        self.loops = self.maps[0].n_dims
        self.block = op.regions[0].blocks[0]
        self.arguments = list(self.block.arguments)
        *self.ops, self.terminator = [o.operation for o in self.block.operations]
        self.yielded = list(self.terminator.operands)

    @cached_property
    def captured(self) -> list[ir.Value]:
        """Values from outside that the body reads."""
        return free_values(self.op, nested_only=True)

    @cached_property
    def extents(self) -> list[int]:
        """The trip count of every loop."""
        return loop_lengths(self.op)

    def output_map(self, output: int) -> ir.AffineMap:
        return self.maps[len(self.inputs) + output]

    def output_argument(self, output: int) -> ir.Value:
        return self.arguments[len(self.inputs) + output]


def generic(
    inputs: Sequence[ir.Value],
    outputs: Sequence[ir.Value],
    maps: Sequence[ir.AffineMap],
    reductions: Sequence[bool],
    attributes: Mapping[str, ir.Attribute] | None = None,
) -> ir.Operation:
    """A `linalg.generic` at the insertion point, whose body is an empty block with an argument for each operand.

    `reductions` says of each loop whether it is one. There is a result for each output that is a tensor.
    """
    operands = [*inputs, *outputs]
    kinds = ["reduction" if each else "parallel" for each in reductions]
    made = ir.Operation.create(
        "linalg.generic",
        results=[v.type for v in outputs if isinstance(v.type, ir.RankedTensorType)],
        operands=operands,
        attributes={
            MAPS: _maps(maps),
            ITERATORS: ir.ArrayAttr.get(
                [ir.Attribute.parse(f"#linalg.iterator_type<{kind}>") for kind in kinds]
            ),
            SEGMENTS: ir.DenseI32ArrayAttr.get([len(inputs), len(outputs)]),
            **(attributes or {}),
        },
        regions=1,
    )
    elements = element_types(operands)
    made.regions[0].blocks.append(*elements, arg_locs=[made.location] * len(elements))
    return made


def copy(source: ir.Value, target: ir.Value, maps: Sequence[ir.AffineMap]) -> ir.Operation:
    """``target[...] = source[...]`` at the insertion point, over the loops of the maps."""
    made = generic([source], [target], maps, [False] * maps[0].n_dims)
    block = made.regions[0].blocks[0]
    with ir.InsertionPoint(block):
        linalg.YieldOp([block.arguments[0]])
    return made


def _maps(maps: Sequence[ir.AffineMap]) -> ir.Attribute:
    return ir.ArrayAttr.get([ir.AffineMapAttr.get(each) for each in maps])
