"""What the functions of the library are: array programs that also take tensors of PyTorch and arrays of JAX with
derivatives.

Comes in: a function over whole arrays. Goes out: a `LibraryFunction`. Called with NumPy's arrays or `pk.Array`s, or
inside of a program, it is a `@pk.jit` program. A tensor makes the call an operator of PyTorch, which autograd
follows; an array or tracer of JAX makes it a primitive of JAX. Read next: `pykern.torch.op`, `pykern.jax.function`.
"""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from pykern.api.in_graphs import numbered, torch_operator
from pykern.api.jit import Program
from pykern.data.source import KernelOptions
from pykern.errors import KernelTypeError
from pykern.obtain.prewarm import before_first_call


class LibraryFunction(Program):
    """An array program; in calls with tensors or arrays of JAX an operator of theirs."""

    __slots__ = ("arrays", "numbers")

    def __init__(
        self,
        function: Callable,
        options: KernelOptions | None = None,
        numbers: dict[str, Callable] | None = None,
    ) -> None:
        super().__init__(function, options or KernelOptions())
        places = list(self.signature.parameters)
        self.numbers = [(places.index(name), name, check) for name, check in (numbers or {}).items()]
        """Numbers that programs get when they run: place, name, and what asserts that one is as it has to be."""
        self.arrays = [
            (place, name, parameter.default is None)
            for place, (name, parameter) in enumerate(self.signature.parameters.items())
            if name not in (numbers or {}) and name not in self.annotations
        ]
        """Arrays, or lists of them: place, name, and whether None may be given."""

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        """The value, as arrays of the framework that the arguments come from."""
        __tracebackhide__ = True
        for place, name, check in self.numbers:
            value = args[place] if place < len(args) else keywords.get(name)
            if value is not None:
                self._check(check, name, value)
        try:
            return self._called(args, keywords)
        except KernelTypeError:
            self._refuse_numbers(args, keywords)
            raise

    @property
    def alone(self) -> Program:
        return _program(self.number)

    def _called(self, args: tuple, keywords: dict[str, Any]) -> Any:
        __tracebackhide__ = True
        given = (*args, *keywords.values())
        if "out" not in keywords:
            torch = sys.modules.get("torch")
            if torch is not None and any(isinstance(x, torch.Tensor) for x in given):
                return torch_operator(self.number)(*args, **keywords)
            jax = sys.modules.get("jax")
            if jax is not None and any(isinstance(x, jax.Array) for x in given):
                return jax_primitive(self.number)(*args, **keywords)
        return self.alone(*args, **keywords)  # its entry is compiled, while calls of this class run Python

    def forget_plans(self) -> None:
        """Also of the program that calls run."""
        super().forget_plans()
        self.alone.forget_plans()

    def _refuse_numbers(self, args: tuple, keywords: dict[str, Any]) -> None:
        """Say which argument should have been an array: the program knows no names. Raises `KernelTypeError`."""
        for place, name, is_optional in self.arrays:
            value = args[place] if place < len(args) else keywords.get(name, ())
            is_array = isinstance(value, list | tuple) or getattr(value, "ndim", 0) > 0
            if not is_array and not (value is None and is_optional):
                raise KernelTypeError(
                    f"{self.__name__}: `{name}` is an array with one axis at least, and {value!r} is given",
                    hint="np.atleast_1d(x) makes an array of a number",
                ) from None

    def _check(self, check: Callable, name: str, value: Any) -> None:
        """A number of the call. Raises `KernelTypeError`."""
        try:
            check(value.item() if isinstance(value, np.generic) else value)
        except AssertionError as error:
            raise KernelTypeError(f"{self.__name__}: {error}, and `{name}` is {value!r}") from None

    def __repr__(self) -> str:
        return f"<pykern.library.{self.__name__}{self.signature}>"


@functools.cache
def _program(number: int) -> Program:
    """The program alone."""
    made = numbered[number]
    return Program(made.__wrapped__, made.options, text=made.text)


@functools.cache
def jax_primitive(number: int) -> Any:
    """The same as a primitive of JAX."""
    return importlib.import_module("pykern.jax").primitive(_program(number))


def library_function(**numbers: Callable) -> Callable[[Callable], LibraryFunction]:
    """Make a function over whole arrays one of the library: ``@library_function(eps=not_negative)``.

    Keywords name parameters that are numbers, and functions of `pykern.library.checks` that assert what they have to
    be: the numbers of a call are not known when the program is compiled.
    """

    def make(function: Callable) -> LibraryFunction:
        made = LibraryFunction(function, numbers=numbers)
        before_first_call(made.text)
        return made

    return make
