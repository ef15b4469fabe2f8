"""`@pk.func`: a function that kernels call. It is translated into each caller."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Generic, ParamSpec, TypeVar

from pykern.api.pickling import ByName
from pykern.capture.function_text import FunctionText, function_text
from pykern.data.synthetic_frame import for_user
from pykern.errors import ARGUMENTS, KernelError, KernelTypeError

P = ParamSpec("P")
R = TypeVar("R")


class Function(ByName, Generic[P, R]):
    """A device function; outside of kernels it is the plain Python function it was."""

    __pykern_func__ = True
    """What capturing looks for, at the type: `functools.wraps` copies what stands in the object to wrappers of it."""

    def __init__(self, function: Callable[P, R]) -> None:
        self.text: FunctionText = function_text(function)  # type: ignore[arg-type]
        self.__pykern_function__ = function
        functools.update_wrapper(self, function)

    def __call__(self, *args: P.args, **keywords: P.kwargs) -> R:
        if "ndrange" in keywords and "ndrange" not in inspect.signature(self.__pykern_function__).parameters:
            raise KernelTypeError(
                f"`{self.text.name}` is a @pk.func, which kernels call: it has no launch",
                hint="write @pk.kernel above it, and store the result: y[i] = ...",
                code=ARGUMENTS,
            )
        return self.__pykern_function__(*args, **keywords)

    def __repr__(self) -> str:
        return f"<pykern.func {self.text.name}>"


def func(function: Callable[P, R]) -> Function[P, R]:
    """Make a device function: ``@pk.func``. Recursion is refused where a kernel calls it."""
    try:
        return Function(function)
    except KernelError as error:
        from pykern.api.kernel import placed_at_def  # here: seldom

        raise for_user(placed_at_def(error, function)) from None
