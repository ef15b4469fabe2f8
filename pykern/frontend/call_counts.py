"""How many calls one call of a function stands for, with those that the functions it calls make.

Comes in: a `FunctionSource`. Goes out: a number. Each call is translated where it stands, so that functions which call
functions twice each are doubled with each level: 25 levels are 33 million bodies. Read next: `calls`.
"""

from __future__ import annotations

import ast

from pykern.data.scopes import dotted
from pykern.data.source import FunctionSource, reached
from pykern.frontend.parse import parse_function


def calls_in(source: FunctionSource) -> int:
    """One, and the calls that its body makes, as they are written: loops count once, and each branch does."""
    counts: dict[str, int] = {}
    for function in reached(source):  # callees come first
        callees = {path: c.told for path, c in function.captures if isinstance(c, FunctionSource)}
        called = (dotted(n.func) for n in ast.walk(parse_function(function).node) if isinstance(n, ast.Call))
        counts[function.told] = 1 + sum(counts[callees[path]] for path in called if path in callees)
    return counts[source.told]
