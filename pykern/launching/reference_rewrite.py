"""A kernel's function with its operators and calls by `reference_rules`: what the reference device runs.

Comes in: the user's function. Goes out: one of the same file, lines, names and closure, in which ``a // b`` is
``binary("//", a, b)``: breakpoints and errors stay where the user wrote them. A function without source stays itself.
"""

from __future__ import annotations

import ast
import types
import weakref
from collections.abc import Callable
from typing import Any

from pykern.capture.function_text import FunctionText, function_text
from pykern.data.locations import parse_definition
from pykern.errors import KernelSyntaxError, nested_too_deeply
from pykern.launching import reference_rules
from pykern.launching.reference_chains import ChainRewriter
from pykern.launching.reference_varying import depends, varying_names
from pykern.types import DType

_SYMBOLS: dict[type, str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.LShift: "<<",
    ast.RShift: ">>", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.Pow: "**",
}  # fmt: skip
_HELPERS: dict[str, Callable] = {
    "_pk_binary": reference_rules.binary,
    "_pk_varying_power": reference_rules.varying_power,
    "_pk_in_place": reference_rules.in_place,
    "_pk_update": reference_rules.update,
    "_pk_slice": slice,
    "_pk_inverted": reference_rules.inverted,
}
_known: dict[int, tuple[weakref.ref[types.CodeType], types.CodeType | None]] = {}
"""By the `id` of a function's code, while there is one: codes of two files, or with other annotations, may be equal."""


def rewritten(function: types.FunctionType) -> types.FunctionType:
    """The function by the rules of kernels."""
    code = function.__code__
    key = id(code)
    if key not in _known:
        gone = weakref.ref(code, lambda _: _known.pop(key, None))
        try:
            _known[key] = gone, _compiled(function)
        except RecursionError:
            raise nested_too_deeply(function.__name__) from None
    made = _known[key][1]
    if made is None:
        return function
    cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
    helpers = {**_HELPERS, "_pk_callee": _callee, "_pk_annotated": _annotated}
    closure = tuple(
        cells[name] if name in cells else types.CellType(helpers[name]) for name in made.co_freevars
    )
    result = types.FunctionType(made, function.__globals__, function.__name__, function.__defaults__, closure)
    result.__kwdefaults__ = function.__kwdefaults__
    return result


def _callee(function: Any) -> Any:
    """What is called for a function: of a `@pk.func` function, the function by the rules of kernels."""
    if getattr(type(function), "__pykern_func__", False):
        return rewritten(function.__pykern_function__)
    return reference_rules.of_numbers(function)


def _annotated(kind: Any, value: Any) -> Any:
    """The value of ``name: kind = value``: a number becomes one of a scalar type. Python's types convert nothing."""
    is_type = isinstance(kind, DType) or (isinstance(kind, type) and kind.__module__ == "numpy")
    return _callee(kind)(value) if is_type and reference_rules.is_number(value) else value


def _compiled(function: types.FunctionType) -> types.CodeType | None:
    try:
        text: FunctionText = function_text(function)
        node = parse_definition(text.text)
    except (KernelSyntaxError, SyntaxError):
        return None
    if not isinstance(node, ast.FunctionDef):
        return None
    ast.increment_lineno(node, text.first_line - 1)
    varying = varying_names(node)
    node.decorator_list, node.returns = [], None
    for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
        argument.annotation = None
    node.args.defaults = [ast.Constant(None) for _ in node.args.defaults]
    node.args.kw_defaults = [d and ast.Constant(None) for d in node.args.kw_defaults]
    node.body = _Rewriter(varying).block(node.body)
    names = [*_HELPERS, "_pk_callee", "_pk_annotated", *function.__code__.co_freevars]
    outer = ast.FunctionDef(
        name="outer",
        args=ast.arguments([], [ast.arg(name) for name in names], None, [], [], None, []),
        body=[node],
        decorator_list=[],
    )
    module = ast.fix_missing_locations(ast.Module([outer], []))
    found = compile(module, function.__code__.co_filename, "exec", dont_inherit=True)
    for name in ("outer", node.name):
        found = next(c for c in found.co_consts if isinstance(c, types.CodeType) and c.co_name == name)
    return found


class _Rewriter(ChainRewriter):
    """Operators and calls become calls of the helpers, at their places. `varying`: as of `varying_names`."""

    def __init__(self, varying: frozenset[str] = frozenset()) -> None:
        super().__init__()
        self._varying = varying

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:  # noqa: N802
        varies = isinstance(node.op, ast.Pow) and depends(node.right, self._varying)
        self.generic_visit(node)
        if varies:
            return _calling(node, "_pk_varying_power", node.left, node.right)
        symbol = _SYMBOLS.get(type(node.op))
        if symbol is None or (_is_literal(node.left) and _is_literal(node.right)):
            return node
        return _calling(node, "_pk_binary", ast.Constant(symbol), node.left, node.right)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:  # noqa: N802
        self.generic_visit(node)
        symbol, target = _SYMBOLS.get(type(node.op)), node.target
        if symbol is None:
            return node
        if isinstance(target, ast.Name):
            read = ast.copy_location(ast.Name(target.id, ast.Load()), target)
            value = _calling(node, "_pk_in_place", ast.Constant(symbol), read, node.value)
            return ast.copy_location(ast.Assign([target], value), node)
        if isinstance(target, ast.Subscript):
            index = _Slices().visit(target.slice)
            made = _calling(target, "_pk_update", target.value, index, ast.Constant(symbol), node.value)
            return ast.copy_location(ast.Expr(made), node)
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:  # noqa: N802
        self.generic_visit(node)
        return _calling(node, "_pk_inverted", node.operand) if isinstance(node.op, ast.Invert) else node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:  # noqa: N802
        self.generic_visit(node)
        if node.value is None:
            return node
        value = _calling(node, "_pk_annotated", node.annotation, node.value)
        return ast.copy_location(ast.Assign([node.target], value), node)

    def visit_Call(self, node: ast.Call) -> ast.AST:  # noqa: N802
        self.generic_visit(node)
        node.func = _calling(node.func, "_pk_callee", node.func)
        return node


class _Slices(ast.NodeTransformer):
    """A slice as an expression of its own."""

    def visit_Slice(self, node: ast.Slice) -> ast.AST:
        bounds = (bound or ast.Constant(None) for bound in (node.lower, node.upper, node.step))
        return _calling(node, "_pk_slice", *bounds)


def _calling(at: ast.AST, helper: str, *args: ast.expr) -> ast.Call:
    function = ast.copy_location(ast.Name(helper, ast.Load()), at)
    return ast.copy_location(ast.Call(function, list(args), []), at)


def _is_literal(node: ast.expr) -> bool:
    if isinstance(node, ast.UnaryOp):
        return _is_literal(node.operand)
    return isinstance(node, ast.Constant)
