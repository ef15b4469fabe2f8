"""Loads of known contents and stores that are overwritten are removed, block by block.

Comes in: a kernel of many accesses. Goes out: the same, with a load for the first reading of a place and a store for
the last writing, where nothing between them could see or change it.

Why: statements that load and store each time are chains through memory, and every later pass sees their ops. Upstream's
`cse` looks for writes between two loads of one place each time that it meets such a pair, in time that grows with the
square of a block's length. This pass goes through a block once.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import ClassVar

from mlir import ir

from pykern.dialect import attributes as kern
from pykern.dialect.index_space import NdrangeOp
from pykern.passes import kernels
from pykern.passes.analysis.cost_model.code_size import FEWEST_ACCESSES
from pykern.passes.framework import Pass
from pykern.passes.ir.values import defining
from pykern.passes.kernels import named

_HARMLESS = ("arith.", "math.", "memref.dim", "kern.global_id", NdrangeOp.OPERATION_NAME)
"""Prefixes of ops that touch no memory, have no regions and are no barriers."""
_OWN = ("kern.private", "kern.shared")
"""Ops whose memory nothing else is a name of."""


@dataclass(frozen=True)
class ReuseLoads(Pass):
    """Loads take the value of the last load or store of their place; of stores in a row the last one stays.

    In:  kernels at the work-item level. Those of fewer than `fewest` loads and stores are left to what comes later.
    Out: the same without repeated accesses. What is not known to touch no memory is taken to read and write all of it.
         Without `stores` every store stays, so that each can be checked where it stands.
    """

    name: ClassVar[str] = "kern-reuse-loads"
    fewest: int = FEWEST_ACCESSES
    stores: bool = True

    def run(self, module: ir.Module) -> None:
        for kernel in kernels.kernels(module):
            if len(named(kernel, "memref.load", "memref.store")) >= self.fewest:
                _Blocks(_apart(kernel), self.stores).reuse(kernels.body(kernel))


def _apart(kernel: ir.Operation) -> set[ir.Value]:
    """Arrays that overlap with no other one, and have one name."""
    given = list(kernels.body(kernel).arguments) if kern.NOALIAS in kernel.attributes else []
    arrays = [*given, *(op.results[0] for op in named(kernel, *_OWN))]
    return {
        array for array in arrays if isinstance(array.type, ir.MemRefType) and not _has_other_names(array)
    }


def _has_other_names(array: ir.Value) -> bool:
    return any(isinstance(r.type, ir.MemRefType) for use in array.uses for r in use.owner.operation.results)


@dataclass(frozen=True)
class _Blocks:
    apart: set[ir.Value]
    stores: bool
    numbers: _Numbers = field(default_factory=lambda: _Numbers())

    def reuse(self, block: ir.Block) -> None:
        memory = _Memory(self.apart)
        for op in [o.operation for o in block.operations]:
            if op.name == "memref.load" and not op.attributes:
                self._load(op, memory)
            elif op.name == "memref.store" and not op.attributes:
                self._store(op, memory)
            elif not op.name.startswith(_HARMLESS):
                memory.forget()
                for inner in [inner for region in op.regions for inner in region.blocks]:
                    self.reuse(inner)

    def _load(self, op: ir.Operation, memory: _Memory) -> None:
        array, *indices = op.operands
        there = memory.read(array, self._place(indices), op.results[0])
        if there is not None:
            op.results[0].replace_all_uses_with(there)
            op.erase()

    def _store(self, op: ir.Operation, memory: _Memory) -> None:
        value, array, *indices = op.operands
        overwritten = memory.write(array, self._place(indices), value, op)
        if overwritten is not None and self.stores:
            overwritten.erase()

    def _place(self, indices: list[ir.Value]) -> tuple[int, ...]:
        return tuple(self.numbers.of(index) for index in indices)


@dataclass
class _Memory:
    """The known contents of memory at one point of a block, by array and then by index."""

    apart: set[ir.Value]
    values: dict[ir.Value, dict[tuple[int, ...], ir.Value]] = field(default_factory=dict)
    unread: dict[ir.Value, dict[tuple[int, ...], ir.Operation]] = field(default_factory=dict)
    """Stores that nobody can have seen yet."""

    def read(self, array: ir.Value, place: tuple[int, ...], value: ir.Value) -> ir.Value | None:
        """The known content at an index; where it is unknown, `value` is recorded as the content."""
        there = self.values.setdefault(array, {}).setdefault(place, value)
        if there != value:
            return there
        self._forget(self.unread, array)
        return None

    def write(
        self, array: ir.Value, place: tuple[int, ...], value: ir.Value, op: ir.Operation
    ) -> ir.Operation | None:
        """Takes note of a store. Gives the one that it makes superfluous."""
        self._forget(self.values, array)
        self.values[array] = {place: value}
        stores = self.unread.setdefault(array, {})
        overwritten = stores.get(place)
        stores[place] = op
        return overwritten

    def forget(self) -> None:
        self.values.clear()
        self.unread.clear()

    def _forget(self, table: dict, array: ir.Value) -> None:
        """Leave out what may be known of `array`, under whatever name."""
        for other in (
            [array] if array in self.apart else [o for o in table if o not in self.apart or o == array]
        ):
            table.pop(other, None)


class _Numbers:
    """Values that are known to be equal have one number: those of the same arithmetic over indices."""

    def __init__(self) -> None:
        self.by_value: dict[ir.Value, int] = {}
        self.by_text: dict[Hashable, int] = {}

    def of(self, value: ir.Value) -> int:
        """The number of a value. No recursion: indices may be long sums."""
        if (found := self.by_value.get(value)) is not None:
            return found
        waiting = [value]
        while waiting:
            one = waiting[-1]
            op = defining(one)
            parts = list(op.operands) if op is not None and op.name.startswith("arith.") else []
            missing = [part for part in parts if part not in self.by_value]
            if missing and one not in self.by_value:
                waiting.extend(missing)
                continue
            self.by_value.setdefault(one, self._number(one, op, parts))
            waiting.pop()
        return self.by_value[value]

    def _number(self, value: ir.Value, op: ir.Operation | None, parts: list[ir.Value]) -> int:
        key: Hashable = value
        if op is not None and op.name.startswith("arith."):
            attributes = tuple((name, op.attributes[name]) for name in op.attributes.keys())  # noqa: SIM118
            key = (op.name, value.type, attributes, tuple(self.by_value[part] for part in parts))
        return self.by_text.setdefault(key, len(self.by_text))
