"""The gradient of a program's call that keeps what it needs from the forward run, in place of computing it again.

Comes in: a program's operation, and a call that nothing but autograd follows. Goes out: results that autograd knows.
The two programs are those of `pk.vjp`, which decides what is kept and what is cheap to compute again; arguments and
results among it are not copied. A gradient that is followed itself, or transformed, is that of `differentiable`: it is
computed from the arguments, which are saved, too.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pykern.data.program_source import ProgramDerivative
from pykern.errors import NotDifferentiable
from pykern.torch.complex_parts import wholes
from pykern.torch.framework import forward_ad, torch
from pykern.torch.operation import Call
from pykern.torch.values import kind_of_result, leaves_of, results_of
from pykern.types import BY_NAME

ARGUMENT, RESULT, OWN = range(3)
"""Where a residual is: among the arguments, among the results, or in memory of its own."""


@dataclass(frozen=True)
class Halves:
    """What calls of one kind have in common: `tree` is the form of the value, `program` pulls cotangents back. For each
    residual that it takes, `places` says where that is, and its number there."""

    tree: Any
    program: Any
    places: tuple[tuple[int, int], ...]
    kinds: str
    """Of the cotangents: "S" for one that is a number to the program, "C" for the parts of complex numbers."""
    lent: tuple[int, ...]
    """The results that are residuals."""
    wanted: tuple[int, ...]
    """Numbers of those gradients that were asked for, among all that the program gives."""

    def pulled(self, cotangents: Sequence[Any], arguments: Sequence[Any], kept: Sequence[Any]) -> list[Any]:
        """The gradients that were asked for; `kept` are the lent results, then residuals in memory of their own."""
        lent = dict(zip(self.lent, kept, strict=False))
        own = kept[len(self.lent) :]
        given = [
            c.item() if kind == "S" else c
            for c, kind in zip(wholes(self.kinds, cotangents), self.kinds, strict=True)
        ]
        for where, number in self.places:
            found = (
                arguments[number] if where == ARGUMENT else lent[number] if where == RESULT else own[number]
            )
            given.append(found.detach())
        every = list(_leaves(self.program(*given)))
        return [every[n] for n in self.wanted]


def has_halves(operation: Any, active: tuple[int, ...], arguments: Sequence[Any]) -> bool:
    """Whether the program has a derivative; where it has none, the gradient says so when it is asked for."""
    try:
        operation.layout_of(_forward(operation, active), arguments)
    except NotDifferentiable:
        return False
    return True


def is_followed_alone(arguments: Sequence[Any]) -> bool:
    """Whether the tensors are plain ones of the CPU, and only autograd looks at what is done with them."""
    if forward_ad._current_level >= 0 or torch._C._are_functorch_transforms_active():
        return False
    if torch._C._len_torch_dispatch_stack() or torch._C._len_torch_function_stack():
        return False
    return all(map(_is_plain, arguments))


def _is_plain(argument: Any) -> bool:
    """What has other dispatch keys is batched, fake, lazily negated, on a device, or else more than its memory."""
    if not isinstance(argument, torch.Tensor):
        return True
    is_own = type(argument) in (torch.Tensor, torch.nn.Parameter)
    return is_own and torch._C._dispatch_keys(argument).raw_repr() == _PLAIN


_PLAIN = torch._C._dispatch_keys(torch.empty(0)).raw_repr()


def _forward(operation: Any, active: tuple[int, ...]) -> Any:
    """The program that gives results and residuals, for the gradients by the arguments `active`."""
    if active not in operation.forwards:
        operation.forwards[active] = _make_forward(operation, active)
    return operation.forwards[active]


def _make_forward(operation: Any, active: tuple[int, ...]) -> Any:
    numbers = operation.parameters_of(active)
    derivative = ProgramDerivative("residuals", numbers, operation.program.checkpoint, borrowed=True)
    return operation.program.derived(derivative, (), f"vjp({operation.program.__name__})")


def run(
    operation: Any, active: tuple[int, ...], arguments: Sequence[Any]
) -> tuple[list[Any], Halves, Sequence[Any]]:
    """The results, what calls of this kind have in common, and the residuals that are in memory of their own."""
    value, residuals, name, _, lent, _ = operation.called(_forward(operation, active), arguments)
    if (name, active) not in operation.halves:
        operation.halves[name, active] = _halves(operation, active, arguments, name, lent, len(residuals))
    halves = operation.halves[name, active]
    return operation.tensors(leaves_of(halves.tree, value), arguments), halves, residuals


def _halves(
    operation: Any, active: tuple[int, ...], arguments: Sequence[Any], name: str, lent: str, count: int
) -> Halves:
    """Of calls with arguments like these. `name` is that of the pullback; `lent` has the number of an argument, "r" and
    that of a result, or nothing for each residual, of which `count` are in memory of their own."""
    program = _forward(operation, active)
    tree = json.loads(operation.layout_of(program, arguments).tree)["tuple"][0]
    nodes = results_of(tree)
    order = {node["array"] if "array" in node else node["scalar"]: n for n, node in enumerate(nodes)}
    own = iter(range(count))
    places = [
        (RESULT, order[int(p[1:])]) if p[:1] == "r" else (ARGUMENT, int(p)) if p else (OWN, next(own))
        for p in (lent.split(",") if lent else [""] * count)  # one residual, or none
    ]
    floats = [node for node in nodes if BY_NAME[node["dtype"]].is_float]
    names = [f"cotangent{n}" for n in range(len(floats))] + [f"residual{n}" for n in range(len(places))]
    kinds = "".join(map(kind_of_result, floats))
    pullback = program.pullback(name, tuple(names))
    results = tuple({number for where, number in places if where == RESULT})
    leaves = operation.float_leaves(operation.parameters_of(active), arguments)
    wanted = tuple(leaves.index(n) for n in active)
    return Halves(tree, pullback, tuple(places), kinds, results, wanted)


class Keeping(torch.autograd.Function):
    """One call of an operation of a program."""

    @staticmethod
    def forward(ctx: Any, operation: Any, *arguments: Any) -> Any:
        ctx.operation = operation
        ctx.active = tuple(
            n for n, a in enumerate(arguments) if ctx.needs_input_grad[n + 1] and a.is_floating_point()
        )
        results, ctx.halves, residuals = run(operation, ctx.active, arguments)
        ctx.others = [None if isinstance(a, torch.Tensor) else a for a in arguments]
        ctx.floats = tuple(r.is_floating_point() for r in results)
        ctx.mark_non_differentiable(*(r for r in results if not r.is_floating_point()))
        tensors = [a for a in arguments if isinstance(a, torch.Tensor)]
        ctx.save_for_backward(*tensors, *(results[n] for n in ctx.halves.lent), *residuals)
        return tuple(results)

    @staticmethod
    def backward(ctx: Any, *cotangents: Any) -> Any:
        saved = iter(ctx.saved_tensors)
        arguments = [next(saved) if a is None else a for a in ctx.others]
        given = [c for c, is_float in zip(cotangents, ctx.floats, strict=True) if is_float]
        if torch.is_grad_enabled() or not is_followed_alone(given):
            found = ctx.operation.pull(ctx.active, Call(arguments, ctx.floats, ()), given)
        else:
            found = ctx.operation.tensors(ctx.halves.pulled(given, arguments, tuple(saved)), arguments)
        gradients = dict(zip(ctx.active, found, strict=True))
        return None, *(gradients.get(n) for n in range(len(arguments)))


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, tuple | list | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _leaves(item)
    elif value is not None:
        yield value
