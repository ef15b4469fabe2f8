"""Tells PyTorch of operators: schema, code, fake results, and what autograd and `torch.func` do with a call.

Comes in: an `Operation`. Goes out: its overload, `torch.ops.pykern.<name>.default`. Whoever calls it, by whatever way,
meets the derivative: autograd's key and that of the transformations of `torch.func` lead to `differentiable.Followed`.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence
from typing import Any

from pykern.torch.batches import hidden
from pykern.torch.differentiable import apply, needs_derivative
from pykern.torch.framework import pyfunctorch, torch
from pykern.torch.operation import MISSED, Operation, as_tuple
from pykern.torch.overlap import beside_written

NAMESPACE = "pykern"
_library = torch.library.Library(NAMESPACE, "FRAGMENT")
_registered: dict[str, Operation | None] = {}
_lock = threading.RLock()
_DERIVED = re.compile(r"(.+)_(vjp|jvp)_(\d+(?:_\d+)*)_([01]+|[TSCN]+)")
"""`Operation.derived_name`."""


class _Operators(torch._ops._OpNamespace):
    """``torch.ops.pykern``: derivatives are there as soon as somebody asks for them by name, as graphs do that PyTorch
    has compiled in another process."""

    __module__ = torch._ops._OpNamespace.__module__  # what is kept on disk finds operators by it

    def __getattr__(self, name: str) -> Any:
        found = _DERIVED.fullmatch(name)
        if found is not None and name not in _registered:
            base, kind, active, more = found.groups()
            getattr(self, base)
            operation = _registered.get(base)
            if operation is not None:
                operation.derived(kind, tuple(map(int, active.split("_"))), more)
        return super().__getattr__(name)


setattr(torch.ops, NAMESPACE, _Operators(NAMESPACE))


class InPlace(Operation):
    """An operation that writes the arguments `written`, and gives nothing; `functional` gives what they become."""

    written: tuple[int, ...]
    functional: Operation


def unique(name: str) -> str:
    """A name that no operator has."""
    with _lock:
        found = next(n for k in range(1 << 30) if (n := f"{name}_{k}" if k else name) not in _registered)
        _registered[found] = None
        return found


def register_functional(operation: Operation) -> None:
    """Make an operator of it; sets its `overload`."""
    count = operation.count
    returned = (
        "Tensor[]" if count is None else "Tensor" if count == 1 else f"({', '.join(['Tensor'] * count)})"
    )

    def autograd(*arguments: Any) -> Any:
        found = operation.direct(*arguments)
        if found is not MISSED:
            return found
        if needs_derivative(arguments):
            return _as_returned(apply(operation, arguments), count)
        return dispatched(operation, arguments)

    def transformed(*arguments: Any) -> Any:
        return _as_returned(functionalized(operation, arguments) or apply(operation, arguments), count)

    def batched(*arguments: Any) -> Any:
        return _as_returned(hidden(operation, arguments), count)

    _register(operation, (), returned, autograd, transformed)
    _library.impl(operation.name, batched, "Batched")


def register_in_place(operation: InPlace) -> None:
    """Make an operator of it; sets its `overload`."""

    def autograd(*arguments: Any) -> None:
        if operation.direct(*arguments) is not MISSED:
            return
        if needs_derivative(arguments):
            transformed(*arguments)
        else:
            dispatched(operation, arguments)

    def transformed(*arguments: Any) -> None:
        """What is written, computed apart and copied: what autograd and `torch.func` know of copies holds then. The
        derivative needs the values of before."""
        copied = {*operation.written, *beside_written(operation.names, arguments, operation.written)}
        kept = [a.clone() if n in copied else a for n, a in enumerate(arguments)]
        found = operation.functional.overload(*kept)
        for n, new in zip(operation.written, as_tuple(found), strict=True):
            arguments[n].copy_(new)

    _register(operation, operation.written, "()", autograd, transformed)


def functionalized(operation: Operation, arguments: Sequence[Any]) -> tuple[Any, ...] | None:
    """The results under ``torch.func.functionalize``, which has nothing to change in a call that writes no argument;
    None under another transformation."""
    interpreter = pyfunctorch.retrieve_current_functorch_interpreter()
    if interpreter.key() != torch._C._functorch.TransformType.Functionalize:
        return None
    level = interpreter.level()
    unwrapped = [torch.utils._pytree.tree_map_only(torch.Tensor, _synchronized, a) for a in arguments]
    with interpreter.lower():
        results = as_tuple(operation.overload(*unwrapped))
    return tuple(torch._C._functorch._wrap_functional_tensor(r, level) for r in results)


def _synchronized(tensor: Any) -> Any:
    """The tensor inside of one of ``torch.func.functionalize``, with what was written there."""
    if not torch._is_functional_tensor(tensor):
        return tensor
    torch._sync(tensor)
    return torch._from_functional_tensor(tensor)


def dispatched(operation: Operation, arguments: Sequence[Any]) -> Any:
    """The operator by PyTorch's dispatcher, without autograd."""
    with torch._C._AutoDispatchBelowAutograd():
        return operation.overload(*arguments)


def _as_returned(results: Any, count: int | None) -> Any:
    found = as_tuple(results)
    return found[0] if count == 1 else list(found) if count is None else found


def _register(
    operation: Operation, written: Sequence[int], returned: str, autograd: Any, transformed: Any
) -> None:
    letters = iter("abcdefghijklmnopqrstuvwxyz")
    aliases = {n: f"({next(letters)}!)" for n in written}
    arguments = [
        f"{operation.TYPES[kind]}{aliases.get(n, '')} {name}"
        for n, (kind, name) in enumerate(zip(operation.kinds, operation.names, strict=True))
    ]
    name = operation.name
    _library.define(f"{name}({', '.join(arguments)}) -> {returned}", tags=(torch.Tag.needs_exact_strides,))
    for key in ("CPU", "CUDA"):
        _library.impl(name, lambda *given: operation.run(given), key)
    torch.library.register_fake(f"{NAMESPACE}::{name}", lambda *given: operation.fake(given), lib=_library)
    _library.impl(name, autograd, "Autograd")
    _library.impl(name, transformed, "FuncTorchDynamicLayerFrontMode")
    _registered[name] = operation
    operation.overload = getattr(getattr(torch.ops, NAMESPACE), name).default
