"""The derivative of an operator's call: reverse and forward mode, and `torch.vmap`, each by operators again.

Comes in: an operation and its arguments. Goes out: results that autograd and `torch.func` follow to any order, since
`pull` and `push` of an operation call operations. What has no derivative raises `NotDifferentiable`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pykern.errors import NotDifferentiable
from pykern.torch.batches import mapped
from pykern.torch.complex_parts import is_inexact
from pykern.torch.framework import forward_ad, torch, unwrap_dead_wrappers
from pykern.torch.operation import MISSED, Call, as_tuple
from pykern.torch.own import Own


def needs_derivative(arguments: Sequence[Any]) -> bool:
    """Whether autograd has to follow a call."""
    if forward_ad._current_level >= 0:
        return True
    return torch.is_grad_enabled() and any(isinstance(a, torch.Tensor) and a.requires_grad for a in arguments)


def apply(operation: Any, arguments: Sequence[Any]) -> Any:
    """The results of a call that is followed."""
    if torch._C._are_functorch_transforms_active():
        return Followed.apply(operation, *arguments)
    keeping = operation.keeping(arguments)
    if keeping is not None:
        return keeping.apply(operation, *arguments)
    given = unwrap_dead_wrappers((operation, *arguments))
    return super(torch.autograd.Function, Followed).apply(*given)  # without its look at `forward`'s signature


class Followed(torch.autograd.Function):
    """One call of an operation."""

    @staticmethod
    def forward(operation: Any, *arguments: Any) -> Any:
        found = operation.direct(*arguments)
        if found is MISSED:
            with torch._C._AutoDispatchBelowAutograd():
                found = operation.overload(*arguments)
        return found if isinstance(found, torch.Tensor) else tuple(found)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        ctx.operation, *arguments = inputs
        ctx.others = [None if isinstance(a, torch.Tensor) else a for a in arguments]
        tensors = [a for a in arguments if isinstance(a, torch.Tensor)]
        results = as_tuple(output)
        kept = results if ctx.operation.rule is not None else ()
        ctx.save_for_backward(*tensors, *kept)
        ctx.save_for_forward(*tensors, *kept)
        if ctx.operation.rule is None and any(t.is_complex() for t in (*tensors, *results)):
            raise NotDifferentiable(
                f"`{ctx.operation.name}` is a kernel of complex tensors, and kernels have derivatives by real ones",
                hint="make it an array program, @pk.jit, give it a derivative, @op.backward, or pass z.real and z.imag",
            )
        ctx.floats = tuple(map(is_inexact, results))
        ctx.mark_non_differentiable(*(r for r in results if not is_inexact(r)))

    @staticmethod
    def backward(ctx: Any, *cotangents: Any) -> Any:
        call = _call(ctx)
        arguments = call.arguments
        active = tuple(n for n, a in enumerate(arguments) if ctx.needs_input_grad[n + 1] and _is_float(a))
        given = [c for c, is_float in zip(cotangents, ctx.floats, strict=True) if is_float]
        pull = ctx.operation.pull if ctx.operation.rule is None else Own(ctx.operation).pull
        found = iter(pull(active, call, given) if active else ())
        return None, *(next(found) if n in active else None for n in range(len(arguments)))

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        call, given = _call(ctx), tangents[1:]
        active = tuple(n for n, t in enumerate(given) if t is not None and _is_float(call.arguments[n]))
        push = ctx.operation.push if ctx.operation.rule is None else Own(ctx.operation).push
        found = iter(push(active, call, [given[n] for n in active]))
        made = tuple(next(found) if is_float else None for is_float in ctx.floats)
        return made[0] if len(made) == 1 and ctx.operation.count == 1 else made

    @staticmethod
    def vmap(info: Any, in_dims: tuple[Any, ...], operation: Any, *arguments: Any) -> Any:
        """One call after the other."""
        found = mapped(operation, arguments, in_dims[1:], info.batch_size)
        return (found[0], 0) if operation.count == 1 else (found, (0,) * len(found))


def _call(ctx: Any) -> Call:
    tensors = iter(ctx.saved_tensors)
    return Call([next(tensors) if a is None else a for a in ctx.others], ctx.floats, tuple(tensors))


def _is_float(argument: Any) -> bool:
    return isinstance(argument, torch.Tensor) and is_inexact(argument)
