"""`pkt.check`: what an operator promises, tried out.

Comes in: an operator and arguments for one call. Goes out: which checks passed; the first that fails raises. They are
PyTorch's own (`torch.library.opcheck`, `torch.autograd.gradcheck`), and the compiled call against the plain one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pykern.torch.complex_parts import is_inexact
from pykern.torch.forms import written
from pykern.torch.framework import torch
from pykern.torch.in_place import InPlaceOperation
from pykern.torch.kernel_op import KernelOp
from pykern.torch.operation import as_tuple
from pykern.torch.program_op import ProgramOp
from pykern.torch.rules import flat_space


def check(
    op: KernelOp | ProgramOp, args: Sequence[Any], *, ndrange: Any = None, compiled: bool = True
) -> list[str]:
    """Check an operator with the arguments of a call; gives the names of the checks that passed.

    Derivatives are taken in float64 or complex128, of copies: `opcheck` (schema, fake tensors, autograd, dynamic
    shapes), `gradcheck` in reverse and forward mode, the same of the gradient, and, unless `compiled` is false, results
    and gradients under ``torch.compile(fullgraph=True)`` against those without. `ndrange` is that of an operator in
    place. Raises what PyTorch's checks raise, or `AssertionError`.
    """
    passed: list[str] = []
    operation, leaves = _of_call(op, args)
    space = [flat_space(ndrange)] if isinstance(operation, InPlaceOperation) else []
    torch.library.opcheck(operation.overload, (*[_copied(a, a) for a in leaves], *space))
    passed.append("opcheck")
    function = _functional(op, args, ndrange)
    floats = [a for a in _tensors(args) if is_inexact(a)]
    doubles = [a.detach().to(_wide(a.dtype)).clone().requires_grad_() for a in floats]
    if doubles:
        torch.autograd.gradcheck(function, doubles, check_forward_ad=True)
        torch.autograd.gradgradcheck(function, doubles)
        passed += ["gradcheck", "forward mode", "gradgradcheck"]
    if compiled:
        _compiled(function, floats)
        passed.append("compiled")
    return passed


def _of_call(op: KernelOp | ProgramOp, args: Sequence[Any]) -> tuple[Any, list[Any]]:
    """The operation of a call, and its arguments in order."""
    if isinstance(op, KernelOp):
        return op.variant("".join("T" if isinstance(a, torch.Tensor) else "N" for a in args)), list(args)
    leaves: list[Any] = []
    forms = [f"{written(v, a, leaves)}," for v, a in zip(args, op.annotations, strict=True)]
    return op.variant(f"({''.join(forms)})"), leaves


def _functional(op: KernelOp | ProgramOp, args: Sequence[Any], ndrange: Any) -> Callable[..., Any]:
    """A function of the tensors of real and complex numbers alone, which gives those of the results."""

    def function(*floats: Any) -> Any:
        given = iter(floats)
        own = [_replaced(a, given) for a in args]
        if isinstance(op, KernelOp) and not op.out:
            op(*own, ndrange=ndrange)
            return tuple(own[n] for n in op.written)
        return tuple(r for r in _tensors(op(*own)) if is_inexact(r))

    return function


def _replaced(argument: Any, given: Any) -> Any:
    """The argument with copies of the next tensors in place of its floats."""
    if isinstance(argument, torch.Tensor):
        return next(given).clone() if is_inexact(argument) else argument.clone()
    if isinstance(argument, dict):
        return {key: _replaced(item, given) for key, item in argument.items()}
    if isinstance(argument, tuple) and hasattr(argument, "_fields"):
        return type(argument)(*[_replaced(item, given) for item in argument])
    if isinstance(argument, tuple | list):
        return type(argument)([_replaced(item, given) for item in argument])
    return argument


def _tensors(value: Any) -> list[Any]:
    if isinstance(value, torch.Tensor):
        return [value]
    items = value.values() if isinstance(value, dict) else value if isinstance(value, tuple | list) else ()
    return [found for item in items for found in _tensors(item)]


def _wide(dtype: Any) -> Any:
    return torch.complex128 if dtype.is_complex else torch.float64


def _copied(value: Any, like: Any) -> Any:
    if not isinstance(value, torch.Tensor):
        return value
    return value.detach().clone().requires_grad_(like.is_floating_point() and like.requires_grad)


def _compiled(function: Callable[..., Any], floats: Sequence[Any]) -> None:
    """Results and gradients of the compiled function are the plain one's. Raises `AssertionError`."""
    ours = [a.detach().clone().requires_grad_() for a in floats]
    theirs = [a.detach().clone().requires_grad_() for a in floats]
    expected, found = function(*theirs), torch.compile(function, fullgraph=True)(*ours)
    torch.testing.assert_close(found, expected)
    if not ours or not any(r.requires_grad for r in as_tuple(expected)):
        return
    for results in (expected, found):
        torch.autograd.backward([r.abs().sum() if r.is_complex() else r.sum() for r in as_tuple(results)])
    for mine, plain in zip(ours, theirs, strict=True):
        torch.testing.assert_close(mine.grad, plain.grad)
