"""kern-reverse: beside a tensor program f its `f.vjp`, reverse mode.

Comes in: a `func.func` on tensors of static shape and scalars. Goes out: a function of the same
arguments and a cotangent for each float result; it gives the primal results and the cotangents of the
active arguments. Read next: `prepare` (what is brought to one form first), `scope` (how the primal is
recomputed), then the rules: `structured_reverse`, `movement`, `loop`, `branch`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mlir import ir
from mlir.dialects import func

from pykern.passes.autodiff.parts import adjoint_of
from pykern.passes.autodiff.rules import table
from pykern.passes.autodiff.rules.gates import Flow, is_singular, through
from pykern.passes.autodiff.tensor import movement
from pykern.passes.autodiff.tensor.activity import varied
from pykern.passes.autodiff.tensor.branch import reverse_if
from pykern.passes.autodiff.tensor.calls import launches, reverse_call
from pykern.passes.autodiff.tensor.contraction import contract_as
from pykern.passes.autodiff.tensor.cotangents import Cotangents
from pykern.passes.autodiff.tensor.functions import (
    Signature,
    active_arguments,
    check_program,
    chosen,
    writing,
)
from pykern.passes.autodiff.tensor.gates import MaybeGate
from pykern.passes.autodiff.tensor.loop import reverse_for
from pykern.passes.autodiff.tensor.prepare import prepared
from pykern.passes.autodiff.tensor.refuse import refused
from pykern.passes.autodiff.tensor.scope import Scope
from pykern.passes.autodiff.tensor.structured_reverse import reverse_structured
from pykern.passes.autodiff.tensor.values import is_float
from pykern.passes.autodiff.unread_gates import drop_unread_gates
from pykern.passes.framework import Pass
from pykern.passes.ir.clone import terminator_operands
from pykern.passes.ir.structured import is_structured
from pykern.passes.kernels import find


@dataclass(frozen=True)
class Reverse(Pass):
    """Add `f.vjp` for a tensor program `f`.

    In:  functions marked `kern.program`, or the one called `function`.
    Out: the same, and `@f.vjp(arguments, cotangents of float results) -> (results, cotangents of `active`)`.
    """

    name = "kern-reverse"
    function: str = ""
    active: str = ""
    """Argument numbers, as ``0,2``; every float argument by default."""
    checkpoint: str = "all"
    """What outer loops store: ``all``, ``every(k)``, ``binomial(s)``."""

    def run(self, module: ir.Module) -> None:
        for function in chosen(module, self.function):
            reverse(function, active_arguments(function, self.active), self.checkpoint)


def reverse(function: func.FuncOp, active: Sequence[int], checkpoint: str = "all") -> func.FuncOp:
    """Make `@f.vjp` after `function`, for the arguments `active`; see `Reverse`.

    Raises `NotDifferentiable`, located, where an op that matters has no rule.
    """
    check_program(function, active)
    with prepared(function, active, checkpoint) as primal:
        body = primal.regions[0].blocks[0]
        arguments = list(body.arguments)
        results = terminator_operands(body)
        seeded = [k for k, result in enumerate(results) if is_float(result.type)]
        signature = Signature.of(function)
        made = signature.extended(
            "vjp",
            more_arguments=[(f"{signature.result_name(k)}.cotangent", results[k].type) for k in seeded],
            more_results=[arguments[k].type for k in active],
        )
        with writing(made):
            scope = Scope(body, made.regions[0].blocks[0])
            given = list(made.arguments)
            scope.known.update(zip(arguments, given, strict=False))
            scope.emit_all()
            singular = bool(find(primal.operation, is_singular))
            cotangents = Cotangents(varied(primal.operation, [arguments[k] for k in active]), singular)
            with function.location, scope.here:
                for k, cotangent in zip(seeded, given[len(arguments) :], strict=True):
                    cotangents.add(results[k], cotangent)
                reverse_block(scope, cotangents)
                flowing = [cotangents.take_or_zero(arguments[k], scope) for k in active]
                func.ReturnOp([*(scope.value(result) for result in results), *flowing])
            cotangents.check_all_taken()
            if singular:
                drop_unread_gates(made.operation)
            contract_as(primal.operation, made.operation)
    return made


def reverse_block(scope: Scope, cotangents: Cotangents) -> None:
    """Pull cotangents back through the block `scope` stands for, last op first."""
    for op in reversed(list(scope.primal.operations)[:-1]):
        if cotangents.any(op.operation.results):
            with adjoint_of(op.operation.location), scope.here:
                _reverse_op(op.operation, scope, cotangents)


def _reverse_op(op: ir.Operation, scope: Scope, cotangents: Cotangents) -> None:
    if is_structured(op):
        reverse_structured(op, scope, cotangents)
    elif op.name in movement.RULES:
        movement.RULES[op.name](op, scope, cotangents)
    elif movement.chooses_tensors(op):
        movement.select(op, scope, cotangents)
    elif op.name == "scf.for":
        reverse_for(op, scope, cotangents, reverse_block)
    elif op.name == "scf.if":
        reverse_if(op, scope, cotangents, reverse_block)
    elif launches(op):
        reverse_call(op, scope, cotangents)
    elif table.has_rule(op) and not isinstance(op.results[0].type, ir.ShapedType):
        _reverse_scalar(op, scope, cotangents)
    else:
        raise refused(op, f"`{op.name}` has no rule of differentiation")


def _reverse_scalar(op: ir.Operation, scope: Scope, cotangents: Cotangents) -> None:
    gate, cotangent = cotangents.gate(op.results[0]), cotangents.take(op.results[0])
    assert cotangent is not None
    flow = Flow(cotangent, None if gate is None else gate())
    for place, operand in enumerate(op.operands):
        if operand in cotangents.varied:
            values = {name: scope.value(v) for name, v in table.reads(op, place).items()}
            part = through(op, place, values, flow)
            if part is not None:
                cotangents.add(operand, part.settled(), _made(part.gate))


def _made(gate: ir.Value | None) -> MaybeGate:
    return None if gate is None else lambda: gate
