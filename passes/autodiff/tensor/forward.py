"""kern-forward: beside a tensor program f its `f.jvp`, forward mode.

Comes in: a `func.func` on tensors and scalars, also one that `reverse` made. Goes out: a function of the
same arguments and a tangent for each active one; it gives the primal results and the tangents of the
float results. Read next: `structured_forward` for linalg ops.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mlir import ir
from mlir.dialects import func, scf

from pykern.passes.autodiff.parts import tangent_of
from pykern.passes.autodiff.rules import table
from pykern.passes.autodiff.tensor.activity import varied
from pykern.passes.autodiff.tensor.calls import forward_call, launches
from pykern.passes.autodiff.tensor.functions import (
    Signature,
    active_arguments,
    check_program,
    chosen,
    writing,
)
from pykern.passes.autodiff.tensor.movement import chooses_tensors
from pykern.passes.autodiff.tensor.prepare import copied, first_function
from pykern.passes.autodiff.tensor.refuse import refused
from pykern.passes.autodiff.tensor.structured_forward import forward_structured
from pykern.passes.autodiff.tensor.values import is_float, zeros_like
from pykern.passes.framework import Pass
from pykern.passes.ir.clone import clone, terminator_operands
from pykern.passes.ir.lengths import empty_like
from pykern.passes.ir.structured import is_structured
from pykern.passes.ir.values import defining
from pykern.passes.kernels import body

LINEAR = frozenset(
    f"tensor.{name}"
    for name in (
        "extract_slice",
        "insert_slice",
        "extract",
        "insert",
        "pad",
        "expand_shape",
        "collapse_shape",
        "reshape",
        "cast",
        "from_elements",
        "splat",
        "concat",
    )
)
"""Data movement: the tangent is moved as the primal is."""


@dataclass(frozen=True)
class Forward(Pass):
    """Add `f.jvp` for a tensor program `f`.

    In:  functions marked `kern.program`, or the one called `function`.
    Out: the same, and `@f.jvp(arguments, tangents of `active`) -> (results, tangents of float results)`.
    """

    name = "kern-forward"
    function: str = ""
    active: str = ""
    """Argument numbers, as ``0,2``; every float argument by default."""

    def run(self, module: ir.Module) -> None:
        for function in chosen(module, self.function):
            forward(function, active_arguments(function, self.active))


def forward(function: func.FuncOp, active: Sequence[int]) -> func.FuncOp:
    """Make `@f.jvp` after `function`, for tangents of the arguments `active`; see `Forward`.

    Raises `NotDifferentiable`, located, where an op that matters has no rule.
    """
    check_program(function, active)
    module = copied(function)
    primal = first_function(module)
    body = primal.regions[0].blocks[0]
    arguments, results = list(body.arguments), terminator_operands(body)
    signature = Signature.of(function)
    made = signature.extended(
        "jvp",
        more_arguments=[(f"{signature.argument_name(k)}.tangent", arguments[k].type) for k in active],
        more_results=[result.type for result in results if is_float(result.type)],
    )
    given = list(made.arguments)
    tangents = dict(zip([arguments[k] for k in active], given[len(arguments) :], strict=True))
    writer = _Forward(varied(primal.operation, tangents), tangents)
    writer.known.update(zip(arguments, given, strict=False))
    with writing(made), ir.InsertionPoint(made.regions[0].blocks[0]), function.location:
        writer.block(body)
        flowing = [writer.tangent(result) for result in results if is_float(result.type)]
        func.ReturnOp([*(writer.value(result) for result in results), *flowing])
    return made


class _Forward:
    """Copies the primal op by op, each followed by its tangent."""

    def __init__(self, varied: set[ir.Value], tangents: dict[ir.Value, ir.Value]) -> None:
        self.varied, self.tangents = varied, dict(tangents)
        self.known: dict[ir.Value, ir.Value] = {}

    def value(self, value: ir.Value) -> ir.Value:
        return self.known.get(value, value)

    def tangent(self, value: ir.Value) -> ir.Value:
        """The tangent, zero where nothing varies; of a tensor without contents, one without contents."""
        if value in self.tangents:
            return self.tangents[value]
        op = defining(value)
        if op is not None and op.name == "tensor.empty":
            return empty_like(self.value(value))
        return zeros_like(self.value(value))

    def block(self, block: ir.Block) -> None:
        for op in list(block.operations)[:-1]:
            with tangent_of(op.operation.location):
                self.op(op.operation)

    def op(self, op: ir.Operation) -> None:
        varies = any(result in self.varied for result in op.results)
        if varies and op.name in _WITH_REGIONS:
            _WITH_REGIONS[op.name](self, op)
            return
        copy = clone(op, self.value)
        self.known.update(zip(op.results, copy.results, strict=True))
        if not varies:
            return
        if is_structured(op):
            self.tangents.update(forward_structured(op, self))
        elif launches(op):
            self._call(op)
        elif op.name in LINEAR or chooses_tensors(op):
            self.tangents[op.results[0]] = self._moved(op)
        elif table.has_rule(op) and not isinstance(op.results[0].type, ir.ShapedType):
            self._scalar(op)
        else:
            raise refused(op, f"`{op.name}` has no rule of differentiation")

    def _call(self, op: ir.Operation) -> None:
        tangents = [self.tangent(v) for v in op.operands if is_float(v.type)]
        values, results = ([self.value(v) for v in some] for some in (op.operands, op.results))
        given = forward_call(op, values, results, tangents)
        self.tangents.update(zip([r for r in op.results if is_float(r.type)], given, strict=True))

    def _moved(self, op: ir.Operation) -> ir.Value:
        return clone(op, lambda v: self.tangent(v) if is_float(v.type) else self.value(v)).results[0]

    def _scalar(self, op: ir.Operation) -> None:
        tangents = [self.tangents.get(operand) for operand in op.operands]
        values: dict[str, ir.Value] = {}
        for place, tangent in enumerate(tangents):
            if tangent is not None:
                values.update({name: self.value(v) for name, v in table.reads(op, place).items()})
        tangent = table.jvp(op, values, tangents)
        if tangent is not None:
            self.tangents[op.results[0]] = tangent

    def _loop(self, op: ir.Operation) -> None:
        block, inits = body(op), list(op.operands)[3:]
        variable, *carried = list(block.arguments)
        active = [k for k, argument in enumerate(carried) if argument in self.varied]
        start = [self.value(v) for v in inits] + [self.tangent(inits[k]) for k in active]
        made = scf.ForOp(*[self.value(v) for v in list(op.operands)[:3]], start)
        with ir.InsertionPoint(made.body):
            self._enter([variable, *carried], [carried[k] for k in active], made.body.arguments)
            self.block(block)
            scf.YieldOp(self._leave(terminator_operands(block), active))
        self._enter(op.results, [op.results[k] for k in active], made.results)

    def _if(self, op: ir.Operation) -> None:
        active = [k for k, result in enumerate(op.results) if result in self.varied]
        types = [result.type for result in op.results] + [op.results[k].type for k in active]
        made = scf.IfOp(self.value(op.operands[0]), types, has_else=True)
        for region, written in zip(op.regions, (made.then_block, made.else_block), strict=True):
            with ir.InsertionPoint(written):
                self.block(region.blocks[0])
                scf.YieldOp(self._leave(terminator_operands(region.blocks[0]), active))
        self._enter(op.results, [op.results[k] for k in active], made.results)

    def _while(self, op: ir.Operation) -> None:
        before, after = [region.blocks[0] for region in op.regions]
        carried = [k for k, argument in enumerate(before.arguments) if argument in self.varied]
        passed = [k for k, argument in enumerate(after.arguments) if argument in self.varied]
        start = [self.value(v) for v in op.operands] + [self.tangent(op.operands[k]) for k in carried]
        types = [r.type for r in op.results] + [op.results[k].type for k in passed]
        made = scf.WhileOp(types, start)
        first = made.operation.regions[0].blocks.append(*[v.type for v in start])
        second = made.operation.regions[1].blocks.append(*types)
        with ir.InsertionPoint(first):
            self._enter(before.arguments, [before.arguments[k] for k in carried], first.arguments)
            self.block(before)
            condition, *values = terminator_operands(before)
            scf.ConditionOp(self.value(condition), self._leave(values, passed))
        with ir.InsertionPoint(second):
            self._enter(after.arguments, [after.arguments[k] for k in passed], second.arguments)
            self.block(after)
            scf.YieldOp(self._leave(terminator_operands(after), carried))
        self._enter(op.results, [op.results[k] for k in passed], made.results)

    def _enter(self, values: Sequence, varying: Sequence, given: Sequence) -> None:
        """`given` are the primal `values`, then the tangents of `varying`."""
        given = list(given)
        self.known.update(zip(values, given, strict=False))
        self.tangents.update(zip(varying, given[len(values) :], strict=True))

    def _leave(self, values: Sequence[ir.Value], active: Sequence[int]) -> list[ir.Value]:
        return [*(self.value(v) for v in values), *(self.tangent(values[k]) for k in active)]


_WITH_REGIONS = {"scf.for": _Forward._loop, "scf.if": _Forward._if, "scf.while": _Forward._while}
