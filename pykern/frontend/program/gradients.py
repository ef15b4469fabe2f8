"""Gradients inside of an array program: ``pk.grad(f)(x)`` and ``pk.value_and_grad(f)(x)``.

Comes in: a call of `pk.grad` with a function, and a call of what that gives. Goes out: a `GradientValue`, and the value
of the gradient for these arguments, whose ops stand where the call is. `derivative_calls` has the other
derivatives, `traced` what they share.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pykern.data.program_source import ProgramDerivative
from pykern.data.scopes import parameters
from pykern.data.source import CapturedGradient, FunctionSource
from pykern.frontend import captured
from pykern.frontend.parse import parse_function
from pykern.frontend.program import arguments
from pykern.frontend.program.traced import Slot, trace
from pykern.frontend.program.values import LocalFunction
from pykern.frontend.values import (
    CustomValue,
    Extension,
    FunctionValue,
    LanguageName,
    NoneValue,
    Text,
    TupleValue,
    Value,
    describe,
)

if TYPE_CHECKING:
    from pykern.frontend.program.translator import ProgramTranslator

NAMES = ("grad", "value_and_grad")


@dataclass(frozen=True, eq=False)
class GradientValue(Extension):
    """``pk.grad(f)`` before it is called."""

    function: Value
    derivative: ProgramDerivative

    @property
    def description(self) -> str:
        return f"the gradient of {describe(self.function)}"


def captured_gradient(given: CapturedGradient) -> GradientValue:
    """A gradient made outside of the program."""
    inner = given.function
    function = FunctionValue(inner) if isinstance(inner, FunctionSource) else captured_gradient(inner)
    asked = ProgramDerivative(
        "gradient", given.active, given.checkpoint, given.aux, given.value, given.several
    )
    return GradientValue(function, asked)


captured.register(CapturedGradient, captured_gradient)


def make(t: ProgramTranslator, node: ast.Call, name: str, args: list[Value], keywords: dict) -> Value:
    """``pk.grad(f, argnums=0, has_aux=False, checkpoint="all")``."""
    given = arguments.bind(t, node, name, "f argnums= has_aux= checkpoint=", args, keywords)
    f, numbers = function(t, node, name, given["f"]), given["argnums"]
    chosen = (0,) if isinstance(numbers, NoneValue) else arguments.integers(t, node, numbers, "argnums")
    known = names_of(f)
    if known is not None:
        for n in chosen:
            if not -len(known) <= n < len(known):
                raise t.type_error(
                    node,
                    f"{describe(f)} has no parameter number {n}, which argnums names",
                    f"it has {len(known)}, numbered from 0",
                )
        chosen = tuple(n % len(known) for n in chosen)
    elif any(n < 0 for n in chosen):
        raise t.type_error(node, f"{describe(f)} takes any number of arguments: none is the last one",
                           "count argnums from the first: argnums=0")  # fmt: skip
    aux = arguments.flag(t, node, given["has_aux"], "has_aux")
    kept = policy(t, node, given["checkpoint"])
    several = isinstance(numbers, TupleValue)
    return GradientValue(
        f, ProgramDerivative("gradient", chosen, kept, aux, name == "value_and_grad", several)
    )


def function(t: ProgramTranslator, node: ast.AST, name: str, f: Value) -> Value:
    """What can be differentiated. Raises for everything else."""
    kinds = FunctionValue | LocalFunction | GradientValue | CustomValue | LanguageName
    if not isinstance(f, kinds):
        raise t.type_error(node, f"pk.{name} takes a function, not {describe(f)}",
                           "name a function, or write one: lambda w: (w * x).sum()")  # fmt: skip
    return f


def policy(t: ProgramTranslator, node: ast.AST, given: Value) -> str:
    """What time loops keep."""
    if not isinstance(given, Text | NoneValue):
        raise t.type_error(node, "inside of a program `checkpoint` is a string",
                           'write "all", "every(8)" or "binomial(8)"')  # fmt: skip
    return given.value if isinstance(given, Text) else "all"


def call(t: ProgramTranslator, node: ast.Call, callee: GradientValue, args: list, keywords: dict) -> Value:
    """The gradient for these arguments."""
    f, derivative = callee.function, callee.derivative
    names, keywords = names_of(f), dict(keywords)
    active: dict[Slot, str] = {}
    order: dict[int, int] = {}
    for n in derivative.active:
        name = names[n] if names is not None else f"argument {n}"
        slot = n if n < len(args) else name
        if isinstance(slot, str) and slot not in keywords:
            default = defaults_of(f).get(slot)
            if default is None:
                raise t.type_error(node, f"{describe(f)} needs the argument `{name}`", "give it in the call")
            keywords[slot] = default
        active[slot] = name
        order[n] = list(active).index(slot)
    traced = trace(t, node, f, args, keywords, active)
    return traced.derivative(t, replace(derivative, active=tuple(order[n] for n in derivative.active)))


def names_of(f: Value) -> list[str] | None:
    """The parameters of a function; None where it takes any number of them."""
    if isinstance(f, GradientValue):
        return names_of(f.function)
    if isinstance(f, FunctionValue | CustomValue):
        source = f.source if isinstance(f, FunctionValue) else f.custom.function
        return parameters(parse_function(source).node.args)
    if isinstance(f, LocalFunction) and not f.parsed.node.args.vararg:
        return parameters(f.parsed.node.args)
    return None


def defaults_of(f: Value) -> dict[str, Value]:
    if isinstance(f, GradientValue):
        return defaults_of(f.function)
    if isinstance(f, LocalFunction):
        return f.defaults
    source = f.source if isinstance(f, FunctionValue) else None
    return {name: captured.value(c) for name, c in source.defaults} if source else {}
