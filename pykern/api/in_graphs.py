"""Calls of kernels and programs inside of a function that `torch.compile` compiles.

Comes in: a call that Dynamo traces. Goes out: an operation of its graph, an operator of `pykern.torch`, where tensors
are given; else the call itself, between two graphs. Dynamo reads what is not marked here, and runs what is.
"""

from __future__ import annotations

import sys
import types
import weakref
from typing import Any

from pykern.data.provided import provided
from pykern.errors import KernelTypeError

numbered: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()
"""All kernels and programs by their numbers."""
_operators = types.SimpleNamespace()
"""The operator of number 5 is `of_5`: Dynamo reads an attribute when it comes to it, and a dict once in a function."""
_apart: list[Any] = []


def is_traced() -> bool:
    """Whether Dynamo traces the call; false without PyTorch, or while that is imported."""
    compiler = getattr(sys.modules.get("torch"), "compiler", None)
    return compiler is not None and compiler.is_compiling()


def traced_call(called: Any, args: tuple, keywords: dict[str, Any]) -> Any:
    """The call of a kernel or program."""
    if _fits(called, args, keywords) and _has_operator(called.number):
        return torch_operator(called.number)(*args, **keywords)
    return called_apart(called, args, keywords)


def torch_operator(number: int) -> Any:
    """The operator of the kernel or program with this number, made once. Raises `AttributeError` where it can have
    none."""
    _has_operator(number)
    return getattr(_operators, f"of_{number}")


def called_apart(called: Any, args: tuple, keywords: dict[str, Any]) -> Any:
    """The call between two graphs. Where ``fullgraph=True`` allows none, PyTorch's error gives the reason."""
    _make_apart()
    return _apart[0](called, args, keywords)


def _fits(called: Any, args: tuple, keywords: dict[str, Any]) -> bool:
    """Whether an operator takes the call: tensors and numbers, and nothing else about it but a kernel's index space."""
    for name in keywords:
        if name not in called.signature.parameters and name != "ndrange":
            return False
    if isinstance(keywords.get("ndrange"), list):
        return False
    return any(_holds_tensor(a) for a in (*args, *keywords.values()))


def _holds_tensor(value: Any) -> bool:
    if isinstance(value, tuple | list):
        return any(_holds_tensor(item) for item in value)
    if isinstance(value, dict):
        return any(_holds_tensor(item) for item in value.values())
    return isinstance(value, sys.modules["torch"].Tensor)


def _has_operator(number: int) -> bool:
    """Make the operator of the kernel or program with this number; false where it can have none."""
    name = f"of_{number}"
    if not hasattr(_operators, name):
        try:
            setattr(_operators, name, provided("op")(numbered[number].alone))
        except KernelTypeError:
            return False
    return True


def _make_apart() -> bool:
    """Make what Dynamo leaves to Python, together with all that runs in it."""
    if not _apart:
        reason = "this call is no operator of PyTorch, which takes tensors, numbers and a kernel's ndrange: see pkt.op"
        _apart.append(sys.modules["torch"].compiler.disable(_called, reason=reason))
    return True


def _called(called: Any, args: tuple, keywords: dict[str, Any]) -> Any:
    return called(*args, **keywords)


for _function in (
    _has_operator,
    _make_apart,
):  # what `torch.compiler.assume_constant_result` does, without PyTorch
    _function._dynamo_marked_constant = True  # type: ignore[attr-defined]
