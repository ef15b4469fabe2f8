"""What the functions of the library are: array programs that also take tensors of PyTorch and arrays of JAX with
derivatives.

Comes in: a function over whole arrays. Goes out: a `LibraryFunction`. Called with NumPy's arrays or `pk.Array`s, or
inside of a program, it is a `@pk.jit` program. A tensor makes the call an operator of PyTorch, which autograd
follows; an array or tracer of JAX makes it a primitive of JAX. Read next: `pykern.torch.op`, `pykern.jax.function`.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pykern.api.jit import Program
from pykern.data.source import KernelOptions
from pykern.obtain.prewarm import before_first_call

if TYPE_CHECKING:
    from types import ModuleType


class LibraryFunction(Program):
    """An array program; in calls with tensors or arrays of JAX an operator of theirs."""

    __slots__ = ("_operators",)

    def __init__(self, function: Callable, options: KernelOptions | None = None) -> None:
        super().__init__(function, options or KernelOptions())
        self._operators: dict[str, Any] = {}

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        """The value, as arrays of the framework that the arguments come from."""
        __tracebackhide__ = True
        given = (*args, *keywords.values())
        if "out" not in keywords:
            torch = sys.modules.get("torch")
            if torch is not None and any(isinstance(x, torch.Tensor) for x in given):
                return self._operator("pykern.torch", "op")(*args, **keywords)
            jax = sys.modules.get("jax")
            if jax is not None and any(isinstance(x, jax.Array) for x in given):
                return self._operator("pykern.jax", "primitive")(*args, **keywords)
        return super().__call__(*args, **keywords)

    def _operator(self, module: str, name: str) -> Any:
        if module not in self._operators:
            framework: ModuleType = importlib.import_module(module)
            program = Program(self.__wrapped__, self.options, text=self.text)
            self._operators[module] = getattr(framework, name)(program)
        return self._operators[module]

    def __repr__(self) -> str:
        return f"<pykern.library.{self.__name__}{self.signature}>"


def library_function(function: Callable) -> LibraryFunction:
    """Make a function over whole arrays one of the library: ``@library_function``."""
    made = LibraryFunction(function)
    before_first_call(made.text)
    return made
