"""Loads of one place with no write between them: the first one serves all.

Comes in: a kernel of many loads. Goes out: the same, each block's repeated loads gone.

Why: upstream's `cse` does the same, but looks for writes from the first load on each time that it meets another one of
its place: the square of a block's length, 360 of 380 ms of it with 1,000 loads among 9,000 ops. Here a block is gone
through once.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import ClassVar

from mlir import ir

from pykern.passes import kernels
from pykern.passes.framework import Pass
from pykern.passes.kernels import named

_HARMLESS = ("arith.", "math.", "memref.dim", "memref.load", "kern.global_id", "kern.ndrange")
"""How names of ops begin that write nothing, have no regions, and do not wait for others."""


@dataclass(frozen=True)
class ReuseLoads(Pass):
    """Loads of a place take the value of the one before, where nothing between them could have written.

    In:  kernels at the work-item level. Those of fewer than `fewest` loads are left to upstream.
    Out: the same without repeated loads. Whatever is not known to write nothing is taken to write everywhere.
    """

    name: ClassVar[str] = "kern-reuse-loads"
    fewest: int = 64

    def run(self, module: ir.Module) -> None:
        for kernel in kernels.kernels(module):
            if len(named(kernel, "memref.load")) >= self.fewest:
                _reuse(kernels.body(kernel), _Numbers())


def _reuse(block: ir.Block, numbers: _Numbers) -> None:
    known: dict[Hashable, ir.Value] = {}
    for op in [o.operation for o in block.operations]:
        name = op.name
        if name == "memref.load":
            key = tuple(numbers.of(value) for value in op.operands)
            earlier = known.setdefault(key, op.results[0])
            if earlier != op.results[0] and not op.attributes:
                op.results[0].replace_all_uses_with(earlier)
                op.erase()
        elif not name.startswith(_HARMLESS):
            known.clear()
            for inner in [inner for region in op.regions for inner in region.blocks]:
                _reuse(inner, numbers)


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
            op = None if isinstance(one.owner, ir.Block) else one.owner.operation
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
