"""The launch as arguments of the kernel function: counts, ranges, the part to do, the report.

A kernel that becomes loops takes, after its own arguments, per dimension the count of work-items
(and start and step where the range is not plain), then `lo` and `hi` of the parallel dimension, and
the address of the report. All are `index`.
"""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir
from mlir.dialects import arith

from pykern.dialect import attributes as kern
from pykern.passes import kernels
from pykern.passes.analysis.launch_slots import first_slots, known_numbers
from pykern.passes.kernels import update_type


@dataclass
class LaunchArguments:
    """The added arguments, with static facts in place of what is known."""

    counts: list[ir.Value]
    starts: list[ir.Value]
    steps: list[ir.Value]
    lo: ir.Value
    hi: ir.Value
    report: ir.Value
    unit: bool = False
    """Whether the steps are all 1."""

    def coordinate(self, dim: int, number: ir.Value) -> ir.Value:
        """Coordinate of the work-item with `number` in dimension `dim`."""
        if not self.starts:
            return number
        if self.unit:
            return arith.AddIOp(self.starts[dim], number).result
        return arith.AddIOp(self.starts[dim], arith.MulIOp(number, self.steps[dim]).result).result


def add_launch_arguments(kernel: ir.Operation) -> LaunchArguments:
    """Append the arguments to the function. Static counts become constants at its top."""
    block = kernels.body(kernel)
    rank = kernels.rank(kernel)
    plain = kern.PLAIN in kernel.attributes
    first = first_slots(kernel)[-1]
    counts, starts, steps = [], [], []
    for _ in range(rank):
        counts.append(_argument(block, kernel))
        if not plain:
            starts.append(_argument(block, kernel))
            steps.append(_argument(block, kernel))
    lo, hi, report = (_argument(block, kernel) for _ in range(3))
    update_type(kernel)
    known = kernels.integers(kernel, kern.NDRANGE)
    if known is not None:
        with ir.InsertionPoint.at_block_begin(block), kernel.location:
            counts = [kernels.index_constant(n) for n in known]
    elif plain and (numbers := known_numbers(kernel)):
        with ir.InsertionPoint.at_block_begin(block), kernel.location:
            counts = [
                kernels.index_constant(numbers[first + dim]) if first + dim in numbers else count
                for dim, count in enumerate(counts)
            ]
    return LaunchArguments(counts, starts, steps, lo, hi, report, kern.UNIT in kernel.attributes)


def _argument(block: ir.Block, kernel: ir.Operation) -> ir.Value:
    return block.add_argument(ir.IndexType.get(), kernel.location)
