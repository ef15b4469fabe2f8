"""A vjp in two functions: what runs with the primal, and what waits for the cotangents.

Comes in: `f.vjp` as `reverse` makes it. Goes out: one of its halves in its place. The forward half takes the
arguments of `f` and gives its results and the residuals; the backward half takes the cotangents and these. Each is
cut out of the same function by itself: they agree on the residuals because both ask `residuals`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from mlir import ir
from mlir.dialects import arith, func, tensor

from pykern.passes.analysis.cost_model.memory import LENT_RESULT_BYTES
from pykern.passes.autodiff.tensor.residuals import is_dear, residuals
from pykern.passes.autodiff.tensor.split_branches import split_branches
from pykern.passes.ir.clone import terminator_operands
from pykern.passes.ir.values import defining, free_values
from pykern.passes.kernels import identity, terminator


@dataclass(frozen=True)
class Halves:
    """A vjp, of which the arguments from number `seeds` on are cotangents and the results from `gradients` on are those
    of the arguments; `waiting` are the ops that need a cotangent, `kept` is what they and the gradients read beside.
    """

    made: func.FuncOp
    seeds: int
    gradients: int
    waiting: tuple[ir.Operation, ...]
    kept: tuple[ir.Value, ...]

    @classmethod
    def of(cls, made: func.FuncOp, seeds: int, gradients: int, borrowed: bool) -> Halves:
        """`borrowed`: whoever calls has the arguments and the results in any case."""
        block = made.regions[0].blocks[0]
        late = set(list(block.arguments)[seeds:])
        split_branches(block, late)
        waiting: list[ir.Operation] = []
        read: dict[ir.Value, None] = {}
        for op in list(block.operations)[:-1]:
            values = free_values(op.operation)
            if any(v in late for v in values):
                waiting.append(op.operation)
                read.update(dict.fromkeys(values))
        read.update(dict.fromkeys(terminator_operands(block)[gradients:]))
        wanted = [v for v in read if v not in late]
        at_hand: dict[ir.Value, int] = {}
        if borrowed:
            at_hand = dict.fromkeys(_arrays(terminator_operands(block)[:gradients]), LENT_RESULT_BYTES)
            at_hand.update(dict.fromkeys(_arrays(list(block.arguments)[:seeds]), 0))
        return cls(made, seeds, gradients, tuple(waiting), tuple(residuals(wanted, block, at_hand)))

    @property
    def saves_work(self) -> bool:
        """Whether the backward half would have much to compute if nothing were kept."""
        return is_dear(self.kept)

    def keep_forward(self, updated: int, borrowed: bool) -> list[str]:
        """Leave the primal's results, and the residuals, as arrays, in front of its `updated` last ones.

        Gives a text for each residual: empty, or, if arguments and results are to be `borrowed`, the number of the
        argument that it is, or "r" and that of the result.
        """
        block = self.made.regions[0].blocks[0]
        end = terminator(block)
        results = list(end.operands)[: self.gradients]
        with ir.InsertionPoint(end), end.location:
            place = len(results) - updated
            lent = self._lent(results[:place]) if borrowed else {}
            arrays = [_as_array(value) for value in self.kept if value not in lent]
            func.ReturnOp([*results[:place], *arrays, *results[place:]])
        end.erase()
        for op in reversed(self.waiting):
            op.erase()
        for number in reversed(range(self.seeds, len(block.arguments))):
            block.erase_argument(number)
        return [lent.get(value, "") for value in self.kept]

    def _lent(self, results: list[ir.Value]) -> dict[ir.Value, str]:
        """The arrays that the caller has, by what they are called."""
        arguments = list(self.made.regions[0].blocks[0].arguments)[: self.seeds]
        named = [(value, f"r{n}") for n, value in enumerate(results)]
        named += [(value, str(n)) for n, value in enumerate(arguments)]
        return {value: name for value, name in named if isinstance(value.type, ir.RankedTensorType)}

    def keep_backward(self) -> None:
        """Leave a function of the cotangents and, behind them, the residuals."""
        block = self.made.regions[0].blocks[0]
        end = terminator(block)
        flowing = list(end.operands)[self.gradients :]
        needed = self._needed(flowing)
        with ir.InsertionPoint(end), end.location:
            func.ReturnOp(flowing)
        end.erase()
        old = [op.operation for op in block.operations][:-1]
        for value in self.kept:
            given = block.add_argument(_array_type(value.type), self.made.location)
            with ir.InsertionPoint.at_block_begin(block), self.made.location:
                value.replace_all_uses_with(_from_array(given, value.type))
        for op in reversed(old):
            if identity(op) not in needed:
                op.erase()
        for number in reversed(range(self.seeds)):
            block.erase_argument(number)
        unnamed = [ir.DictAttr.get({})] * len(block.arguments)
        self.made.operation.attributes["arg_attrs"] = ir.ArrayAttr.get(unnamed)

    def _needed(self, flowing: list[ir.Value]) -> set[int]:
        """The ops that compute `flowing` from what is kept."""
        kept = set(self.kept)
        found: set[int] = set()
        waiting = list(flowing)
        while waiting:
            value = waiting.pop()
            op = defining(value)
            if value not in kept and op is not None and identity(op) not in found:
                found.add(identity(op))
                waiting += free_values(op)
        return found


def _arrays(values: Iterable[ir.Value]) -> list[ir.Value]:
    return [value for value in values if isinstance(value.type, ir.RankedTensorType)]


def _array_type(kind: ir.Type) -> ir.Type:
    """What stands for a value where all are arrays: bools are bytes, indices have 64 bits."""
    if isinstance(kind, ir.RankedTensorType):
        return kind
    if str(kind) == "i1":
        kind = ir.IntegerType.get_signless(8)
    elif isinstance(kind, ir.IndexType):
        kind = ir.IntegerType.get_signless(64)
    return ir.RankedTensorType.get([], kind)


def _as_array(value: ir.Value) -> ir.Value:
    if isinstance(value.type, ir.RankedTensorType):
        return value
    kind = ir.RankedTensorType(_array_type(value.type))
    if str(value.type) == "i1":
        value = arith.extui(kind.element_type, value)
    elif isinstance(value.type, ir.IndexType):
        value = arith.index_cast(kind.element_type, value)
    return tensor.FromElementsOp(kind, [value]).result


def _from_array(array: ir.Value, kind: ir.Type) -> ir.Value:
    if isinstance(kind, ir.RankedTensorType):
        return array
    element = tensor.extract(array, [])
    if str(kind) == "i1":
        return arith.trunci(kind, element)
    return arith.index_cast(kind, element) if isinstance(kind, ir.IndexType) else element
