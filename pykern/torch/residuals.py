"""The gradient of a program's call that keeps what it needs from the forward run, in place of computing it again.

Comes in: a program's operation, and a call that nothing but autograd follows. Goes out: results that autograd knows.
The two programs are those of `pk.vjp`, which decides what is kept and what is cheap to compute again; arguments and
results among it are not copied. A gradient that is followed itself, or transformed, is that of `differentiable`: it is
computed from the arguments, which are saved, too.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pykern.data.program_source import ProgramDerivative
from pykern.errors import NotDifferentiable
from pykern.torch.framework import forward_ad, torch
from pykern.torch.operation import Call
from pykern.torch.values import kind_of_result, leaves_of, results_of
from pykern.types import BY_NAME


@dataclass(frozen=True)
class Kept:
    """What a forward run left: `program` pulls cotangents back. For each residual that it takes, `places` has the
    number of the argument, "r" and that of the result, or nothing: the next of `residuals`."""

    program: Any
    places: tuple[str, ...]
    residuals: Sequence[Any]
    kinds: str
    """Of the cotangents: "S" for one that is a number to the program."""

    def pulled(
        self, cotangents: Sequence[Any], arguments: Sequence[Any], results: dict[int, Any]
    ) -> list[Any]:
        """The gradients of all floats of the parameters that the forward run was asked for."""
        own = iter(self.residuals)
        given = [c.item() if kind == "S" else c for c, kind in zip(cotangents, self.kinds, strict=True)]
        for place in self.places:
            found = (
                results[int(place[1:])] if place[:1] == "r" else arguments[int(place)] if place else next(own)
            )
            given.append(found.detach())
        return list(_leaves(self.program(*given)))


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
    numbers = operation.parameters_of(active)
    derivative = ProgramDerivative("residuals", numbers, operation.program.checkpoint, borrowed=True)
    return operation.program.derived(derivative, (), f"vjp({operation.program.__name__})")


def run(operation: Any, active: tuple[int, ...], arguments: Sequence[Any]) -> tuple[list[Any], Kept]:
    """The results, and what the gradients by the arguments `active` need."""
    program = _forward(operation, active)
    value, residuals, name, _, lent, _ = operation.called(program, arguments)
    tree = json.loads(operation.layout_of(program, arguments).tree)["tuple"][0]
    nodes = results_of(tree)
    order = {node["array"] if "array" in node else node["scalar"]: n for n, node in enumerate(nodes)}
    places = [f"r{order[int(p[1:])]}" if p[:1] == "r" else p for p in lent.split(",")]
    if not lent:  # one residual, or none
        places = [""] * len(residuals)
    floats = [node for node in nodes if BY_NAME[node["dtype"]].is_float]
    names = [f"cotangent{n}" for n in range(len(floats))] + [f"residual{n}" for n in range(len(places))]
    kinds = "".join(map(kind_of_result, floats))
    kept = Kept(program.pullback(name, tuple(names)), tuple(places), residuals, kinds)
    return operation.tensors(leaves_of(tree, value), arguments), kept


class Keeping(torch.autograd.Function):
    """One call of an operation of a program."""

    @staticmethod
    def forward(ctx: Any, operation: Any, *arguments: Any) -> Any:
        ctx.operation = operation
        ctx.active = tuple(
            n for n, a in enumerate(arguments) if ctx.needs_input_grad[n + 1] and a.is_floating_point()
        )
        results, kept = run(operation, ctx.active, arguments)
        ctx.others = [None if isinstance(a, torch.Tensor) else a for a in arguments]
        ctx.lent = tuple({int(place[1:]) for place in kept.places if place[:1] == "r"})
        ctx.floats = tuple(r.is_floating_point() for r in results)
        ctx.mark_non_differentiable(*(r for r in results if not r.is_floating_point()))
        tensors = [a for a in arguments if isinstance(a, torch.Tensor)]
        ctx.save_for_backward(*tensors, *(results[n] for n in ctx.lent), *kept.residuals)
        ctx.kept = replace(kept, residuals=())
        return tuple(results)

    @staticmethod
    def backward(ctx: Any, *cotangents: Any) -> Any:
        saved = iter(ctx.saved_tensors)
        arguments = [next(saved) if a is None else a for a in ctx.others]
        given = [c for c, is_float in zip(cotangents, ctx.floats, strict=True) if is_float]
        if torch.is_grad_enabled() or not is_followed_alone(given):
            found = ctx.operation.pull(ctx.active, Call(arguments, ctx.floats, ()), given)
        else:
            results = {n: next(saved) for n in ctx.lent}
            every = replace(ctx.kept, residuals=tuple(saved)).pulled(given, arguments, results)
            places = ctx.operation.float_leaves(ctx.operation.parameters_of(ctx.active), arguments)
            found = ctx.operation.tensors((every[places.index(n)] for n in ctx.active), arguments)
        gradients = dict(zip(ctx.active, found, strict=True))
        return None, *(gradients.get(n) for n in range(len(arguments)))


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, tuple | list | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _leaves(item)
    elif value is not None:
        yield value
