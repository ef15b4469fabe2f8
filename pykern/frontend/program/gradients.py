"""Gradients inside of an array program: ``pk.grad(f)(x)`` and ``pk.value_and_grad(f)(x)``.

Comes in: a call of `pk.grad` with a function, and a call of what that gives. Goes out: a `GradientValue`, and the value
of the gradient for these arguments, whose ops stand where the call is. Who differentiates is above the frontend: the
translator's `gradient` (`pykern.compiler.inner_gradients`).
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mlir import ir

from pykern.frontend.casts import materialise
from pykern.frontend.parse import parse_function
from pykern.frontend.program import arguments
from pykern.frontend.program.custom import passed_leaf, tree_value
from pykern.frontend.program.values import DictValue
from pykern.frontend.values import (
    Extension,
    FunctionValue,
    NoneValue,
    Scalar,
    Text,
    TupleValue,
    Value,
    describe,
)
from pykern.program_source import ProgramDerivative, ProgramSource
from pykern.source import (
    DICT,
    ArgSpec,
    CapturedGradient,
    FunctionSource,
    KernelOptions,
    Parameter,
    ScalarSpec,
    StructSpec,
)

if TYPE_CHECKING:
    from pykern.frontend.program.translator import ProgramTranslator

NAMES = ("grad", "value_and_grad")


@dataclass(frozen=True)
class GradientValue(Extension):
    """``pk.grad(f)`` before it is called."""

    function: FunctionSource
    derivatives: tuple[ProgramDerivative, ...]

    @property
    def description(self) -> str:
        return f"the gradient of `{self.function.name}`"


def captured_gradient(captured: CapturedGradient) -> GradientValue:
    """A gradient made outside of the program."""
    inner = captured.function
    made = GradientValue(inner, ()) if isinstance(inner, FunctionSource) else captured_gradient(inner)
    last = ProgramDerivative("gradient", captured.active, captured.checkpoint, captured.aux, captured.value)
    return GradientValue(made.function, (*made.derivatives, last))


def make(t: ProgramTranslator, node: ast.Call, name: str, args: list[Value], keywords: dict) -> Value:
    """``pk.grad(f, argnums=0, has_aux=False, checkpoint="all")``."""
    given = arguments.bind(t, node, name, "f argnums= has_aux= checkpoint=", args, keywords)
    f, numbers, policy = given["f"], given["argnums"], given["checkpoint"]
    if not isinstance(f, FunctionValue | GradientValue):
        raise t.type_error(node, f"pk.{name} takes a function, not {describe(f)}",
                           "name a function that is defined outside of the program")  # fmt: skip
    source, before = (f.source, ()) if isinstance(f, FunctionValue) else (f.function, f.derivatives)
    signature = parse_function(source).node.args
    count = len([*signature.posonlyargs, *signature.args, *signature.kwonlyargs])
    chosen = (0,) if isinstance(numbers, NoneValue) else arguments.integers(t, node, numbers, "argnums")
    for n in chosen:
        if not -count <= n < count:
            raise t.type_error(node, f"`{source.name}` has {count} parameters, and argnums names number {n}")
    if not isinstance(policy, Text | NoneValue):
        raise t.type_error(node, "inside of a program `checkpoint` is a string",
                           'write "all", "every(8)" or "binomial(8)"')  # fmt: skip
    kept = policy.value if isinstance(policy, Text) else "all"
    aux = arguments.flag(t, node, given["has_aux"], "has_aux")
    last = ProgramDerivative(
        "gradient", tuple(n % count for n in chosen), kept, aux, name == "value_and_grad"
    )
    return GradientValue(source, (*before, last))


def call(t: ProgramTranslator, node: ast.Call, callee: GradientValue) -> Value:
    """The gradient for these arguments."""
    args, keywords = t.arguments(node)
    bound = t.bind(node, parse_function(callee.function), args, keywords)
    active = {n for derivative in callee.derivatives for n in derivative.active}
    operands: list[ir.Value] = []
    parameters = tuple(
        Parameter(name, _passed(t, node, name, value, operands, number in active))
        for number, (name, value) in enumerate(_in_order(callee.function, bound))
    )
    source = ProgramSource(
        callee.function,
        parameters,
        KernelOptions(t.source.options.debug, t.fastmath, t.source.options.ordered),
        derivatives=callee.derivatives,
        added=(0,) * len(callee.derivatives),
    )
    assert t.gradient is not None, "whoever builds the program says who differentiates"
    tree, results = t.gradient(source, operands, t.module)
    return tree_value(tree, results, [r.type for r in results])


def _in_order(function: FunctionSource, bound: dict[str, Value]) -> list[tuple[str, Value]]:
    signature = parse_function(function).node.args
    names = [a.arg for a in (*signature.posonlyargs, *signature.args, *signature.kwonlyargs)]
    return [(name, bound[name]) for name in names]


def _passed(
    t: ProgramTranslator, node: ast.AST, name: str, value: Value, operands: list[ir.Value], active: bool
) -> ArgSpec:
    """What the function is told of an argument; its values go to `operands`."""
    if isinstance(value, TupleValue | DictValue):
        named = value.items if isinstance(value, DictValue) else _named(value)
        kind = DICT if isinstance(value, DictValue) else value.name or "tuple"
        return StructSpec(
            kind, tuple((n, _passed(t, node, f"{name}.{n}", item, operands, active)) for n, item in named)
        )
    if active and isinstance(value, Scalar) and value.is_const and value.dtype.is_float:
        operands.append(materialise(value))
        return ScalarSpec(value.dtype.name)
    spec, operand = passed_leaf(t, node, name, value, "the function")
    if operand is not None:
        operands.append(operand)
    return spec


def _named(value: TupleValue) -> tuple[tuple[str, Value], ...]:
    names = value.fields or tuple(str(n) for n in range(len(value.items)))
    return tuple(zip(names, value.items, strict=True))
