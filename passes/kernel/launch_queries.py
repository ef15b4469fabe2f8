"""What the launcher asks before a launch: how far the outermost dimension goes, and how much there is to do.

Comes in: a kernel of one work-item with the launch as arguments (`launch_arguments`). Goes out: `<name>.extent` and
`<name>.work` of the same arguments. Work is counted in ops; loops as often as they run, where that follows from lengths
and scalars. A loop up to a work-item's own index counts as that of the one in the middle. A kernel with a loop that
nobody knows the length of is marked `ENDLESS`. Read next: `expand_ndrange`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from mlir import ir
from mlir.dialects import arith, func, memref

from pykern.dialect import attributes as kern
from pykern.dialect.index_space import NdrangeOp
from pykern.passes import kernels
from pykern.passes.analysis.cost_model.code_size import BOUND_DEPTH
from pykern.passes.analysis.cost_model.operations import ASSUMED_TRIPS, MOST_NEST_WORK
from pykern.passes.ir.clone import remake
from pykern.passes.ir.index_arithmetic import product
from pykern.passes.ir.values import defining
from pykern.passes.kernel.launch_arguments import LaunchArguments
from pykern.passes.kernels import index_constant

DIVISIONS = ("div", "rem")


@dataclass
class Cost:
    """Ops: a number, and values to be added to it."""

    fixed: int = 0
    varying: list[ir.Value] = field(default_factory=list)

    def add(self, other: Cost, times: int | ir.Value) -> None:
        if isinstance(times, int):
            self.fixed = min(MOST_NEST_WORK, self.fixed + times * other.fixed)
            self.varying += [_limited(value, index_constant(times)) for value in other.varying]
        elif other.varying:
            self.varying.append(_limited(times, other.value()))
        else:
            self.varying.append(product((times, other.value())))

    def value(self) -> ir.Value:
        total = index_constant(self.fixed)
        for value in self.varying:
            total = arith.AddIOp(total, value).result
        return total


def add_extent(module: ir.Module, kernel: ir.Operation, size: tuple[int, ...] | None) -> None:
    """`<name>.extent`: work-items of the outermost loop's dimension, or all groups of `size` work-items."""
    block, counts = _query(module, kernel, "extent")
    with ir.InsertionPoint(block), kernel.location:
        if size is None:
            outermost = kernels.dimension_of(kernel, 0)
            result = counts[outermost]
            for count in [
                *counts[:outermost],
                *counts[outermost + 1 :],
            ]:  # nothing to do in an inner dimension: nothing at all
                empty = arith.CmpIOp(arith.CmpIPredicate.eq, count, index_constant(0)).result
                result = arith.SelectOp(empty, index_constant(0), result).result
        else:
            sizes = map(index_constant, size)
            result = product(list(map(_ceil_divided, counts, sizes)))
        func.ReturnOp([result])


def add_work(module: ir.Module, kernel: ir.Operation) -> None:
    """`<name>.work`. Called before the kernel becomes loops: its body is still that of one work-item."""
    block, counts = _query(module, kernel, "work")
    with ir.InsertionPoint(block), kernel.location:
        writer = _Bounds(kernel, block, counts)
        func.ReturnOp([product((*counts, writer.cost(kernels.body(kernel)).value()))])
    if writer.assumes:
        kernel.attributes[kern.ENDLESS] = ir.UnitAttr.get()


def _query(module: ir.Module, kernel: ir.Operation, suffix: str) -> tuple[ir.Block, list[ir.Value]]:
    name = ir.StringAttr(kernel.attributes["sym_name"]).value
    inputs = [a.type for a in kernels.body(kernel).arguments]
    with ir.InsertionPoint(module.body), kernel.location:
        query = func.FuncOp(f"{name}.{suffix}", ir.FunctionType.get(inputs, [ir.IndexType.get()]))
        block = query.add_entry_block()
    known = kernels.integers(kernel, kern.NDRANGE)
    if known is None:
        return block, _launch(kernel, block).counts
    with ir.InsertionPoint(block), kernel.location:
        return block, [index_constant(n) for n in known]


def _launch(kernel: ir.Operation, block: ir.Block) -> LaunchArguments:
    """The launch among the arguments of a function that takes what the kernel takes."""
    *given, lo, hi, report = block.arguments
    rank = kernels.rank(kernel)
    if kern.PLAIN in kernel.attributes:
        return LaunchArguments(given[-rank:], [], [], lo, hi, report)
    ranges = given[-3 * rank :]
    return LaunchArguments(ranges[::3], ranges[1::3], ranges[2::3], lo, hi, report)


@dataclass
class _Bounds:
    """Values of the kernel that follow from its arguments, computed again where the builder stands."""

    kernel: ir.Operation
    block: ir.Block
    counts: list[ir.Value]
    made: dict[ir.Value, ir.Value | None] = field(default_factory=dict)
    assumes: bool = False
    """Whether the length of a loop was assumed."""

    def __post_init__(self) -> None:
        own = kernels.body(self.kernel).arguments
        self.made.update(zip(own, self.block.arguments, strict=True))

    def cost(self, block: ir.Block) -> Cost:
        """The cost of all ops of a block; both sides of a branch count."""
        total = Cost()
        for op in (o.operation for o in block.operations):
            total.fixed += 1
            trips = self._trips(op)
            for region in op.regions:
                for inner in region.blocks:
                    total.add(self.cost(inner), trips)
        return total

    def _trips(self, op: ir.Operation) -> int | ir.Value:
        if op.name == "scf.while":
            self.assumes = True
            return ASSUMED_TRIPS
        if op.name != "scf.for":
            return 1
        first, last, step = list(op.operands)[:3]
        constants = [kernels.is_constant(v) for v in (first, last, step)]
        if all(c is not None for c in constants):
            trips = len(range(*constants))
            self._middle(op, first, last)
            return trips
        begin, end = self.value(first), self.value(last)
        rising = constants[2] is not None and constants[2] > 0
        if begin is None or end is None or not rising or not isinstance(first.type, ir.IndexType):
            self.assumes = True
            return ASSUMED_TRIPS
        self._middle(op, first, last)
        distance = arith.MaxSIOp(arith.SubIOp(end, begin).result, index_constant(0)).result
        return _ceil_divided(distance, index_constant(constants[2]))

    def _middle(self, loop: ir.Operation, first: ir.Value, last: ir.Value) -> None:
        """The loop's index, for loops inside of it: halfway."""
        begin, end = self.value(first), self.value(last)
        index = loop.regions[0].blocks[0].arguments[0]
        if begin is not None and end is not None and isinstance(index.type, ir.IndexType):
            self.made[index] = arith.ShRSIOp(arith.AddIOp(begin, end).result, index_constant(1)).result

    def value(self, wanted: ir.Value, depth: int = 0) -> ir.Value | None:
        """The value in the query; None where it is data."""
        if wanted not in self.made:
            maker = defining(wanted) if depth < BOUND_DEPTH else None
            self.made[wanted] = None if maker is None else self._rematerialised(maker, depth + 1)
        return self.made[wanted]

    def _rematerialised(self, op: ir.Operation, depth: int) -> ir.Value | None:
        if op.name == NdrangeOp.OPERATION_NAME:
            return self.counts[_dim(op)]
        if op.name == "kern.global_id":
            dim = _dim(op)
            half = arith.ShRUIOp(self.counts[dim], index_constant(1)).result
            return _launch(self.kernel, self.block).coordinate(dim, half)
        if op.name == "memref.dim":
            array, dim = (self.value(v, depth) for v in op.operands)
            return None if array is None or dim is None else memref.DimOp(array, dim).result
        if not op.name.startswith("arith.") or len(op.results) != 1 or not _is_integer(op.results[0].type):
            return None
        if any(word in op.name for word in DIVISIONS) and not kernels.is_constant(op.operands[1]):
            return None  # a division by zero that no work-item does
        operands = [self.value(v, depth) if _is_integer(v.type) else None for v in op.operands]
        if any(operand is None for operand in operands):
            return None
        return remake(op, operands, [op.results[0].type]).result


def _dim(op: ir.Operation) -> int:
    return ir.IntegerAttr(op.attributes["dim"]).value


def _is_integer(kind: ir.Type) -> bool:
    return isinstance(kind, (ir.IndexType, ir.IntegerType))


def _ceil_divided(value: ir.Value, by: ir.Value) -> ir.Value:
    return arith.CeilDivUIOp(value, by).result


def _limited(a: ir.Value, b: ir.Value) -> ir.Value:
    """The product, and `MOST_NEST_WORK` where it is more."""
    most = index_constant(MOST_NEST_WORK)
    least = [arith.MinUIOp(factor, most).result for factor in (a, b)]
    return arith.MinUIOp(product(least), most).result
