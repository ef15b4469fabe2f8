"""What a group of operations that go row by row is, and what an emitter says that it takes of them.

Read next: `rows`, which finds groups.
"""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir

from pykern.passes.analysis.rows import RowOp
from pykern.passes.ir.memory import is_allocated_in, users
from pykern.passes.kernels import identity


@dataclass(frozen=True)
class RowForms:
    """What an emitter takes as a group, and what its target gains by one."""

    is_device: bool = False
    """Whether each op that stays out is a launch of its own: whatever goes over the same rows then joins. Else a group
    pays where it goes over a row more than once."""
    column_sums: bool = True
    """Sums over rows, a value per column."""
    chunks: bool = True
    """Few rows, or rows longer than a cache, shared by parts of rows."""
    reshaped: bool = True
    """Rows and columns of one op may be other dimensions than those of the next one."""
    reads_elsewhere: bool = False
    """Operands may be read at any index, or have gaps, where no op of the group writes them."""
    joins: frozenset[str] | None = None
    """Names of the ops that join the terms of a reduction; None: all."""
    fewest_in_tiles: int | None = None
    """Rows, columns and terms of a product that has a better form of its own; None: none has."""


@dataclass(frozen=True)
class Group:
    """Ops to run as one loop over rows, in program order; they run where the last one stands."""

    rows: int
    columns: int
    ops: tuple[RowOp, ...]
    row_bytes: int
    in_chunks: bool
    """Whether threads share rows rather than one another's: there are few, or they stay in no cache."""

    @property
    def private(self) -> list[ir.Value]:
        """Buffers that nobody else uses."""
        mine = {identity(each.op) for each in self.ops}
        roots = dict.fromkeys(a.memory for each in self.ops for a in each.accesses if a.is_memory)
        return [root for root in roots if self._is_private(root, mine)]

    def _is_private(self, root: ir.Value, mine: set[int]) -> bool:
        is_own = is_allocated_in(root, self.ops[-1].op.block)
        return is_own and all(identity(op) in mine for op, _ in users(root))

    @property
    def row_shape(self) -> tuple[int, ...]:
        """The lengths that rows are counted by, where ops agree on them (not `RowForms.reshaped`)."""
        return self.ops[0].row_shape


def is_fill(op: ir.Operation) -> bool:
    """Whether an op on buffers reads nothing from outside but numbers of its body."""
    return op.name == "linalg.generic" and len(op.operands) == 1
