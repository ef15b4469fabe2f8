"""Where the user's code stands: the place of an error, and whether an integer was written as a constant."""

from __future__ import annotations

import ast
import functools
import linecache
import operator
import os
import sys
import textwrap
import types
from collections.abc import Callable, Mapping

from pykern.data.locations import SourceSpan

_OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_FUNCTIONS = os.path.join(_OURS, "function.py")
"""Between a kernel and a `@pk.func` function that it calls."""


def is_ours(code: types.CodeType) -> bool:
    return code.co_filename.startswith(_OURS)


@functools.cache
def _numpy() -> str:
    """Where NumPy's own Python is."""
    import numpy as np

    return os.path.dirname(np.__file__) + os.sep


def span_of(traceback: types.TracebackType | None) -> SourceSpan | None:
    """The innermost place of the user's in a traceback: the last frame before ours of the language."""
    found = None
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if not is_ours(code) and not code.co_filename.startswith(_numpy()):
            found = traceback
        elif found is not None and code.co_filename != _FUNCTIONS:
            break
        traceback = traceback.tb_next
    if found is None:
        return None
    code = found.tb_frame.f_code
    text = linecache.getline(code.co_filename, found.tb_lineno).rstrip("\n")
    start, end = len(text) - len(text.lstrip()), len(text)
    position = _position(code, found.tb_lasti)
    if position is not None and position[0] == position[1] == found.tb_lineno:
        raw = text.encode()
        start, end = len(raw[: position[2]].decode()), len(raw[: position[3]].decode())
    return SourceSpan(code.co_filename, found.tb_lineno, start, end, code.co_name, text)


def written_as_constant(index: int, static: frozenset[str] = frozenset()) -> bool:
    """Whether the user's expression that is being indexed holds `index`, below 0, as a constant.

    A literal, a captured name, a parameter of `static`, or arithmetic of these. Compiled kernels count such
    a constant from the end; any other negative index is outside.
    """
    frame = _users_frame()
    if frame is None:
        return False
    return _is_one_of(_index_items(frame.f_code, frame.f_lasti, frame.f_lineno), index, frame, static)


def stands_as_constant(number: int, static: frozenset[str] = frozenset()) -> bool:
    """Whether an operand, an argument or the stored value of what the user's code does now is `number`, as a constant
    in the same sense."""
    frame = _users_frame()
    if frame is None:
        return False
    return _is_one_of(_operands(frame.f_code, frame.f_lasti, frame.f_lineno), number, frame, static)


def _is_one_of(
    nodes: tuple[ast.expr, ...], number: int, frame: types.FrameType, static: frozenset[str]
) -> bool:
    """Whether one of the expressions is the number for every work-item."""
    code = frame.f_code
    own = {*code.co_varnames, *code.co_cellvars}
    known = dict(frame.f_globals)
    known.update((n, v) for n, v in frame.f_locals.items() if n not in own or n in static)
    return any(_constant(node, known, frozenset(own - static)) == number for node in nodes)


@functools.lru_cache(maxsize=1024)
def _operands(code: types.CodeType, instruction: int, line: int) -> tuple[ast.expr, ...]:
    """What the operation at an instruction takes, or what the statement of the line stores."""
    written = _written_at(code, instruction, line)
    if _position(code, instruction) is None:
        return tuple(node for node in written if isinstance(node, ast.expr))
    if written and isinstance(written[0], ast.BinOp):
        return (written[0].left, written[0].right)
    if written and isinstance(written[0], ast.Call):
        return tuple(written[0].args)
    statement = _parsed(linecache.getline(code.co_filename, line).strip())
    if isinstance(statement, ast.Assign | ast.AugAssign):
        return (statement.value,)
    return ()


def is_place(found: frozenset[tuple[str, int, int, int]], number: int) -> bool:
    """Whether the access that runs stands, with this number, at one of these files, lines and columns."""
    frame = _users_frame()
    if frame is None:
        return False
    file, position = frame.f_code.co_filename, _position(frame.f_code, frame.f_lasti)
    if position is not None:
        return (file, position[0], position[2], number) in found
    return any(f == file and line == frame.f_lineno and n == number for f, line, _, n in found)


def users_place() -> tuple[types.CodeType, int] | None:
    """The user's code that is running and the instruction it is at."""
    frame = _users_frame()
    return None if frame is None else (frame.f_code, frame.f_lasti)


def _users_frame() -> types.FrameType | None:
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None and is_ours(frame.f_code):
        frame = frame.f_back
    return frame


@functools.lru_cache(maxsize=1024)
def _index_items(code: types.CodeType, instruction: int, line: int) -> tuple[ast.expr, ...]:
    """The indices at an instruction: of ``x[i, -1]`` or ``atomic_add(x, -1, v)``."""
    found: list[ast.expr] = []
    for node in _written_at(code, instruction, line):
        if isinstance(node, ast.Subscript):
            index: ast.expr | None = node.slice
        elif isinstance(node, ast.Call):
            index = node.args[1] if len(node.args) > 1 else None
        else:
            continue
        if index is not None:
            found += index.elts if isinstance(index, ast.Tuple) else [index]
        if _position(code, instruction) is not None:
            break
    return tuple(found)


def _written_at(code: types.CodeType, instruction: int, line: int) -> tuple[ast.AST, ...]:
    """The expression at an instruction and those inside of it; Python 3.10 knows the line only, so all of it."""
    position = _position(code, instruction)
    if position is None:
        tree = _parsed(linecache.getline(code.co_filename, line).strip())
        return () if tree is None else tuple(ast.walk(tree))
    first, last, start, end = position
    raw = [linecache.getline(code.co_filename, n).encode() for n in range(first, last + 1)]
    raw[-1] = raw[-1][:end]
    raw[0] = raw[0][start:]
    tree = _parsed(f"({textwrap.dedent(b''.join(raw).decode())})")
    return tuple(ast.walk(tree.value)) if isinstance(tree, ast.Expr) else ()


def _parsed(text: str) -> ast.stmt | None:
    """A line as a statement; nothing where it is none by itself."""
    try:
        body = ast.parse(text).body
    except SyntaxError:
        return None
    return body[0] if len(body) == 1 else None


_FOLDED: dict[type, Callable[[int, int], int]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow, ast.LShift: operator.lshift,
}  # fmt: skip
_LARGEST = 64
"""The largest exponent, and the widest shift, of constants."""


def _constant(node: ast.expr, known: Mapping[str, object], own: frozenset[str]) -> int | None:
    """The integer that an index is for every work-item, where its names are captured or static."""
    match node:
        case ast.Constant(value=int(number)):
            return number
        case ast.Name(id=name) if name not in own:
            value = known.get(name)
            return value if isinstance(value, int) else None
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            inner = _constant(operand, known, own)
            return None if inner is None else -inner
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _FOLDED:
            a, b = _constant(left, known, own), _constant(right, known, own)
            if a is None or b is None or (b == 0 and isinstance(op, ast.FloorDiv | ast.Mod)):
                return None
            if isinstance(op, ast.Pow | ast.LShift) and not 0 <= b <= _LARGEST:
                return None
            return _FOLDED[type(op)](a, b)
    return None


def _position(code: types.CodeType, instruction: int) -> tuple[int, int, int, int] | None:
    """Lines and byte columns of an instruction, where this Python keeps them (3.11 and later)."""
    positions = getattr(code, "co_positions", None)
    if positions is None or instruction < 0:
        return None
    place = list(positions())[instruction // 2]
    return None if None in place else place
