"""Errors raised at the user's own lines: frames of the kernel and of the functions it calls, and none of ours.

Python, rich, pytest and pdb show a traceback's frames and stop at the last one. An error of the compiler is raised
again from code compiled under the user's file names, one frame a level, outermost first. An error that the
reference device raised keeps the kernel's own frames, with their variables, and loses ours. So does a Ctrl-C.
"""

from __future__ import annotations

import ast
import functools
import os
import types
from collections.abc import Callable, Iterator
from typing import ParamSpec, TypeVar

from pykern.data.locations import SourceSpan
from pykern.errors import CALLED_FROM, LAUNCHED_FROM, KernelError

P = ParamSpec("P")
R = TypeVar("R")
E = TypeVar("E", bound=BaseException)
_OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_STANDARD_LIBRARY = os.path.dirname(os.path.abspath(os.__file__)) + os.sep
_INSTALLED = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")
_RAISE, _CALL = "def frame():\n raise error", "def frame():\n call()"


def at_kernel_line(error: KernelError) -> types.TracebackType | None:
    """A traceback that ends at the error's place; None where it has none."""
    span = error.span
    if span is None or span.line <= 0:
        return None
    for cause in (error, error.__cause__):
        own = _of_user(cause.__traceback__ if cause is not None else None, span)
        if own is not None:
            return own
    error.__traceback__ = None  # the frames of the compiler say nothing to the user
    run = _frame(_RAISE, span, {"error": error})
    for text, place in error.extra_notes:
        if text.startswith((CALLED_FROM, LAUNCHED_FROM)) and place is not None:
            run = _frame(_CALL, place, {"call": run})
    try:
        run()
    except KernelError as raised:
        traceback = raised.__traceback__
        return traceback.tb_next if traceback is not None else None
    return None


def for_user(error: E) -> E:
    """The error with the traceback that users see: its place in their code, and no frame of pykern's but that of the
    public function that raises it. Of a Ctrl-C their own frames are left."""
    if isinstance(error, KernelError):
        return error.with_traceback(at_kernel_line(error) or without_ours(error))
    return error.with_traceback(ends_at_user(error))


def at_users_line(function: Callable[P, R]) -> Callable[P, R]:
    """Make errors of a public function show the user's calls alone: none of pykern's frames behind the function's own,
    and that one hidden where pytest and IPython print."""

    @functools.wraps(function)
    def entry(*args: P.args, **keywords: P.kwargs) -> R:
        __tracebackhide__ = True
        try:
            return function(*args, **keywords)
        except (KernelError, KeyboardInterrupt) as error:
            raise for_user(error) from None

    return entry


def without_ours(error: BaseException) -> types.TracebackType | None:
    """The traceback of an error without pykern's frames."""
    found: types.TracebackType | None = None
    for step in reversed([*_steps(error.__traceback__)]):
        if not os.path.abspath(step.tb_frame.f_code.co_filename).startswith(_OURS):
            found = types.TracebackType(found, step.tb_frame, step.tb_lasti, step.tb_lineno)
    return found


def ends_at_user(interrupt: BaseException) -> types.TracebackType | None:
    """The traceback of a Ctrl-C without what pykern was doing, nor what that called: only code of the user's is left,
    such as the function of a kernel that the reference device runs."""
    found: types.TracebackType | None = None
    for step in reversed([*_steps(interrupt.__traceback__)]):
        if is_users(os.path.abspath(step.tb_frame.f_code.co_filename)):
            found = types.TracebackType(found, step.tb_frame, step.tb_lasti, step.tb_lineno)
    return found


def is_users(file: str) -> bool:
    """Whether code comes from neither this package, nor Python's library, nor what is installed."""
    ours = file.startswith((_OURS, _STANDARD_LIBRARY))
    return not ours and not any(folder in file for folder in _INSTALLED)


def _frame(text: str, span: SourceSpan, names: dict[str, object]) -> Callable[[], None]:
    """A function that does what `text` says at the place of `span`."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt | ast.expr):
            node.lineno = node.end_lineno = span.line
            node.col_offset, node.end_col_offset = span.column, max(span.end_column, span.column + 1)
    module = compile(tree, span.file, "exec")
    code = next(c for c in module.co_consts if isinstance(c, types.CodeType))
    return types.FunctionType(code.replace(co_name=span.function or "<kernel>"), names)


def _of_user(traceback: types.TracebackType | None, span: SourceSpan) -> types.TracebackType | None:
    """The frames that are not pykern's, down to the one that `span` names; None where it is not among them."""
    found: types.TracebackType | None = None
    for step in reversed([*_steps(traceback)]):
        file = step.tb_frame.f_code.co_filename
        names_it = file == span.file and step.tb_lineno == span.line
        if not os.path.abspath(file).startswith(_OURS) and (found is not None or names_it):
            found = types.TracebackType(found, step.tb_frame, step.tb_lasti, step.tb_lineno)
    return found


def _steps(traceback: types.TracebackType | None) -> Iterator[types.TracebackType]:
    while traceback is not None:
        yield traceback
        traceback = traceback.tb_next
