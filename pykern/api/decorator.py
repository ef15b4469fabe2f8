"""What decorators share: the options they know, and errors that end at the user's lines.

Comes in: `pk.kernel` and `pk.jit` as they are written. Goes out: the same, which refuse an unknown option with what
it is called here, and show none of pykern's frames but their own.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from difflib import get_close_matches
from typing import ParamSpec, TypeVar

from pykern.data.elsewhere import instead_of_option
from pykern.data.synthetic_frame import for_user
from pykern.errors import ARGUMENTS, KernelError, KernelTypeError

P = ParamSpec("P")
R = TypeVar("R")


def with_options(decorator: Callable[P, R]) -> Callable[P, R]:
    """The decorator, with errors for a user."""
    parameters = inspect.signature(decorator).parameters.values()
    options = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY]

    @functools.wraps(decorator)
    def entry(*args: P.args, **keywords: P.kwargs) -> R:
        __tracebackhide__ = True
        try:
            for name in keywords:
                if name not in options:
                    raise _unknown(decorator.__name__, name, options)
            for given in args:
                if isinstance(given, str):
                    raise _types(decorator.__name__, given)
            return decorator(*args, **keywords)
        except KernelError as error:
            raise for_user(error) from None

    return entry


def _unknown(decorator: str, name: str, options: list[str]) -> KernelTypeError:
    near = get_close_matches(name, options, 1, 0.7)
    advice = instead_of_option(name, options) or (f"did you mean `{near[0]}`?" if near else None)
    return KernelTypeError(
        f"pk.{decorator} has no option `{name}`",
        hint=advice or f"its options are {', '.join(f'{option}=' for option in options)}",
        code=ARGUMENTS,
    )


def _types(decorator: str, given: str) -> KernelTypeError:
    """The error for types in a string, as Numba has them."""
    return KernelTypeError(
        f"pk.{decorator}({given!r}): the types of arguments are taken at the call",
        hint=f"write @pk.{decorator}; annotations check them: x: pk.f32[:]",
        code=ARGUMENTS,
    )
