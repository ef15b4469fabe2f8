"""The text of a live Python function, taken when it is decorated, and where it stands."""

from __future__ import annotations

import ast
import functools
import inspect
import linecache
import types
from collections.abc import Iterator
from typing import Any

from pykern.capture.lambdas import lambda_text
from pykern.data.locations import LAMBDA, parse_definition
from pykern.data.records import record
from pykern.data.scopes import free_paths
from pykern.errors import KernelSyntaxError

_NO_SOURCE = {
    "<stdin>": "Python keeps no source of what it reads from standard input: write the kernel into a file and import "
    "it, or use IPython or a notebook",
    "<string>": "Python keeps no source of `python -c` and `exec`: write the kernel into a file and import it; for "
    "`exec`, register the text in `linecache`",
}
"""What to do where a function has no file."""


@record
class FunctionText:
    """Source text of a function as it was when decorated."""

    name: str
    file: str
    first_line: int
    text: str
    paths: tuple[str, ...]
    """Dotted names the body reads that are not its own: ``pk.index``, ``N``."""


def function_text(function: types.FunctionType) -> FunctionText:
    """Take the text; raises `KernelSyntaxError` where Python has no source for the function."""
    if not isinstance(function, types.FunctionType):
        raise _no_function(function)
    file = function.__code__.co_filename
    try:
        name, first, text = _named_text(function)
    except (OSError, TypeError):
        raise KernelSyntaxError(
            f"the source of `{function.__name__}` is not available (file {file!r})",
            hint=_NO_SOURCE.get(file, "define kernels in a file or a notebook cell"),
        ) from None
    _keep_for_tracebacks(file)
    paths = tuple(dict.fromkeys(free_paths_of(text)))
    return FunctionText(name, file, first, text, paths)


def _named_text(function: types.FunctionType) -> tuple[str, int, str]:
    """Name, first line and text of a function."""
    if function.__name__ == "<lambda>":
        return (LAMBDA, *lambda_text(function))
    lines, first = _from_def(*inspect.getsourcelines(function))
    return function.__name__, first, "".join(lines)


def _no_function(given: Any) -> KernelSyntaxError:
    """The error for what cannot be decorated: another decorator has been there before, or it is no function."""
    name = getattr(given, "__name__", None)
    for kind, word in (
        ("kernel", "a kernel"),
        ("program", "an array program"),
        ("func", "a @pk.func function"),
    ):
        if getattr(type(given), f"__pykern_{kind}__", False):
            return KernelSyntaxError(
                f"`{name}` is {word} already", hint="leave one of the two decorators out"
            )
    if isinstance(given, type):
        return KernelSyntaxError(f"`{name}` is a class", hint="decorate plain `def` functions outside of it")
    if isinstance(given, staticmethod | classmethod):
        return KernelSyntaxError(
            f"`{name}` is a {type(given).__name__} already",
            hint=f"write @{type(given).__name__} above pykern's decorator, or define the function outside of the class",
        )
    if isinstance(given, functools.partial):
        return KernelSyntaxError(
            f"functools.partial of `{getattr(given.func, '__name__', given.func)}` is no plain `def` function",
            hint="decorate the function itself, and give the argument in the call; n: pk.static makes it a constant",
        )
    if name is not None and hasattr(given, "__wrapped__"):
        return KernelSyntaxError(
            f"`{name}` is wrapped in a {type(given).__name__} by another decorator",
            hint="leave the decorator between pykern's and the `def` out",
        )
    return KernelSyntaxError(
        f"a {type(given).__name__} is no function", hint="decorate a plain `def` function"
    )


def free_paths_of(text: str) -> Iterator[str]:
    node = parse_definition(text)
    assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    return free_paths(node)


def _from_def(lines: list[str], first: int) -> tuple[list[str], int]:
    """Cut decorators off: the text starts at `def`."""
    for offset, line in enumerate(lines):
        if line.lstrip().startswith(("def ", "async def ")):
            return lines[offset:], first + offset
    return lines, first


def _keep_for_tracebacks(file: str) -> None:
    """Sources of notebook cells and `exec` live in linecache only; keep them there."""
    if not file.startswith("<"):
        linecache.getlines(file)
