"""What a contraction is: two factors, their products summed over the dimensions that the result lacks.

Comes in: a linalg.generic on buffers (as a `Space`). Goes out: `Product`, which names the part of each dimension:
matrices in all transpositions and batches, matrix times vector, tensor contractions, convolutions.

    out[.., m.., n..] += convert(left[.., m.., k..]) * convert(right[.., k.., n..])

Indices may be sums of dimensions (`x[i + p]` of a convolution). `lane` is the last index of the result: what lies
side by side in vectors. The factor that has it is the right one.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, replace

from mlir import ir
from mlir.dialects import memref

from pykern.passes.analysis.contraction import convert, multiplies, product_dimensions
from pykern.passes.analysis.space import Space
from pykern.passes.fusion.prologues import Prologue
from pykern.passes.ir.affine import Access, Sum, access_of


@dataclass(frozen=True)
class Product:
    """A contraction. Dimensions are numbers of the op's, or of the groups of those that run as one.

    `accesses` are those of left, right and out.
    """

    space: Space
    lengths: tuple[int, ...]
    accesses: tuple[Access, Access, Access]
    batch: tuple[int, ...]
    m: tuple[int, ...]
    n: tuple[int, ...]
    k: tuple[int, ...]
    lane: int
    left: int
    """The operand that is the left factor; the right one is at `1 - left`."""
    needed: tuple[Sum, ...] = ()
    """Cells of the result where one of these is negative may hold anything."""
    ordered: bool = False
    """Whether each sum takes its terms one after the other, as a loop does."""
    prologues: tuple[Prologue | None, Prologue | None] = (None, None)
    """The prologues that compute the elements of left and right where they are read."""
    permutation: tuple[int, ...] = ()
    """The order of the result's indices in `accesses`, where it is not its own: ones of length 1 behind the lane."""

    @property
    def op(self) -> ir.Operation:
        return self.space.op

    @property
    def element(self) -> ir.Type:
        """The type sums have."""
        return ir.MemRefType(self.op.operands[2].type).element_type

    @property
    def bits(self) -> int:
        return width(self.element)

    def size(self, dimensions: tuple[int, ...]) -> int:
        return math.prod(self.lengths[d] for d in dimensions)

    @property
    def parallel(self) -> tuple[int, ...]:
        return tuple(d for d in range(len(self.lengths)) if d not in self.k)

    def strides(self, number: int) -> list[int]:
        """Strides of left (0), right (1), out (2) along every dimension; in elements."""
        return self._strides[number]

    @functools.cached_property
    def _strides(self) -> list[list[int]]:
        found = []
        for number in range(3):
            strides = collapsed_strides(self.operand(number), self.parts(number))
            if number == 2 and self.permutation:
                strides = [strides[n] for n in self.permutation]
            found.append([self.accesses[number].stride(d, strides) for d in range(len(self.lengths))])
        return found

    def parts(self, number: int) -> list[list[int]]:
        """Which indices of left, right or out are one in `accesses`."""
        if self._prologue(number) is not None:
            return [[n] for n in range(len(self.accesses[number].sums))]
        return _parts(self.space, self.numbers[number])

    def operand(self, number: int) -> ir.Value:
        """Left (0), right (1) or out (2); of a factor with a prologue what it is mainly made from."""
        prologue = self._prologue(number)
        return self.op.operands[self.numbers[number]] if prologue is None else prologue.source

    def _prologue(self, number: int) -> Prologue | None:
        return self.prologues[number] if number < 2 else None

    def read_for(self, number: int) -> list[ir.Value]:
        """The values that a function needs to read left, right or out."""
        prologue = self._prologue(number)
        if prologue is None:
            return [self.operand(number)]
        return [*(v for v, _ in prologue.operands), *prologue.captured]

    @property
    def outside(self) -> list[ir.Value]:
        """The values that a function needs to read both factors and to write the result."""
        return [v for number in range(3) for v in self.read_for(number)]

    def made_by(self, prologues: tuple[Prologue | None, Prologue | None]) -> Product:
        """The same with prologues."""
        accesses = [
            a if p is None else p.access for a, p in zip(self.accesses, (*prologues, None), strict=True)
        ]
        return replace(self, accesses=(accesses[0], accesses[1], accesses[2]), prologues=prologues)

    @property
    def numbers(self) -> tuple[int, int, int]:
        """The op's operands that are left, right and out."""
        return (self.left, 1 - self.left, 2)

    def view(self, number: int, value: ir.Value) -> ir.Value:
        """`value`, which is left, right or out in a function, as `accesses` index it."""
        value = collapse(value, self.parts(number))
        return transposed(value, self.permutation) if number == 2 and self.permutation else value

    def converted(self, number: int, value: ir.Value) -> ir.Value:
        """An element of left or right, or a vector of them, as it is multiplied."""
        return convert(self.op, self.numbers[number], value)


def width(kind: ir.Type) -> int:
    """Bits of a number."""
    return ir.FloatType(kind).width if isinstance(kind, ir.FloatType) else ir.IntegerType(kind).width


def product_of(space: Space) -> Product | None:
    """The op as a contraction; None where it is none."""
    op = space.op
    if len(op.operands) != 3 or space.inputs != 2 or not multiplies(op):
        return None
    if not all(isinstance(v.type, ir.MemRefType) for v in op.operands):
        return None
    accesses = [_grouped(space, n) for n in range(3)]
    if any(a is None for a in accesses):
        return None
    a, b, out = (x for x in accesses if x is not None)
    if not all(s.is_dimension() for s in out.sums) or not out.sums:
        return None
    if len(out.dimensions) != len(out.sums):
        return None
    permutation = _long_last([space.lengths[d] for d in (s.factors[0][0] for s in out.sums)])
    out = Access(tuple(out.sums[n] for n in permutation))
    lane = out.sums[-1].factors[0][0]
    if collapsed_strides(op.operands[2], _parts(space, 2))[permutation[-1]] != 1:
        return None
    left = 1 if lane in a.dimensions and lane not in b.dimensions else 0
    first, second = (a, b) if left == 0 else (b, a)
    parts = product_dimensions(first.dimensions, second.dimensions, out.dimensions, space.reduction)
    if parts is None:
        return None
    return Product(
        space,
        tuple(space.lengths),
        (first, second, out),
        parts.batch,
        parts.rows,
        parts.columns,
        parts.terms,
        lane,
        left,
        permutation=() if permutation == tuple(range(len(permutation))) else permutation,
    )


def _long_last(lengths: list[int]) -> tuple[int, ...]:
    """The order of indices with those of length 1 at the end in front of the last longer one."""
    last = max((n for n, length in enumerate(lengths) if length > 1), default=len(lengths) - 1)
    return (*range(last), *range(last + 1, len(lengths)), last)


# -- dimensions that run as one --------------------------------------------------------------------


def _grouped(space: Space, operand: int) -> Access | None:
    """The operand's access over groups of dimensions."""
    access = access_of(space.maps[operand])
    if access is None:
        return None
    number = {group[0]: n for n, group in enumerate(space.groups)}
    inner = {d for group in space.groups for d in group[1:]}
    kept = [s for s in access.sums if not (s.is_dimension() and s.factors[0][0] in inner)]
    if any(d not in number for s in kept for d in s.dimensions):
        return None
    return Access(tuple(Sum(tuple((number[d], f) for d, f in s.factors), s.constant) for s in kept))


def _parts(space: Space, operand: int) -> list[list[int]]:
    inner = {d for group in space.groups for d in group[1:]}
    parts: list[list[int]] = []
    for n, expression in enumerate(space.maps[operand].results):
        if isinstance(expression, ir.AffineDimExpr) and expression.position in inner:
            parts[-1].append(n)
        else:
            parts.append([n])
    return parts


def collapsed_strides(value: ir.Value, parts: list[list[int]]) -> list[int]:
    strides, _ = ir.MemRefType(value.type).get_strides_and_offset()
    return [strides[part[-1]] for part in parts]


def collapse(value: ir.Value, parts: list[list[int]]) -> ir.Value:
    """The operand with the indices of each part as one; only dense operands have such parts."""
    kind = ir.MemRefType(value.type)
    if len(parts) == kind.rank:
        return value
    shape = [math.prod(kind.shape[d] for d in part) for part in parts]
    return memref.CollapseShapeOp(ir.MemRefType.get(shape, kind.element_type), value, parts).result


def transposed(value: ir.Value, order: tuple[int, ...]) -> ir.Value:
    """A view of the operand with its indices in another order."""
    kind = ir.MemRefType(value.type)
    strides, offset = kind.get_strides_and_offset()
    layout = ir.StridedLayoutAttr.get(offset, [strides[n] for n in order])
    result = ir.MemRefType.get([kind.shape[n] for n in order], kind.element_type, layout)
    permutation = ir.AffineMapAttr.get(ir.AffineMap.get_permutation(list(order)))
    return memref.TransposeOp(result, value, permutation).result
