"""Numba's plain loops of a kernel: the statements that it has, in loops over its index space.

Comes in: a kernel, and an index space. Goes out: an `njit` function, and the bounds that it takes behind the arguments.
What is usual is written out: a loop from 0, and steps of 1.
"""

from __future__ import annotations

import ast
import functools
import inspect
import linecache
import math
import textwrap
from collections.abc import Callable
from typing import Any

import numba
import numpy as np

_NAMES = {
    "exp": "math.exp",
    "log": "math.log",
    "erf": "math.erf",
    "floor": "math.floor",
    "sqrt": "math.sqrt",
    "f32": "np.float32",
    "f64": "np.float64",
    "i32": "np.int32",
    "u8": "np.uint8",
}


class _Statements(ast.NodeTransformer):
    """What the language of kernels writes otherwise."""

    def visit_Return(self, node: ast.Return) -> ast.AST:
        return ast.copy_location(ast.Continue(), node)

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        """An atomic addition is a plain one."""
        call = self.generic_visit(node).value  # type: ignore[attr-defined]
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "pk.atomic_add":
            array, index, value = (ast.unparse(argument) for argument in call.args)
            return ast.copy_location(ast.parse(f"{array}[{index}] += {value}").body[0], node)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if isinstance(node.value, ast.Name) and node.value.id == "pk":
            return ast.parse(_NAMES[node.attr], mode="eval").body if node.attr in _NAMES else node
        return self.generic_visit(node)


def plain_loops(kernel: Any, space: Any) -> tuple[Callable, list[int]]:
    """The function, and the bounds of the index space that it takes."""
    dims = space if isinstance(space, tuple) else (space,)
    ranges = [dim if isinstance(dim, range) else range(dim) for dim in dims]
    kinds = tuple(1 + (r.start != 0 or r.step != 1) + (r.step != 1) for r in ranges)
    bounds = [(r.start, r.stop, r.step)[kind == 1 :][:kind] for r, kind in zip(ranges, kinds, strict=True)]
    return _compiled(kernel, kinds), [n for each in bounds for n in each]


@functools.cache
def _compiled(kernel: Any, kinds: tuple[int, ...]) -> Callable:
    """`kinds` are numbers of arguments of `range`."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(kernel.__wrapped__))).body[0]
    assert isinstance(tree, ast.FunctionDef)
    tree.decorator_list = []
    first = next(s for s in tree.body if isinstance(s, ast.Assign) and ast.unparse(s.value) == "pk.index()")
    target = first.targets[0]
    ids = [ast.unparse(e) for e in target.elts] if isinstance(target, ast.Tuple) else [ast.unparse(target)]
    body: list[ast.stmt] = [_Statements().visit(s) for s in tree.body if s is not first]
    bounds = [[f"bound{d}{n}" for n in range(kind)] for d, kind in enumerate(kinds)]
    for name, given in reversed(list(zip(ids, bounds, strict=True))):
        loop = ast.parse(f"for {name} in range({', '.join(given)}): pass").body[0]
        assert isinstance(loop, ast.For)
        loop.body = body
        body = [loop]
    tree.args.args += [ast.arg(name) for given in bounds for name in given]
    tree.body = body
    text = ast.unparse(ast.fix_missing_locations(tree))
    file = f"<numba {tree.name} {kinds}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names: dict[str, Any] = {"np": np, "math": math}
    exec(compile(text, file, "exec"), names)
    return numba.njit(names[tree.name])
