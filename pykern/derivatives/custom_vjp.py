"""`@pk.custom_vjp`: a function of array programs that brings its own derivative.

Comes in: the function, and with `defvjp` the pair of its forward and backward functions. Goes out: a
function to be called in programs, whose reverse mode is what the pair says.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from pykern.capture.function_text import FunctionText, function_text
from pykern.errors import KernelTypeError


class CustomVjp:
    """A function with a derivative of its own. Outside of programs it is the plain function it was."""

    __pykern_custom_vjp__ = True

    def __init__(self, function: Callable) -> None:
        self.function = function
        self.text: FunctionText = function_text(function)  # type: ignore[arg-type]
        self.pair: tuple[Callable, Callable] | None = None
        functools.update_wrapper(self, function)

    def defvjp(self, forward: Callable, backward: Callable) -> None:
        """Say how the function is differentiated.

        ``forward(*args)`` gives ``(value, kept)``; ``backward(kept, cotangent)`` gives the cotangents of
        the arguments, one each in a tuple, None for what nothing flows to.
        Called inside of `forward`, the function is the plain one.
        """
        for function in (forward, backward):
            if not hasattr(function, "__code__"):
                raise KernelTypeError(
                    f"defvjp takes two functions, not {type(function).__name__}", hint="write them with def"
                )
        self.pair = (forward, backward)

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        return self.function(*args, **keywords)

    def __repr__(self) -> str:
        return f"<pykern.custom_vjp {self.text.name}>"


def custom_vjp(function: Callable) -> CustomVjp:
    """Give a function of array programs a derivative of its own: ``@pk.custom_vjp``, then ``f.defvjp(...)``."""
    return CustomVjp(function)
